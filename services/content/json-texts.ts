/** The texts of a value of JSON, wherever they stand. */
import { isJsonObject, type JsonValue } from '../../model/json.ts'

export function* textsOf(value: JsonValue): Generator<string> {
  const left: JsonValue[] = [value]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next === 'string') yield next
    else if (Array.isArray(next)) for (const each of next) left.push(each)
    else if (isJsonObject(next)) for (const each of Object.values(next)) if (each !== undefined) left.push(each)
  }
}

export function mapped(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => mapped(each, change))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([member, each]) => [member, mapped(each, change)]))
}
