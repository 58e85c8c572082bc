/** Values of resources: from what a format says to what is stored, and back. Source: `device-api.md` 13.5, OMA LwM2M Core 1.1, appendix C. */
import { numberOfText } from '../../model/number-text.ts'
import { fitsLong, longValue, type TypedValue } from '../../model/value.ts'
import { pathText, type Path, type RawValue } from './codecs/records.ts'
import { Lwm2mErrors } from './errors.ts'

export const RESOURCE_TYPES = [
  'STRING',
  'INTEGER',
  'UNSIGNED_INTEGER',
  'FLOAT',
  'BOOLEAN',
  'OPAQUE',
  'TIME',
  'OBJLNK',
  'CORELNK',
] as const
export type ResourceType = (typeof RESOURCE_TYPES)[number]

type Raw<Kind extends RawValue['kind']> = Extract<RawValue, { readonly kind: Kind }>

const MS = 1000
const INTEGER_WIDTHS: readonly number[] = [1, 2, 4, 8]
const LINK_BYTES = 4
/** RFC 3339, 5.6. */
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i

/** As it is stored: times in Unix ms, opaque ones as hexadecimal digits. Throws WRONG_VALUE. */
export function typedValue(type: ResourceType, raw: RawValue, path: Path): TypedValue {
  const wrong = (reason: string): Error => Lwm2mErrors.WRONG_VALUE({ path: pathText(path), type, reason })
  switch (type) {
    case 'STRING':
    case 'CORELNK':
      return { type: 'STRING', value: textOf(raw, wrong) }
    case 'INTEGER':
    case 'UNSIGNED_INTEGER':
      return { type: 'LONG', value: integerOf(raw, type === 'UNSIGNED_INTEGER', wrong) }
    case 'TIME': {
      if (raw.kind === 'text') return { type: 'LONG', value: dateOf(raw.value, wrong) }
      const seconds = BigInt(integerOf(raw, false, wrong))
      if (!fitsLong(seconds * BigInt(MS))) throw wrong('it is out of range')
      return { type: 'LONG', value: longValue(seconds * BigInt(MS)) }
    }
    case 'FLOAT':
      return { type: 'DOUBLE', value: floatOf(raw, wrong) }
    case 'BOOLEAN':
      return { type: 'BOOLEAN', value: booleanOf(raw, wrong) }
    case 'OPAQUE':
      return { type: 'STRING', value: bytesOf(raw, wrong).toString('hex') }
    case 'OBJLNK':
      return { type: 'STRING', value: linkOf(raw, wrong) }
  }
}

/** From the text that a caller wrote: of a time in ms, of an opaque one its hexadecimal digits. Throws WRONG_VALUE. */
export function rawValueOf(type: ResourceType, text: string, path: Path): RawValue {
  const wrong = (reason: string): Error => Lwm2mErrors.WRONG_VALUE({ path: pathText(path), type, reason })
  switch (type) {
    case 'STRING':
    case 'CORELNK':
      return { kind: 'text', value: text }
    case 'INTEGER':
    case 'UNSIGNED_INTEGER':
      return { kind: 'number', value: integerText(text, type === 'UNSIGNED_INTEGER', wrong) }
    case 'TIME': {
      const ms = BigInt(integerText(text, false, wrong))
      return { kind: 'number', value: longValue(ms / BigInt(MS)) }
    }
    case 'FLOAT':
      return { kind: 'number', value: floatText(text, wrong) }
    case 'BOOLEAN':
      if (text !== 'true' && text !== 'false') throw wrong('it is true or false')
      return { kind: 'boolean', value: text === 'true' }
    case 'OPAQUE':
      if (text.length % 2 !== 0 || !/^[\da-fA-F]*$/.test(text)) throw wrong('it is written in hexadecimal digits')
      return { kind: 'bytes', bytes: Buffer.from(text, 'hex') }
    case 'OBJLNK':
      return { kind: 'link', value: linkText(text, wrong) }
  }
}

/** As TLV has it. */
export function tlvBytes(type: ResourceType, raw: RawValue): Buffer {
  switch (raw.kind) {
    case 'number':
      return type === 'FLOAT' ? doubleBytes(Number(raw.value)) : integerBytes(BigInt(raw.value), type)
    case 'boolean':
      return Buffer.of(raw.value ? 1 : 0)
    case 'text':
      return Buffer.from(raw.value)
    case 'link': {
      const [object = 0, instance = 0] = raw.value.split(':').map(Number)
      return Buffer.of(object >> 8, object & 0xff, instance >> 8, instance & 0xff)
    }
    case 'bytes':
    case 'encoded':
      return raw.bytes
  }
}

/** As plain text has it. */
export function plainText(raw: RawValue): string {
  switch (raw.kind) {
    case 'bytes':
    case 'encoded':
      return raw.bytes.toString('base64')
    case 'boolean':
      return raw.value ? '1' : '0'
    case 'number':
    case 'text':
    case 'link':
      return String(raw.value)
  }
}

