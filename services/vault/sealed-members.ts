/** Secret members of a JSON object: sealed where it is stored, open where it is used, absent where it is shown. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts'
import { isSecretName } from '../../model/secret-members.ts'
import type { Vault } from './vault.ts'

type Change = (value: string, path: string) => JsonValue | undefined

export function sealMembers(value: JsonObject, vault: Vault, place: string): JsonObject {
  return changed(value, place, (text, path) => vault.seal(text, path))
}

/** Throws `vault.KEY_UNKNOWN`, `vault.DAMAGED`. */
export function openMembers(value: JsonObject, vault: Vault, place: string): JsonObject {
  return changed(value, place, (text, path) => vault.open(text, path))
}

export function withoutSecrets(value: JsonObject): JsonObject {
  return changed(value, '', () => undefined)
}

export function hasStaleSecrets(value: JsonObject, vault: Vault): boolean {
  let isStale = false
  changed(value, '', (text) => {
    isStale ||= !vault.isCurrent(text)
    return text
  })
  return isStale
}

/** A save that leaves a secret out, as one does who was never shown it, keeps the one that is there. */
export function withKeptSecrets(value: JsonObject, before: JsonObject): JsonObject {
  const kept = Object.entries(before).filter(
    ([name, old]) => isSecretName(name) && isSecret(old) && !Object.hasOwn(value, name),
  )
  const inside = Object.entries(value).map(([name, member]): [string, JsonValue] => {
    const old = Object.hasOwn(before, name) ? before[name] : undefined
    return [name, isJsonObject(member) && isJsonObject(old) ? withKeptSecrets(member, old) : member]
  })
  return Object.fromEntries([...inside, ...kept])
}

function changed(value: JsonObject, path: string, change: Change): JsonObject {
  const members: [string, JsonValue][] = []
  for (const [name, member] of Object.entries(value)) {
    const after = memberAfter(name, member, `${path}/${name}`, change)
    if (after !== undefined) members.push([name, after])
  }
  return Object.fromEntries(members)
}

function memberAfter(name: string, member: JsonValue, path: string, change: Change): JsonValue | undefined {
  if (isSecretName(name) && isSecret(member)) return change(member, path)
  if (isJsonObject(member)) return changed(member, path, change)
  if (Array.isArray(member))
    return member.map((item) => (isJsonObject(item) ? changed(item, `${path}[]`, change) : item))
  return member
}

function isSecret(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== ''
}
