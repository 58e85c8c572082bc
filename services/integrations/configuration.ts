/** An integration's configuration as it is shown, stored and used: masked, sealed, open. */
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
  const read = kind.read(sent.configuration)
  const former = before?.type === sent.type ? kind.read(before.configuration) : undefined
  const kept = former?.place === read.place ? secretsOf(former.json, kind.secrets) : undefined
  const filled = mapSecrets(read.json, kind.secrets, (secret, path) =>
    secret === SECRET_MASK ? (kept?.get(path) ?? secret) : secret,
  )
  const [masked] = masksIn(filled, kind.secrets)
  if (masked !== undefined) throw IntegrationErrors.SECRET_MASKED({ member: `configuration.${masked}` })
  return filled
}

function placeOf(tenantId: string, path: string): string {
  return `integration/${tenantId}${path}`
}
