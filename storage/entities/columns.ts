/** Between columns and the values of records: JSON as text, booleans as 0 and 1. */
import { parseJson, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'

export function jsonColumn(value: JsonValue): string {
  return stringifyJson(value)
}

export function jsonOf(column: string): JsonValue {
  return parseJson(column)
}

export function jsonObjectOf(column: string): JsonObject {
  return parseJson(column) as JsonObject
}

export function booleanColumn(value: boolean): number {
  return value ? 1 : 0
}
