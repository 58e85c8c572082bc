/**
 * Bytes as lists of ints from -128 to 127, in hex, Base64, text and numbers. Source: `rule-engine.md` 6.5 "text/bytes",
 * "parse hex", "parse bytes", "to hex/base64".
 */
import { Fault } from '../fault.ts'
import { double, isInt, long, numberOf, rankOf, typeName, LONG, type Value } from '../values.ts'
import type { Budget } from '../budget.ts'
import {
  argument,
  booleanArgument,
  doubleArgument,
  intArgument,
  libraryFunction,
  listArgument,
  textArgument,
  type Functions,
  type LibraryFunction,
} from './signature.ts'
import { jsonValue } from './object.ts'

function bytesOf(value: Value, budget: Budget): Buffer {
  if (!Array.isArray(value)) throw new Fault(`bytes must be a list, not ${typeName(value)}`)
  budget.spend(value.length >> 3)
  budget.allocate(value.length)
  const bytes = Buffer.alloc(value.length)
  value.forEach((item, index) => {
    if (!isInt(item) || item < -128 || item > 255) throw new Fault(`item ${index} is no byte`)
    bytes[index] = item & 255
  })
  return bytes
}

function listOf(bytes: Buffer, budget: Budget): Value[] {
  budget.allocate(8 * bytes.length)
  return Array.from(bytes, (byte) => (byte << 24) >> 24)
}

function counted(text: string, budget: Budget): string {
  budget.allocate(2 * text.length)
  return text
}

const CHARSETS: ReadonlyMap<string, BufferEncoding> = new Map([
  ['UTF-8', 'utf8'],
  ['UTF8', 'utf8'],
  ['US-ASCII', 'latin1'],
  ['ASCII', 'latin1'],
  ['ISO-8859-1', 'latin1'],
  ['UTF-16LE', 'utf16le'],
])

function charset(values: readonly Value[], index: number): BufferEncoding {
  if (index >= values.length) return 'utf8'
  const name = textArgument(values, index)
  const known = CHARSETS.get(name.toUpperCase())
  if (known === undefined) throw new Fault(`unknown charset '${name.slice(0, 100)}'`)
  return known
}

const HEX = /^[0-9a-fA-F]*$/

function hexBytes(given: string, budget: Budget): Buffer {
  const text = given.trim().replace(/^0[xX]/, '')
  if (text.length % 2 !== 0 || !HEX.test(text)) throw new Fault(`'${text.slice(0, 100)}' is no hex text of even length`)
  budget.allocate(text.length)
  return Buffer.from(text, 'hex')
}

function base64Bytes(text: string, budget: Budget): Buffer {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new Fault('text is not Base64')
  budget.allocate(text.length)
  return Buffer.from(text, 'base64')
}

/** Reads `bytes` as an unsigned number. */
function unsigned(bytes: Buffer, bigEndian: boolean): bigint {
  if (bytes.length === 0) throw new Fault('no bytes')
  const ordered = bigEndian ? bytes : Buffer.from(bytes).reverse()
  return BigInt(`0x${ordered.toString('hex')}`)
}

type NumberKind = 'Int' | 'Long' | 'Float' | 'Double'
const SIZES: Readonly<Record<NumberKind, number>> = { Int: 4, Long: 8, Float: 4, Double: 8 }

/** At most the kind's own size in bytes; fewer count as an unsigned number, a full size as a signed one. */
function numberFrom(kind: NumberKind, bytes: Buffer, bigEndian: boolean): Value {
  const size = SIZES[kind]
  if (bytes.length > size) throw new Fault(`${bytes.length} bytes do not fit ${size}`)
  const whole = unsigned(bytes, bigEndian)
  if (kind === 'Int') return Number(BigInt.asIntN(32, whole))
  if (kind === 'Long') return long(BigInt.asIntN(64, whole))
  const buffer = Buffer.alloc(8)
  if (kind === 'Float') buffer.writeUInt32BE(Number(whole))
  else buffer.writeBigUInt64BE(whole)
  const value = kind === 'Float' ? buffer.readFloatBE() : buffer.readDoubleBE()
  if (Number.isNaN(value)) throw new Fault('bytes are not a number')
  return double(value)
}

