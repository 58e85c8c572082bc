/**
 * JSON that keeps the type of numbers. A plain `JSON.parse` throws away whether a number was written `2` or `2.0`, and
 * rounds integers beyond 2^53; the reference's typing rules depend on both (`rule-engine.md` 1.3). Representation:
 *
 * | text | value |
 * |---|---|
 * | `2`, `-7`, `2e0`, `2.5E1`, `1.0E7` (integral, not plainly dotted) within ±2^53 | `number` (an integer) |
 * | integral beyond ±2^53 | `bigint` |
 * | `22.5`, `1e-3` | `number` (not an integer) |
 * | `2.0`, `-0.0` (plainly dotted but whole) | {@link WholeDouble} |
 * | more than 16 decimals | {@link LongDecimal}: keeps its text; arithmetic sees its number |
 *
 * The fast road is `JSON.parse`, taken when no number of the text has anything to lose.
 */
import { defineErrors } from './errors.ts'
import { LongDecimal, WholeDouble, type JsonObject, type JsonValue } from './json-numbers.ts'
import { readExactly } from './json-reader.ts'

export {
  LongDecimal,
  WholeDouble,
  exactNumber,
  type JsonNumber,
  type JsonObject,
  type JsonValue,
} from './json-numbers.ts'

export const JsonErrors = defineErrors('json', {
  JSON_INVALID: { kind: 'invalid', status: 400, text: 'Invalid JSON: {reason}' },
  JSON_TOO_DEEP: { kind: 'invalid', status: 400, text: 'JSON is nested deeper than {limit} levels' },
})

/** No array, and no number that is kept as an object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof WholeDouble) &&
    !(value instanceof LongDecimal)
  )
}

export const MAX_JSON_DEPTH = 100

/** Parses JSON text, keeping number types. Throws `JSON_INVALID`, `JSON_TOO_DEEP`. Repeated keys: the last one wins. */
export function parseJson(text: string): JsonValue {
  const hasSomethingToLose = scan(text)
  try {
    // The parser of the language says what is JSON; what is can be read by one that need not ask.
    const value = JSON.parse(text) as JsonValue
    return hasSomethingToLose ? readExactly(text) : value
  } catch (error) {
    throw JsonErrors.JSON_INVALID({ reason: (error as Error).message }, error)
  }
}

/** JSON text of it: what is JSON already as it is, other text as a string. */
export function jsonText(text: string): string {
  try {
    JSON.parse(text)
    return text
  } catch {
    return JSON.stringify(text)
  }
}

const QUOTE = 0x22
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const BACKSLASH = 0x5c

/**
 * True where a number of the text has something to lose: a dot followed by zeros only, an exponent, 16 digits or more in a
 * row, or minus zero. JSON bombs are refused here, before the parser recurses into them. A walk over the characters that
 * jumps over strings: a third of what a regular expression takes (`benchmarks/rule-chain`).
 */
function scan(text: string): boolean {
  const { length } = text
  let hasSomethingToLose = false
  let depth = 0
  let index = 0
  while (index < length) {
    const code = text.charCodeAt(index++)
    if (code === QUOTE) index = endOfString(text, index)
    else if (isDigit(code)) {
      const start = index - 1
      let next = text.charCodeAt(index)
      while (isDigit(next)) next = text.charCodeAt(++index)
      // `e` and `E` differ in one bit.
      if (index - start >= 16 || (next | 0x20) === 0x65) hasSomethingToLose = true
    } else if (code === DOT) {
      if (text.charCodeAt(index) === ZERO && hasZerosOnly(text, index)) hasSomethingToLose = true
    } else if (code === MINUS) {
      if (text.charCodeAt(index) === ZERO && text.charCodeAt(index + 1) !== DOT) hasSomethingToLose = true
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > MAX_JSON_DEPTH) throw JsonErrors.JSON_TOO_DEEP({ limit: MAX_JSON_DEPTH })
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return hasSomethingToLose
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 0x39
}

function hasZerosOnly(text: string, from: number): boolean {
  let index = from
  while (text.charCodeAt(index) === ZERO) index++
  return !isDigit(text.charCodeAt(index))
}

/** Behind the closing quote of the string that begins at `from`; the text's end where it has none. */
function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let index = quote - 1
    while (index >= from && text.charCodeAt(index) === BACKSLASH) index--
    // An even number of backslashes before it escape each other, not the quote.
    if ((quote - index) % 2 === 1) return quote + 1
  }
  return text.length
}

/**
 * Compact JSON text; a {@link WholeDouble} keeps its dot and a `bigint` its digits. What the engine of the language writes in the same way it writes:
 * in half the time, and as one piece of memory instead of a tree of them.
 */
export function stringifyJson(value: JsonValue): string {
  return isWrittenNatively(value) ? JSON.stringify(value) : written(value)
}

/** Of numbers only those that `javaDouble` and `integerText` write as `JSON.stringify` does. */
function isWrittenNatively(value: JsonValue | undefined): boolean {
  switch (typeof value) {
    case 'number': {
      const size = Math.abs(value)
      return Number.isInteger(value) ? size < 1e21 : size >= 1e-3 && size < 1e7
    }
    case 'bigint':
      return false
    case 'object':
      break
    default:
      return true
  }
  if (value === null) return true
  if (value instanceof WholeDouble || value instanceof LongDecimal) return false
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item = value[index]
      if (item === undefined || !isWrittenNatively(item)) return false
    }
    return true
  }
  // Own members only: what is data has no others, and a list of them would cost more than the look.
  for (const key in value) if (!isWrittenNatively(value[key])) return false
  return true
}

function written(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'number':
      return Number.isInteger(value) ? integerText(value) : javaDouble(value)
    case 'bigint':
      return value.toString()
    case 'boolean':
      return value ? 'true' : 'false'
    default:
  }
  if (value === null) return 'null'
  if (value instanceof WholeDouble) return javaDouble(value.value)
  if (value instanceof LongDecimal) return value.text
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`
  let text = '{'
  for (const key of Object.keys(value)) {
    const member = value[key]
    if (member === undefined) continue
    if (text.length > 1) text += ','
    text += `${JSON.stringify(key)}:${written(member)}`
  }
  return text + '}'
}

function integerText(value: number): string {
  return Math.abs(value) < 1e21 ? String(value) : BigInt(value).toString()
}

/**
 * A double as existing clients see it printed: `21.0`, `1.0E8`, `1.23E-5`; exponent form from 10^7 up and below 10^-3
 * (`rest-api.md` 4.3).
 */
export function javaDouble(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity'
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const size = Math.abs(value)
  if (size >= 1e-3 && size < 1e7) {
    const text = String(value)
    return text.includes('.') ? text : `${text}.0`
  }
  const shortest = value.toExponential()
  // Two digits at least, the nearest ones: 4.9E-324, where 5 would do.
  const [mantissa = '', exponent = '0'] = (shortest.includes('.') ? shortest : value.toExponential(1)).split('e')
  return `${mantissa}E${Number(exponent)}`
}
