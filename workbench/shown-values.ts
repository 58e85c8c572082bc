/** Values as effects and reports show them. */
import { valueJson } from '../model/entry-json.ts'
import { parseJson, type JsonObject, type JsonValue } from '../model/json.ts'
import type { Entry } from '../model/value.ts'

export function valuesOf(entries: readonly Entry[]): JsonObject {
  return Object.fromEntries(entries.map((entry) => [entry.key, parseJson(valueJson(entry))]))
}

/** Text that is no JSON stays text. */
export function jsonOf(text: string): JsonValue {
  try {
    return parseJson(text)
  } catch {
    return text
  }
}