function parseHex(kind: NumberKind, fixedOrder?: boolean): LibraryFunction {
  return libraryFunction(1, fixedOrder === undefined ? 2 : 1, (values, budget) => {
    const text = textArgument(values, 0)
      .trim()
      .replace(/^0[xX]/, '')
    const bytes = hexBytes(text.length % 2 === 0 ? text : `0${text}`, budget)
    return numberFrom(kind, bytes, fixedOrder ?? booleanArgument(values, 1, true))
  })
}

/** `(bytes[, offset[, length[, bigEndian]]])` */
function parseBytes(kind: NumberKind): LibraryFunction {
  return libraryFunction(1, 4, (values, budget) => {
    const bytes = bytesOf(argument(values, 0), budget)
    const offset = intArgument(values, 1, 0)
    const length = intArgument(values, 2, Math.min(SIZES[kind], bytes.length - offset))
    if (offset < 0 || length < 0 || offset + length > bytes.length)
      throw new Fault(`no ${length} bytes at ${offset} of ${bytes.length}`)
    return numberFrom(kind, bytes.subarray(offset, offset + length), booleanArgument(values, 3, true))
  })
}

/** An integer's hex digits: as few as it needs (`length` 0), in pairs, in either order. */
function wholeHex(values: readonly Value[], bits: number): string {
  const value = argument(values, 0)
  const number = rankOf(value) === LONG ? BigInt(value as number | bigint) : BigInt(intArgument(values, 0))
  const digits = BigInt.asUintN(number < 0n && number >= -2147483648n && bits === 32 ? 32 : 64, number).toString(16)
  const even = digits.length % 2 === 0 ? digits : `0${digits}`
  const length = Math.min(64, intArgument(values, 3, 0))
  const padded = even.padStart(length, '0')
  const ordered = booleanArgument(values, 1, true) ? padded : Buffer.from(padded, 'hex').reverse().toString('hex')
  return `${booleanArgument(values, 2, false) ? '0x' : ''}${ordered.toUpperCase()}`
}

function realHex(values: readonly Value[], size: 4 | 8): string {
  const bytes = Buffer.alloc(size)
  if (size === 4) bytes.writeFloatBE(doubleArgument(values, 0))
  else bytes.writeDoubleBE(doubleArgument(values, 0))
  return `0x${(booleanArgument(values, 1, true) ? bytes : bytes.reverse()).toString('hex').toUpperCase()}`
}

function binaryDigits(value: bigint, length: number, budget: Budget): Value[] {
  if (length < 0 || length > 64) throw new Fault('length must be from 0 to 64')
  budget.allocate(8 * length)
  return Array.from(
    BigInt.asUintN(64, value)
      .toString(2)
      .padStart(64, '0')
      .slice(64 - length),
    Number,
  )
}

function fromBinaryDigits(values: readonly Value[]): Value {
  const digits = listArgument(values, 0)
  const offset = intArgument(values, 1, 0)
  const length = intArgument(values, 2, digits.length - offset)
  if (offset < 0 || length < 0 || offset + length > digits.length || length > 31) throw new Fault('no such bits')
  return digits
    .slice(offset, offset + length)
    .reduce<number>((sum, digit) => sum * 2 + (numberOf(digit) === 1 ? 1 : 0), 0)
}

function latinOnly(text: string): Buffer {
  for (let index = 0; index < text.length; index++)
    if (text.charCodeAt(index) > 255) throw new Fault('text has characters beyond one byte')
  return Buffer.from(text, 'latin1')
}

function byteOrLong(value: Value): bigint {
  if (isInt(value) || rankOf(value) === LONG) return BigInt(value as number | bigint)
  throw new Fault(`argument must be an integer, not ${typeName(value)}`)
}

