/**
 * Bytes as lists of ints from -128 to 127, in hex, Base64, text, bits and numbers. Source: `rule-engine.md` 6.5 "text/bytes", "parse bytes",
 * "to hex/base64", "bits".
 */
import { Fault } from '../fault.ts'
import { double, intOf, isInt, isNumber, long, numberOf, typeName, type Value } from '../values.ts'
import type { Budget } from '../budget.ts'
import {
  argument,
  booleanArgument,
  intArgument,
  libraryFunction,
  listArgument,
  textArgument,
  type Functions,
  type LibraryFunction,
} from './signature.ts'
import { base64Bytes, charset, decoded, encoded } from './charset.ts'
import { doubleOfBits, refuseNaN, single, singleOfBits } from './floating.ts'
import { longArgument } from './hex.ts'
import { jsonValue } from './object.ts'
import { PlatformArray } from './platform-array.ts'
import { isHexText, preparedNumber, wholeOfText } from './whole-text.ts'

/** Bytes of a list of ints from -128 to 255, or their texts. */
function bytesOf(value: Value, budget: Budget, read: (item: Value) => number = byteOf): Buffer {
  if (!Array.isArray(value)) throw new Fault(`bytes must be a list, not ${typeName(value)}`)
  budget.spend(value.length >> 3)
  budget.allocate(value.length)
  const bytes = Buffer.alloc(value.length)
  value.forEach((item, index) => {
    if (typeof item === 'string') budget.spend(1 + (item.length >> 4))
    bytes[index] = read(item) & 255
  })
  return bytes
}

function byteOf(item: Value): number {
  const value = typeof item === 'string' ? wholeOfText(item, 0, 32) : item
  const byte = typeof value === 'bigint' ? Number(value) : value
  if (byte === undefined || !isInt(byte) || byte < -128 || byte > 255) throw new Fault(`${typeName(item)} is no byte`)
  return byte
}

function signedByteOf(item: Value): number {
  const byte = byteOf(item)
  if (byte > 127) throw new Fault(`${byte} is beyond the range of a byte`)
  return byte
}

/** The lowest byte of any number. */
function lowByteOf(item: Value): number {
  if (!isNumber(item)) throw new Fault(`${typeName(item)} is no byte`)
  return typeof item === 'bigint' ? Number(BigInt.asIntN(32, item)) : intOf(numberOf(item))
}

function signed(bytes: Buffer, budget: Budget): Value[] {
  budget.allocate(8 * bytes.length)
  return Array.from(bytes, (byte) => (byte << 24) >> 24)
}

function arrayOf(bytes: Buffer, budget: Budget): PlatformArray {
  return PlatformArray.ofValues(signed(bytes, budget))
}

function counted(text: string, budget: Budget): string {
  budget.allocate(2 * text.length)
  return text
}

function hexBytes(text: string, budget: Budget): Buffer {
  const prepared = preparedHex(text)
  budget.allocate(prepared.length)
  return Buffer.from(prepared, 'hex')
}

/** Long texts are bytes, not numbers: they have no bound of their own. */
function preparedHex(text: string): string {
  const prepared = text.length > 100 ? text.replaceAll(/0[xX]/g, '') : preparedNumber(text, true)
  if (prepared === undefined) throw new Fault('the hexadecimal text is blank')
  if (prepared.length % 2 > 0) throw new Fault('the hexadecimal text must be of even length')
  if (!isHexText(text) || prepared.startsWith('-')) throw new Fault(`'${text.slice(0, 100)}' is no hexadecimal text`)
  return prepared
}

function rawHexBytes(text: string, budget: Budget): Buffer {
  if (text.length % 2 > 0 || !/^[0-9a-fA-F]*$/.test(text))
    throw new Fault(`'${text.slice(0, 100)}' is no hexadecimal text`)
  budget.allocate(text.length)
  return Buffer.from(text, 'hex')
}

interface Part {
  readonly bytes: Buffer
  readonly whole: bigint
}

/** `(bytes[, offset[, length[, bigEndian]]])`: at most `most` bytes and the unsigned number they make. */
function partOf(values: readonly Value[], most: number, budget: Budget): Part {
  const bytes = bytesOf(argument(values, 0), budget, lowByteOf)
  const offset = intArgument(values, 1, 0)
  const rest = bytes.length < offset ? bytes.length : Math.min(bytes.length - offset, most)
  const length = intArgument(values, 2, rest)
  if (offset < 0 || length < 0 || offset + length > bytes.length)
    throw new Fault(`no ${length} bytes at ${offset} of ${bytes.length}`)
  if (length > most) throw new Fault(`${length} bytes are too many, at most ${most} are allowed`)
  const part = Buffer.from(bytes.subarray(offset, offset + length))
  return {
    bytes,
    whole:
      length === 0 ? 0n : BigInt(`0x${(booleanArgument(values, 3, true) ? part : part.reverse()).toString('hex')}`),
  }
}

function fromBytes(most: number, read: (part: Part) => Value): LibraryFunction {
  return libraryFunction(1, 4, (values, budget) => read(partOf(values, most, budget)))
}

const numbersOfBytes: readonly (readonly [string, LibraryFunction])[] = [
  ['parseBytesToInt', fromBytes(4, ({ whole }) => Number(BigInt.asIntN(32, whole)))],
  ['parseBytesToLong', fromBytes(8, ({ whole }) => long(BigInt.asIntN(64, whole)))],
  [
    'parseBytesToFloat',
    fromBytes(4, ({ bytes, whole }) => double(refuseNaN(singleOfBits(whole), bytes.toString('hex')))),
  ],
  [
    'parseBytesToDouble',
    fromBytes(8, ({ bytes, whole }) => double(refuseNaN(doubleOfBits(whole), bytes.toString('hex')))),
  ],
  ['parseBytesIntToFloat', fromBytes(4, ({ whole }) => double(single(Number(whole))))],
  ['parseBytesLongToDouble', fromBytes(8, ({ whole }) => double(Number(whole)))],
]

