/**
 * Between JSON values and typed entries, the one place. Source: the table of `rule-engine.md` 1.3, `device-api.md` 2.3.
 */
import { defineErrors } from './errors.ts'
import {
  LongDecimal,
  WholeDouble,
  javaDouble,
  stringifyJson,
  exactNumber,
  type JsonObject,
  type JsonValue,
} from './json.ts'
import { fitsLong, longValue, type Entry, type TypedValue } from './value.ts'

export const EntryErrors = defineErrors('entry', {
  VALUE_NULL: { kind: 'invalid', status: 400, text: "Can't parse value: null" },
  LONG_TOO_BIG: { kind: 'invalid', status: 400, text: 'Big integer values are not supported: {value}' },
})

export interface ConversionOptions {
  /** Texts that are plain numbers become numbers (`JSON_TYPE_CAST_ENABLED`, default on). */
  readonly castStrings: boolean
  /** What a null member does: devices' uploads skip it, rule nodes and REST refuse the whole. */
  readonly nulls: 'skip' | 'refuse'
}

const PLAIN_NUMBER = /^-?(\d+|\d*\.\d+)$/

/** The entries of a flat JSON object. Throws `VALUE_NULL`, `LONG_TOO_BIG`. */
export function entriesOf(object: JsonObject, options: ConversionOptions): Entry[] {
  const entries: Entry[] = []
  for (const key of Object.keys(object)) {
    const value = object[key]
    if (value === null || value === undefined) {
      if (options.nulls === 'skip') continue
      throw EntryErrors.VALUE_NULL()
    }
    entries.push(entryOf(key, value, options))
  }
  return entries
}

const WHOLE_NUMBER = /^-?\d{1,16}$/

/** The milliseconds that a `ts` names: decimals are truncated, numeric texts taken, a list of one unwrapped (`device-api.md` 2.1). */
export function timestampOf(value: JsonValue): number | undefined {
  const single: JsonValue = Array.isArray(value) && value.length === 1 ? (value[0] ?? null) : value
  if (typeof single === 'string') return WHOLE_NUMBER.test(single) ? Number(single) || 0 : undefined
  const number = single instanceof WholeDouble || single instanceof LongDecimal ? single.value : single
  // No minus zero.
  return typeof number === 'number' ? Math.trunc(number) || 0 : undefined
}

/** One of {@link entriesOf}. Throws `LONG_TOO_BIG`. */
export function entryOf(key: string, value: Exclude<JsonValue, null>, options: ConversionOptions): Entry {
  if (typeof value === 'number') {
    return Number.isInteger(value) ? { key, ...longOf(value, options) } : { key, type: 'DOUBLE', value }
  }
  if (typeof value === 'string') {
    if (options.castStrings && PLAIN_NUMBER.test(value))
      return { key, ...numberOf(withoutLeadingZeros(value), options) }
    return { key, type: 'STRING', value }
  }
  if (typeof value === 'boolean') return { key, type: 'BOOLEAN', value }
  return { key, ...structuredValue(value, options) }
}

function structuredValue(
  value: Exclude<JsonValue, null | number | string | boolean>,
  options: ConversionOptions,
): TypedValue {
  if (typeof value === 'bigint') return longOf(value, options)
  if (value instanceof WholeDouble) return { type: 'DOUBLE', value: value.value }
  if (value instanceof LongDecimal) return { type: 'STRING', value: plainDigits(value.text) }
  return { type: 'JSON', value: stringifyJson(options.nulls === 'skip' ? withoutNullMembers(value) : value) }
}

/** Places that a number may have without its exponent; one that would have more keeps it: a short text must not become a huge one. */
const MAX_PLACES = 1000

/** A number's text without an exponent: `1.5e-20` is `0.000000000000000000015`. */
function plainDigits(text: string): string {
  const [mantissa = '', exponent] = text.toLowerCase().split('e')
  if (exponent === undefined || Math.abs(Number(exponent)) > MAX_PLACES) return text
  const sign = mantissa.startsWith('-') ? '-' : ''
  const [whole = '', fraction = ''] = mantissa.slice(sign.length).split('.')
  const point = whole.length + Number(exponent)
  const digits = (whole + fraction).padStart(whole.length + fraction.length - Math.min(0, point - 1), '0')
  const end = Math.max(1, point)
  const before = withoutLeadingZeros(digits.slice(0, end).padEnd(end, '0'))
  return `${sign}${before}${digits.length > end ? `.${digits.slice(end)}` : ''}`
}

function numberOf(text: string, options: ConversionOptions): TypedValue {
  const number = exactNumber(text)
  if (typeof number === 'number')
    return Number.isInteger(number) ? longOf(number, options) : { type: 'DOUBLE', value: number }
  return structuredValue(number, options)
}

function longOf(value: number | bigint, options: ConversionOptions): TypedValue {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return { type: 'LONG', value }
  const exact = BigInt(value)
  if (fitsLong(exact)) return { type: 'LONG', value: longValue(exact) }
  if (options.castStrings) return { type: 'STRING', value: exact.toString() }
  throw EntryErrors.LONG_TOO_BIG({ value: exact.toString() })
}

function withoutLeadingZeros(text: string): string {
  return text.replace(/^(-?)0+(?=\d)/, '$1')
}

/** Null members of nested objects go, null items of arrays stay (`device-api.md` 2.3). */
function withoutNullMembers(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNullMembers)
  if (value === null || typeof value !== 'object' || value instanceof WholeDouble || value instanceof LongDecimal)
    return value
  const kept: JsonObject = {}
  for (const key of Object.keys(value)) {
    const member = value[key]
    if (member === null || member === undefined) continue
    // Defined, not assigned: a member called __proto__ is data.
    Object.defineProperty(kept, key, {
      value: withoutNullMembers(member),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return kept
}

/** JSON text of one typed value, as strict reads and messages carry it. */
export function valueJson(value: TypedValue): string {
  switch (value.type) {
    case 'STRING':
      return JSON.stringify(value.value)
    case 'DOUBLE':
      return javaDouble(value.value)
    case 'JSON':
      return value.value
    default:
      return String(value.value)
  }
}

/** The text in which loose (string) reads show a value: text as it is, doubles in Java form. */
export function valueText(value: TypedValue): string {
  return value.type === 'STRING' ? value.value : valueJson(value)
}

/** `{"key":value,…}` of entries: the data of a telemetry or attributes message. */
export function entriesJson(entries: readonly Entry[]): string {
  let text = '{'
  for (const entry of entries) {
    if (text.length > 1) text += ','
    text += `${JSON.stringify(entry.key)}:${valueJson(entry)}`
  }
  return text + '}'
}