function hexFunctions(): [string, LibraryFunction][] {
  const kinds: readonly NumberKind[] = ['Int', 'Long', 'Float', 'Double']
  return kinds.flatMap((kind): [string, LibraryFunction][] => [
    [`parseHexTo${kind}`, parseHex(kind)],
    [`parseBigEndianHexTo${kind}`, parseHex(kind, true)],
    [`parseLittleEndianHexTo${kind}`, parseHex(kind, false)],
    [`parseBytesTo${kind}`, parseBytes(kind)],
  ])
}

export const bytesFunctions: Functions = new Map<string, LibraryFunction>([
  ...hexFunctions(),
  [
    'btoa',
    libraryFunction(
      1,
      1,
      (values, budget) => counted(latinOnly(textArgument(values, 0)).toString('base64'), budget),
      'string',
    ),
  ],
  [
    'atob',
    libraryFunction(
      1,
      1,
      (values, budget) => counted(base64Bytes(textArgument(values, 0), budget).toString('latin1'), budget),
      'string',
    ),
  ],
  [
    'stringToBytes',
    libraryFunction(1, 2, (values, budget) => listOf(Buffer.from(textArgument(values, 0), charset(values, 1)), budget)),
  ],
  [
    'bytesToString',
    libraryFunction(
      1,
      2,
      (values, budget) => counted(bytesOf(argument(values, 0), budget).toString(charset(values, 1)), budget),
      'string',
    ),
  ],
  [
    'decodeToString',
    libraryFunction(
      1,
      1,
      (values, budget) => counted(bytesOf(argument(values, 0), budget).toString('utf8'), budget),
      'string',
    ),
  ],
  ['decodeToJson', libraryFunction(1, 1, (values, budget) => decodeToJson(argument(values, 0), budget))],
  ['hexToBytes', libraryFunction(1, 1, (values, budget) => listOf(hexBytes(textArgument(values, 0), budget), budget))],
  [
    'bytesToHex',
    libraryFunction(
      1,
      1,
      (values, budget) => counted(bytesOf(argument(values, 0), budget).toString('hex').toUpperCase(), budget),
      'string',
    ),
  ],
  [
    'base64ToHex',
    libraryFunction(
      1,
      1,
      (values, budget) => counted(base64Bytes(textArgument(values, 0), budget).toString('hex').toUpperCase(), budget),
      'string',
    ),
  ],
  [
    'hexToBase64',
    libraryFunction(
      1,
      1,
      (values, budget) => counted(hexBytes(textArgument(values, 0), budget).toString('base64'), budget),
      'string',
    ),
  ],
  [
    'bytesToBase64',
    libraryFunction(
      1,
      1,
      (values, budget) => counted(bytesOf(argument(values, 0), budget).toString('base64'), budget),
      'string',
    ),
  ],
  [
    'base64ToBytesList',
    libraryFunction(1, 1, (values, budget) => listOf(base64Bytes(textArgument(values, 0), budget), budget)),
  ],
  ['intToHex', libraryFunction(1, 4, (values) => wholeHex(values, 32), 'string')],
  ['longToHex', libraryFunction(1, 4, (values) => wholeHex(values, 64), 'string')],
  ['floatToHex', libraryFunction(1, 2, (values) => realHex(values, 4), 'string')],
  ['doubleToHex', libraryFunction(1, 2, (values) => realHex(values, 8), 'string')],
  [
    'parseByteToBinaryArray',
    libraryFunction(1, 2, (values, budget) =>
      binaryDigits(byteOrLong(argument(values, 0)), intArgument(values, 1, 8), budget),
    ),
  ],
  [
    'parseLongToBinaryArray',
    libraryFunction(1, 2, (values, budget) =>
      binaryDigits(byteOrLong(argument(values, 0)), intArgument(values, 1, 64), budget),
    ),
  ],
  ['parseBinaryArrayToInt', libraryFunction(1, 3, fromBinaryDigits)],
])

function decodeToJson(value: Value, budget: Budget): Value {
  return jsonValue(typeof value === 'string' ? value : bytesOf(value, budget).toString('utf8'), budget)
}