/** The lowest bits of a number, the highest first. */
function bitsOf(value: bigint, length: number, budget: Budget): PlatformArray {
  if (length < 0) throw new Fault('length is negative')
  budget.allocate(8 * length)
  return PlatformArray.ofValues(
    Array.from({ length }, (_, index) => Number((value >> BigInt(length - 1 - index)) & 1n)),
  )
}

/** `(byte[, length[, bigEndian]])`; the sign fills what is beyond its eight bits, and comes round again behind 32. */
function bitsOfByte(values: readonly Value[], budget: Budget): Value {
  const byte = signedByteOf(argument(values, 0))
  const length = intArgument(values, 1, 8)
  if (length < 0) throw new Fault('length is negative')
  budget.allocate(8 * length)
  const bits: Value[] = Array.from({ length }, (_, index) => (byte >> (index & 31)) & 1)
  return PlatformArray.ofValues(booleanArgument(values, 2, true) ? bits.reverse() : bits)
}

function bitsOfBytes(values: readonly Value[], budget: Budget): Value {
  const { bytes, whole } = partOf(values.slice(0, 1), 8, budget)
  if (bytes.length > 8) throw new Fault(`${bytes.length} bytes are too many, at most 8 are allowed`)
  return bitsOf(BigInt.asIntN(64, whole), Math.min(64, intArgument(values, 1, 8 * bytes.length)), budget)
}

/** `(bits[, offset[, length]])`; eight bits from the first on are a signed byte. */
function intOfBits(values: readonly Value[]): Value {
  const bits = listArgument(values, 0)
  const offset = intArgument(values, 1, 0)
  if (offset < 0) throw new Fault('offset is negative')
  const end = Math.min(intArgument(values, 2, bits.length) + offset, bits.length)
  let result = 0
  for (let index = offset; index < end; index++) result = (result << 1) | (lowByteOf(bits[index] ?? null) & 1)
  if (bits.length === 8 && offset === 0 && lowByteOf(bits[0] ?? null) === 1) result = (result - (1 << end)) | 0
  return result
}

function textBytes(values: readonly Value[], budget: Budget): Value[] {
  const text = argument(values, 0)
  if (typeof text !== 'string') throw new Fault(`argument must be a text, not ${typeName(text)}`)
  return signed(encoded(text, charset(values, 1)), budget)
}

function bytesText(values: readonly Value[], budget: Budget): string {
  return counted(decoded(bytesOf(argument(values, 0), budget), charset(values, 1)), budget)
}

function decodeToJson(value: Value, budget: Budget): Value {
  return jsonValue(typeof value === 'string' ? value : bytesOf(value, budget).toString('utf8'), budget)
}

/** A function of one text. */
function ofText(run: (text: string, budget: Budget) => Value): LibraryFunction {
  return libraryFunction(1, 1, (values, budget) => run(textArgument(values, 0), budget))
}

const ofTexts: readonly (readonly [string, LibraryFunction])[] = [
  ['btoa', ofText((text, budget) => counted(Buffer.from(text).toString('base64'), budget))],
  ['atob', ofText((text, budget) => counted(base64Bytes(text, budget).toString('utf8'), budget))],
  ['hexToBytes', ofText((text, budget) => signed(hexBytes(text, budget), budget))],
  ['hexToBytesArray', ofText((text, budget) => arrayOf(hexBytes(text, budget), budget))],
  ['hexToBase64', ofText((text, budget) => counted(rawHexBytes(text, budget).toString('base64'), budget))],
  ['base64ToHex', ofText((text, budget) => counted(base64Bytes(text, budget).toString('hex').toUpperCase(), budget))],
  ['base64ToBytes', ofText((text, budget) => arrayOf(base64Bytes(text, budget), budget))],
  ['base64ToBytesList', ofText((text, budget) => signed(base64Bytes(text, budget), budget))],
]

/** A function of one list of bytes. */
function ofBytes(run: (bytes: Buffer, budget: Budget) => Value, read = byteOf): LibraryFunction {
  return libraryFunction(1, 1, (values, budget) => run(bytesOf(argument(values, 0), budget, read), budget))
}

export const bytesFunctions: Functions = new Map<string, LibraryFunction>([
  ...ofTexts,
  ...numbersOfBytes,
  ['stringToBytes', libraryFunction(1, 2, textBytes)],
  ['bytesToString', libraryFunction(1, 2, bytesText, 'string')],
  ['decodeToString', libraryFunction(1, 1, bytesText, 'string')],
  ['decodeToJson', libraryFunction(1, 1, (values, budget) => decodeToJson(argument(values, 0), budget))],
  ['bytesToHex', ofBytes((bytes, budget) => counted(bytes.toString('hex').toUpperCase(), budget), signedByteOf)],
  ['bytesToBase64', ofBytes((bytes, budget) => counted(bytes.toString('base64'), budget))],
  ['bytesToExecutionArrayList', ofBytes(signed)],
  ['printUnsignedBytes', ofBytes((bytes) => [...bytes])],
  ['parseByteToBinaryArray', libraryFunction(1, 3, bitsOfByte)],
  ['parseBytesToBinaryArray', libraryFunction(1, 2, bitsOfBytes)],
  [
    'parseLongToBinaryArray',
    libraryFunction(1, 2, (values, budget) =>
      bitsOf(longArgument(values, 0), Math.min(64, intArgument(values, 1, 64)), budget),
    ),
  ],
  ['parseBinaryArrayToInt', libraryFunction(1, 3, intOfBits)],
])
