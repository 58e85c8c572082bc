/** Values of metrics by their datatypes: what is stored of them, and what a command carries. Source: `device-api.md` 14. */
import { LongDecimal, stringifyJson, WholeDouble, type JsonValue } from '../../../model/json.ts'
import { numberOfText } from '../../../model/number-text.ts'
import { fitsLong, longValue, type TypedValue } from '../../../model/value.ts'
import { VALUE, type WireValue } from './payload.ts'

export const Datatype = {
  Int8: 1,
  Int16: 2,
  Int32: 3,
  Int64: 4,
  UInt8: 5,
  UInt16: 6,
  UInt32: 7,
  UInt64: 8,
  Float: 9,
  Double: 10,
  Boolean: 11,
  String: 12,
  DateTime: 13,
  Text: 14,
  UUID: 15,
  Bytes: 17,
} as const

/** Of whole numbers. */
const WIDTHS: ReadonlyMap<number, { readonly bits: number; readonly isSigned: boolean }> = new Map([
  [Datatype.Int8, { bits: 8, isSigned: true }],
  [Datatype.Int16, { bits: 16, isSigned: true }],
  [Datatype.Int32, { bits: 32, isSigned: true }],
  [Datatype.Int64, { bits: 64, isSigned: true }],
  [Datatype.UInt8, { bits: 8, isSigned: false }],
  [Datatype.UInt16, { bits: 16, isSigned: false }],
  [Datatype.UInt32, { bits: 32, isSigned: false }],
  [Datatype.UInt64, { bits: 64, isSigned: false }],
  [Datatype.DateTime, { bits: 64, isSigned: false }],
])
const LONGEST_INT_BITS = 32
const WHOLE_NUMBER = /^[+-]?\d{1,20}$/

/** Undefined for what is not stored: null, data sets, templates, files, arrays, numbers that are none, a value that is not of the datatype. */
export function storedValue(datatype: number, wire: WireValue | undefined): TypedValue | undefined {
  if (wire === undefined) return undefined
  switch (datatype) {
    case Datatype.Float:
    case Datatype.Double:
      return (wire.field === VALUE.float || wire.field === VALUE.double) && Number.isFinite(wire.value)
        ? { type: 'DOUBLE', value: wire.value }
        : undefined
    case Datatype.Boolean:
      return wire.field === VALUE.boolean ? { type: 'BOOLEAN', value: wire.value } : undefined
    case Datatype.String:
    case Datatype.Text:
    case Datatype.UUID:
      return wire.field === VALUE.string ? { type: 'STRING', value: wire.value } : undefined
    case Datatype.Bytes:
      return wire.field === VALUE.bytes ? { type: 'JSON', value: `[${signed(wire.value).join(',')}]` } : undefined
    default:
      return wholeNumber(datatype, wire)
  }
}

/** Some clients fill a small negative number up to 32 bits, some do not: the bits of its type alone count. */
function wholeNumber(datatype: number, wire: WireValue): TypedValue | undefined {
  const width = WIDTHS.get(datatype)
  if (width === undefined || (wire.field !== VALUE.int && wire.field !== VALUE.long)) return undefined
  const bits = wire.field === VALUE.int ? Math.min(width.bits, LONGEST_INT_BITS) : width.bits
  const value = width.isSigned ? BigInt.asIntN(bits, wire.value) : BigInt.asUintN(bits, wire.value)
  // Beyond what a LONG holds: about right is better than negative.
  return fitsLong(value) ? { type: 'LONG', value: longValue(value) } : { type: 'DOUBLE', value: Number(value) }
}

function signed(bytes: Buffer): Int8Array {
  return new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** `field`: the one in which the metric was born, where that is known. Undefined where the value is none of the datatype. */
export function commandValue(
  datatype: number,
  value: JsonValue,
  field: WireValue['field'] | undefined,
): WireValue | undefined {
  switch (datatype) {
    case Datatype.Float:
    case Datatype.Double: {
      const number = numberOf(value)
      if (number === undefined) return undefined
      return { field: datatype === Datatype.Float ? VALUE.float : VALUE.double, value: number }
    }
    case Datatype.Boolean: {
      const flag = flagOf(value)
      return flag === undefined ? undefined : { field: VALUE.boolean, value: flag }
    }
    case Datatype.String:
    case Datatype.Text:
    case Datatype.UUID:
      if (value === null) return undefined
      return { field: VALUE.string, value: typeof value === 'string' ? value : stringifyJson(value) }
    case Datatype.Bytes: {
      const bytes = bytesOf(value)
      return bytes === undefined ? undefined : { field: VALUE.bytes, value: bytes }
    }
    default:
      return wholeCommand(datatype, value, field)
  }
}

function wholeCommand(
  datatype: number,
  value: JsonValue,
  field: WireValue['field'] | undefined,
): WireValue | undefined {
  const width = WIDTHS.get(datatype)
  const whole = wholeOf(value)
  if (width === undefined || whole === undefined) return undefined
  const { bits, isSigned } = width
  const least = isSigned ? -(2n ** BigInt(bits - 1)) : 0n
  const most = 2n ** BigInt(isSigned ? bits - 1 : bits) - 1n
  if (whole < least || whole > most) return undefined
  // A 32-bit number stands in either field, by the client's library.
  const isLong = bits > LONGEST_INT_BITS || (field === VALUE.long && bits === LONGEST_INT_BITS)
  return isLong
    ? { field: VALUE.long, value: BigInt.asUintN(64, whole) }
    : { field: VALUE.int, value: BigInt.asUintN(LONGEST_INT_BITS, whole) }
}

function wholeOf(value: JsonValue): bigint | undefined {
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (typeof value === 'bigint') return value
  if (typeof value === 'string' && WHOLE_NUMBER.test(value.trim())) return BigInt(value.trim().replace(/^\+/, ''))
  const number = numberOf(value)
  return number !== undefined && Number.isInteger(number) ? BigInt(number) : undefined
}

function numberOf(value: JsonValue): number | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof WholeDouble || value instanceof LongDecimal) return value.value
  if (typeof value !== 'string') return undefined
  const number = numberOfText(value)
  return Number.isFinite(number) ? number : undefined
}

function flagOf(value: JsonValue): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (typeof value === 'string' && /^(true|false)$/i.test(value.trim())) return value.trim().toLowerCase() === 'true'
  const number = numberOf(value)
  return number === undefined ? undefined : number !== 0
}

function bytesOf(value: JsonValue): Buffer | undefined {
  if (!Array.isArray(value)) return undefined
  const isBytes = (each: JsonValue): each is number =>
    typeof each === 'number' && Number.isInteger(each) && each >= -128 && each <= 255
  return value.every(isBytes) ? Buffer.from(value) : undefined
}
