/** Fields of an entity by their paths, as text (`rule-nodes.md` 19, 20). */
import { isJsonObject, stringifyJson } from '../../model/json.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'

/** Undefined where there is no such field, and where it is null or empty and `ignoresEmpty`. */
export function fieldText(entity: JsonObject, path: string, ignoresEmpty: boolean): string | undefined {
  let value: JsonValue = entity
  for (const name of path.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name] ?? null
  }
  const plain = withPlainIds(value)
  if (ignoresEmpty && (plain === null || plain === '')) return undefined
  return typeof plain === 'string' ? plain : stringifyJson(plain)
}

/** An entity's id is its UUID alone. */
function withPlainIds(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withPlainIds)
  if (!isJsonObject(value)) return value
  const { entityType, id, ...others } = value
  if (typeof entityType === 'string' && typeof id === 'string' && Object.keys(others).length === 0) return id
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withPlainIds(member)]))
}