/** What plain text says. */
export function rawOfPlainText(type: ResourceType, text: string, path: Path): RawValue {
  if (type === 'BOOLEAN' && (text === '0' || text === '1')) return { kind: 'boolean', value: text === '1' }
  if (type === 'OPAQUE') return { kind: 'bytes', bytes: Buffer.from(text, 'base64') }
  return rawValueOf(type === 'TIME' ? 'INTEGER' : type, text, path)
}

type Wrong = (reason: string) => Error

function textOf(raw: RawValue, wrong: Wrong): string {
  if (raw.kind === 'text') return raw.value
  if (raw.kind === 'encoded') return raw.bytes.toString('utf8')
  throw wrong('it is a text')
}

function integerOf(raw: RawValue, isUnsigned: boolean, wrong: Wrong): number | bigint {
  const value = raw.kind === 'encoded' ? encodedInteger(raw, isUnsigned, wrong) : numberOf(raw, wrong)
  if (typeof value === 'number' && !Number.isInteger(value)) throw wrong('it is a whole number')
  const whole = BigInt(value)
  if (!fitsLong(whole) || (isUnsigned && whole < 0n)) throw wrong('it is out of range')
  return longValue(whole)
}

function encodedInteger({ bytes }: Raw<'encoded' | 'bytes'>, isUnsigned: boolean, wrong: Wrong): number | bigint {
  if (!INTEGER_WIDTHS.includes(bytes.length)) throw wrong('it has 1, 2, 4 or 8 bytes')
  if (bytes.length === 8) return isUnsigned ? bytes.readBigUInt64BE() : bytes.readBigInt64BE()
  return isUnsigned ? bytes.readUIntBE(0, bytes.length) : bytes.readIntBE(0, bytes.length)
}

function floatOf(raw: RawValue, wrong: Wrong): number {
  if (raw.kind !== 'encoded') return finite(Number(numberOf(raw, wrong)), wrong)
  if (raw.bytes.length === 4) return finite(raw.bytes.readFloatBE(), wrong)
  if (raw.bytes.length === 8) return finite(raw.bytes.readDoubleBE(), wrong)
  throw wrong('it has 4 or 8 bytes')
}

function booleanOf(raw: RawValue, wrong: Wrong): boolean {
  if (raw.kind === 'boolean') return raw.value
  const byte = raw.kind === 'encoded' && raw.bytes.length === 1 ? raw.bytes[0] : undefined
  if (byte === 0 || byte === 1) return byte === 1
  throw wrong('it is true or false')
}

function bytesOf(raw: RawValue, wrong: Wrong): Buffer {
  if (raw.kind === 'bytes' || raw.kind === 'encoded') return raw.bytes
  if (raw.kind === 'text' && raw.isBase64OfOpaque === true && /^[\w+/-]*={0,2}$/.test(raw.value))
    return Buffer.from(raw.value, 'base64')
  throw wrong('it is bytes')
}

function linkOf(raw: RawValue, wrong: Wrong): string {
  if (raw.kind === 'link' || raw.kind === 'text') return linkText(raw.value, wrong)
  if (raw.kind !== 'encoded' || raw.bytes.length !== LINK_BYTES) throw wrong('it has 4 bytes')
  return `${raw.bytes.readUInt16BE(0)}:${raw.bytes.readUInt16BE(2)}`
}

function numberOf(raw: RawValue, wrong: Wrong): number | bigint {
  if (raw.kind === 'number') return raw.value
  throw wrong('it is a number')
}

function integerText(text: string, isUnsigned: boolean, wrong: Wrong): number | bigint {
  if (!/^[+-]?\d{1,19}$/.test(text)) throw wrong('it is a whole number')
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  if (!fitsLong(value) || (isUnsigned && value < 0n)) throw wrong('it is out of range')
  return longValue(value)
}

/** Unix ms. Some clients write a time in CBOR so. */
function dateOf(text: string, wrong: Wrong): number {
  const ms = DATE.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(ms)) throw wrong('it is a date as 2024-05-01T12:00:00Z')
  return ms
}

function floatText(text: string, wrong: Wrong): number {
  const number = numberOfText(text)
  if (Number.isNaN(number)) throw wrong('it is a number')
  return finite(number, wrong)
}

function linkText(text: string, wrong: Wrong): string {
  const [, object, instance] = /^(\d{1,5}):(\d{1,5})$/.exec(text) ?? []
  if (object === undefined || instance === undefined || Number(object) > 0xffff || Number(instance) > 0xffff)
    throw wrong('it is object:instance')
  return text
}

function finite(value: number, wrong: Wrong): number {
  if (!Number.isFinite(value)) throw wrong('it is a finite number')
  return value
}

function doubleBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return bytes
}

/** The fewest bytes that hold it. */
function integerBytes(value: bigint, type: ResourceType): Buffer {
  const isUnsigned = type === 'UNSIGNED_INTEGER'
  const fits = (width: number): boolean =>
    (isUnsigned ? BigInt.asUintN(width * 8, value) : BigInt.asIntN(width * 8, value)) === value
  const width = INTEGER_WIDTHS.find(fits) ?? 8
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt.asUintN(64, value))
  return bytes.subarray(8 - width)
}
