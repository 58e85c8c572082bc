/** An integration's configuration as it is shown, stored and used: masked, sealed, open. */
import { isMillraceError } from '../../model/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts'
import { mapSecrets, masksIn, SECRET_MASK, secretsOf } from '../../model/secret-members.ts'
import type { Vault } from '../vault/vault.ts'
import { kindOf, type IntegrationType } from './catalogue.ts'
import { IntegrationErrors } from './errors.ts'

interface Kept {
  readonly type: IntegrationType
  readonly configuration: JsonValue
}

export function maskedConfiguration(type: IntegrationType, configuration: JsonValue): JsonValue {
  if (!isJsonObject(configuration)) return null
  return mapSecrets(configuration, kindOf(type).secrets, () => SECRET_MASK)
}

/** As it is stored; a mask stays. */
export function sealedConfiguration(
  type: IntegrationType,
  configuration: JsonObject,
  vault: Vault,
  tenantId: string,
): JsonObject {
  return mapSecrets(configuration, kindOf(type).secrets, (secret, path) =>
    secret === SECRET_MASK ? secret : vault.seal(secret, placeOf(tenantId, path)),
  )
}

/** As it is used. Throws `vault.KEY_UNKNOWN`, `vault.DAMAGED`. */
export function openedConfiguration({ type, configuration }: Kept, vault: Vault, tenantId: string): JsonObject {
  const stored = isJsonObject(configuration) ? configuration : {}
  return mapSecrets(stored, kindOf(type).secrets, (secret, path) => vault.open(secret, placeOf(tenantId, path)))
}

/** Undefined where all is sealed under the key in force. Throws `vault.KEY_UNKNOWN`, `vault.DAMAGED`. */
export function sealedAnew(kept: Kept, vault: Vault, tenantId: string): JsonObject | undefined {
  const stored = isJsonObject(kept.configuration) ? kept.configuration : {}
  const isStale = [...secretsOf(stored, kindOf(kept.type).secrets).values()].some((secret) => !vault.isCurrent(secret))
  return isStale
    ? sealedConfiguration(kept.type, openedConfiguration(kept, vault, tenantId), vault, tenantId)
    : undefined
}

/**
 * Read, with the stored secrets where a mask stands for them. At another place they would be handed to whoever is there. Throws `INVALID`,
 * `SECRET_MASKED`.
 */
export function filledConfiguration(sent: Kept, before: Kept | undefined): JsonObject {
  const kind = kindOf(sent.type)
  const read = readSealed(sent)
  const former = before?.type === sent.type ? formerOf(before) : undefined
  const kept = former?.place === read.place ? former.secrets : undefined
  const filled = mapSecrets(read.json, kind.secrets, (mask, path) => {
    const secret = read.secrets.get(path) ?? mask
    return secret === SECRET_MASK ? (kept?.get(path) ?? secret) : secret
  })
  const [masked] = masksIn(filled, kind.secrets)
  if (masked !== undefined) throw IntegrationErrors.SECRET_MASKED({ member: `configuration.${masked}` })
  return filled
}

/** Sealed secrets are longer than the open ones, whose length was judged: a mask stands in for each. Throws `INVALID`. */
function readSealed({ type, configuration }: Kept) {
  const kind = kindOf(type)
  const shape = kind.secrets
  const sealed = isJsonObject(configuration) ? configuration : {}
  const { json, place } = kind.read(mapSecrets(sealed, shape, () => SECRET_MASK))
  return { json, place, secrets: secretsOf(sealed, shape) }
}

/** Undefined for a row that this version would not take: its secrets have to be given anew. */
function formerOf(before: Kept) {
  try {
    return readSealed(before)
  } catch (error) {
    if (isMillraceError(error)) return undefined
    throw error
  }
}

function placeOf(tenantId: string, path: string): string {
  return `integration/${tenantId}${path}`
}
