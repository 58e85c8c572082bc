/** Numbers from and to hex text, and to other radixes. Source: `rule-engine.md` 6.5 "parse hex", "to hex/base64". */
import { Fault } from '../fault.ts'
import { double, long, rankOf, textOf, LONG, type Value } from '../values.ts'
import {
  argument,
  booleanArgument,
  doubleArgument,
  intArgument,
  libraryFunction,
  textArgument,
  type Functions,
  type LibraryFunction,
} from './signature.ts'
import { doubleHex, doubleOfBits, singleHex, singleOfBits } from './floating.ts'
import { plainWhole, preparedNumber, radixOf, reversedPairs, wholeOfText } from './whole-text.ts'

/** A long, also from an int and from text; a double is cut. */
export function longArgument(values: readonly Value[], index: number): bigint {
  const value = argument(values, index)
  if (rankOf(value) === LONG) return BigInt.asIntN(64, BigInt(value as number | bigint))
  if (typeof value === 'string') return plainWhole(value, 10, 64)
  return BigInt(intArgument(values, index))
}

type Kind = 'Int' | 'Long' | 'Float' | 'Double'

function fromHex(kind: Kind, text: string, bigEndian: boolean): Value {
  if (kind === 'Int' || kind === 'Long') {
    const whole = wholeOfText(text, 16, kind === 'Int' ? 32 : 64, bigEndian)
    return whole === undefined ? null : kind === 'Int' ? Number(whole) : long(whole)
  }
  const prepared = preparedNumber(text, bigEndian)
  if (prepared === undefined) return null
  radixOf(prepared, 16, text)
  return double(kind === 'Float' ? singleOfBits(plainWhole(prepared, 16, 64)) : doubleOfBits(unsignedHex(prepared)))
}

export function unsignedHex(digits: string): bigint {
  if (!/^[0-9a-fA-F]{1,16}$/.test(digits)) throw new Fault(`'${digits}' is beyond 64 bits`)
  return BigInt(`0x${digits}`)
}

/** `(hex[, bigEndian])`; a form with a fixed order takes the text only, and a blank one is an error there. */
function parseHex(kind: Kind, fixedOrder?: boolean): LibraryFunction {
  return libraryFunction(1, fixedOrder === undefined ? 2 : 1, (values) => {
    const given = argument(values, 0)
    const value = given === null ? null : fromHex(kind, textOf(given), fixedOrder ?? booleanArgument(values, 1, true))
    if (value === null && values.length === 1) throw new Fault('the hexadecimal text is blank')
    return value
  })
}

/** An int whose bits are the number, whatever its length: `0A` is 10.0. */
function hexWholeToSingle(values: readonly Value[]): Value {
  const text = textArgument(values, 0)
  const prepared = preparedNumber(text, booleanArgument(values, 1))
  if (prepared === undefined) return null
  radixOf(prepared, 16, text)
  return double(Math.fround(Number(BigInt.asIntN(32, plainWhole(prepared, 16, 64)))))
}

/** As few pairs of digits as the number needs; a negative one keeps one pair of its sign. */
function shortHex(value: bigint, most: number): string {
  const digits = BigInt.asUintN(64, value).toString(16).toUpperCase()
  const even = digits.length % 2 > 0 ? `0${digits}` : digits
  if (value >= 0n) return even
  const short = even.replace(/^F+(?!$)/, '')
  const paired = short.length % 2 > 0 ? `F${short}` : short
  if (paired.length > most) return paired.slice(paired.length - most)
  return paired.length === most ? paired : `FF${paired}`
}

/** `(number[, bigEndian[, prefix[, length]]])`: the last `length` digits. */
function wholeHex(value: bigint, values: readonly Value[], most: number): string {
  const digits = hexText(value, booleanArgument(values, 1, true), most)
  const length = intArgument(values, 3, -1)
  const kept = length === -1 ? digits.length : length
  if (kept < 0 || kept > digits.length) throw new Fault(`${digits} has no ${kept} digits`)
  return (booleanArgument(values, 2, false) ? '0x' : '') + digits.slice(digits.length - kept)
}

function hexText(value: bigint, bigEndian: boolean, most: number): string {
  const digits = shortHex(value, most)
  return bigEndian ? digits : reversedPairs(digits)
}

/** `(number[, radix[, bigEndian[, prefix]]])` */
function radixText(values: readonly Value[]): string {
  const value = longArgument(values, 0)
  const radix = intArgument(values, 1, 10)
  if (radix === 10 || (radix >= 25 && radix <= 36)) return value.toString(radix)
  const unsigned = BigInt.asUintN(64, value)
  if (radix === 8) return unsigned.toString(8)
  if (radix === 2) {
    const digits = unsigned.toString(2)
    return digits.padStart([8, 16, 32, 64].find((width) => digits.length < width) ?? 64, '0')
  }
  if (radix !== 16) throw new Fault(`radix ${radix} is not supported`)
  return (booleanArgument(values, 3, false) ? '0x' : '') + hexText(value, booleanArgument(values, 2, true), 16)
}

function ordered(hex: string, values: readonly Value[]): string {
  return `0x${booleanArgument(values, 1, true) ? hex : reversedPairs(hex)}`
}

const KINDS: readonly Kind[] = ['Int', 'Long', 'Float', 'Double']

export const hexFunctions: Functions = new Map<string, LibraryFunction>([
  ...KINDS.flatMap((kind): [string, LibraryFunction][] => [
    [`parseHexTo${kind}`, parseHex(kind)],
    [`parseBigEndianHexTo${kind}`, parseHex(kind, true)],
    [`parseLittleEndianHexTo${kind}`, parseHex(kind, false)],
  ]),
  ['parseHexIntLongToFloat', libraryFunction(2, 2, hexWholeToSingle)],
  ['intToHex', libraryFunction(1, 4, (values) => wholeHex(BigInt(intArgument(values, 0)), values, 8), 'string')],
  ['longToHex', libraryFunction(1, 4, (values) => wholeHex(longArgument(values, 0), values, 16), 'string')],
  ['intLongToRadixString', libraryFunction(1, 4, radixText, 'string')],
  ['floatToHex', libraryFunction(1, 2, (values) => ordered(singleHex(doubleArgument(values, 0)), values), 'string')],
  ['doubleToHex', libraryFunction(1, 2, (values) => ordered(doubleHex(doubleArgument(values, 0)), values), 'string')],
])
