/** Texts into numbers and back. Source: `rule-engine.md` 6.5 "parse text", "numbers", "text/bytes" and the quirks below them. */
import { Fault } from '../fault.ts'
import { DOUBLE, INT, double, intOf, long, numberOf, rankOf, textOf, typeName, type Value } from '../values.ts'
import type { Budget } from '../budget.ts'
import {
  argument,
  doubleArgument,
  intArgument,
  libraryFunction,
  textArgument,
  type Functions,
  type LibraryFunction,
} from './signature.ts'

const RADIXES: ReadonlySet<number> = new Set([2, 8, 10, 16, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36])
const MAX_DIGITS = 100

/** The text of what is to be parsed, without blanks; undefined for null and blank. */
function given(values: readonly Value[]): string | undefined {
  const value = argument(values, 0)
  if (value === null) return undefined
  if (rankOf(value) === DOUBLE) throw new Fault(`${textOf(value)} is no integer`)
  const text = textOf(value).trim()
  if (text.length > MAX_DIGITS)
    throw new Fault(`a number of ${text.length} characters, at most ${MAX_DIGITS} are allowed`)
  return text === '' ? undefined : text
}

/** A whole number; radix 0 finds it: `0x` and hex letters mean 16, otherwise 10. */
export function wholeNumber(text: string, radix: number): bigint {
  const negative = text.startsWith('-')
  let digits = negative || text.startsWith('+') ? text.slice(1) : text
  let base = radix
  const isMarked = /^0[xX]/.test(digits)
  if (isMarked && (base === 0 || base === 16)) {
    digits = digits.slice(2)
    base = 16
  }
  if (base === 0) base = /^[0-9]+$/.test(digits) ? 10 : 16
  if (!RADIXES.has(base)) throw new Fault(`radix ${base} is not supported`)
  let value = 0n
  if (digits === '') throw new Fault(`'${text}' is no number`)
  for (const digit of digits.toLowerCase()) {
    const place = '0123456789abcdefghijklmnopqrstuvwxyz'.indexOf(digit)
    if (place < 0 || place >= base) throw new Fault(`'${text}' is no number of radix ${base}`)
    value = value * BigInt(base) + BigInt(place)
  }
  return negative ? -value : value
}

function inRange(value: bigint, bits: number, text: string): bigint {
  if (BigInt.asIntN(bits, value) !== value)
    throw new Fault(`${text} is beyond the range of ${bits === 32 ? 'int' : 'long'}`)
  return value
}

/** The parsed integer; undefined for blank. */
function parseWhole(values: readonly Value[], bits: number): bigint | undefined {
  const text = given(values)
  return text === undefined ? undefined : inRange(wholeNumber(text, intArgument(values, 1, 0)), bits, text)
}

function parseInteger(values: readonly Value[]): Value {
  const whole = parseWhole(values, 32)
  return whole === undefined ? null : Number(whole)
}

/** A long is never an int, also where it is small. */
function parseLongInteger(values: readonly Value[]): Value {
  const whole = parseWhole(values, 64)
  return whole === undefined ? null : long(whole)
}

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[dDfF]?$/

export function decimalNumber(text: string): number {
  const plain = text.trim()
  if (plain === 'NaN') return NaN
  if (/^[+-]?Infinity$/.test(plain)) return plain.startsWith('-') ? -Infinity : Infinity
  if (plain.length > MAX_DIGITS || !DECIMAL.test(plain)) throw new Fault(`'${plain.slice(0, MAX_DIGITS)}' is no number`)
  return Number(plain.replace(/[dDfF]$/, ''))
}

function parseDecimal(values: readonly Value[], round: (value: number) => number): Value {
  const value = argument(values, 0)
  if (value === null) return null
  if (rankOf(value) !== 0) return double(round(numberOf(value)))
  const text = textOf(value)
  return text.trim() === '' ? null : double(round(decimalNumber(text)))
}

/** Rounds half up at a number of digits, on the decimal digits as written: `toFixed(1.005, 2)` is 1.01. */
export function roundHalfUp(value: number, digits: number): number {
  if (!Number.isFinite(value) || digits < 0 || digits > 100)
    throw new Fault('toFixed needs a finite number and 0 to 100 digits')
  const [mantissa = '', exponent = '0'] = Math.abs(value).toExponential().split('e')
  const scale = mantissa.replace('.', '').length - 1 - Number(exponent)
  if (scale <= digits) return value
  const unscaled = BigInt(mantissa.replace('.', ''))
  const divisor = 10n ** BigInt(Math.min(400, scale - digits))
  const rounded = (unscaled * 2n + divisor) / (2n * divisor)
  return Math.sign(value) * Number(`${rounded}e${-digits}`)
}

function toFixed(values: readonly Value[]): Value {
  const rank = rankOf(argument(values, 0))
  if (rank === INT) return argument(values, 0)
  return double(roundHalfUp(doubleArgument(values, 0), intArgument(values, 1)))
}

function looksLike(pattern: RegExp, radix: number): LibraryFunction {
  return libraryFunction(1, 1, (values) => (pattern.test(textArgument(values, 0).slice(0, 10_000)) ? radix : -1), 'int')
}

function pad(values: readonly Value[], budget: Budget, atStart: boolean): string {
  const text = textArgument(values, 0)
  const length = intArgument(values, 1)
  const filler = textArgument(values, 2)
  budget.allocate(2 * Math.max(length, text.length))
  return atStart ? text.padStart(length, filler) : text.padEnd(length, filler)
}

const uriKept = /[^A-Za-z0-9\-_.!~*'();/?:@&=+$,#]/gu

function encodeText(text: string, budget: Budget): string {
  budget.allocate(6 * text.length)
  return text.replace(uriKept, (letter) => (letter.isWellFormed() ? encodeURIComponent(letter) : '%EF%BF%BD'))
}

function decodeText(text: string, budget: Budget): string {
  budget.allocate(2 * text.length)
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Fault('text is not URI-encoded')
  }
}

export const parseFunctions: Functions = new Map([
  ['parseInt', libraryFunction(1, 2, parseInteger, 'int')],
  ['parseLong', libraryFunction(1, 2, parseLongInteger)],
  ['parseFloat', libraryFunction(1, 2, (values) => parseDecimal(values, Math.fround))],
  ['parseDouble', libraryFunction(1, 1, (values) => parseDecimal(values, (value) => value))],
  ['isBinary', looksLike(/^[01]+$/, 2)],
  ['isOctal', looksLike(/^[0-7]+$/, 8)],
  ['isDecimal', looksLike(/^-?[0-9]+(\.[0-9]+)?$/, 10)],
  ['isHexadecimal', looksLike(/^-?(0[xX])?[0-9a-fA-F]+$/, 16)],
  ['toFixed', libraryFunction(2, 2, toFixed)],
  ['toInt', libraryFunction(1, 1, (values) => intOf(roundHalfUp(doubleArgument(values, 0), 0)), 'int')],
  ['padStart', libraryFunction(3, 3, (values, budget) => pad(values, budget, true), 'string')],
  ['padEnd', libraryFunction(3, 3, (values, budget) => pad(values, budget, false), 'string')],
  ['encodeURI', libraryFunction(1, 1, (values, budget) => encodeText(textArgument(values, 0), budget), 'string')],
  ['decodeURI', libraryFunction(1, 1, (values, budget) => decodeText(textArgument(values, 0), budget), 'string')],
])

/** `Integer.parseInt` and its like read plain digits only. */
function strictWhole(values: readonly Value[], bits: number): bigint {
  const value = argument(values, 0)
  if (rankOf(value) !== 0 && rankOf(value) !== DOUBLE)
    return inRange(BigInt(value as number | bigint), bits, textOf(value))
  const text = textArgument(values, 0)
  const radix = intArgument(values, 1, 10)
  if (typeof value !== 'string' || text.length > MAX_DIGITS || /^[+-]?0[xX]/.test(text))
    throw new Fault(`${typeName(value)} '${text.slice(0, 100)}' is no integer`)
  return inRange(wholeNumber(text, radix), bits, text)
}

function toRadix(values: readonly Value[], radix: number): string {
  return BigInt.asUintN(32, strictWhole(values, 32)).toString(radix)
}

const asText = libraryFunction(1, 1, (values, budget) => counted(textOf(argument(values, 0)), budget), 'string')

function counted(text: string, budget: Budget): string {
  budget.allocate(2 * text.length)
  return text
}

const strictDouble = libraryFunction(1, 1, (values) => {
  const value = argument(values, 0)
  return double(rankOf(value) === 0 ? decimalNumber(textArgument(values, 0)) : numberOf(value))
})

function comparing(compare: (values: readonly Value[]) => number): LibraryFunction {
  return libraryFunction(2, 2, (values) => compare(values), 'platformInt')
}

/** The platform's number classes, as far as scripts use them. */
export const wrapperFunctions: readonly (readonly [string, Functions])[] = [
  [
    'Integer',
    new Map([
      ['parseInt', libraryFunction(1, 2, (values) => Number(strictWhole(values, 32)), 'platformInt')],
      ['valueOf', libraryFunction(1, 2, (values) => Number(strictWhole(values, 32)), 'int')],
      ['toString', asText],
      ['toHexString', libraryFunction(1, 1, (values) => toRadix(values, 16), 'string')],
      ['toBinaryString', libraryFunction(1, 1, (values) => toRadix(values, 2), 'string')],
      ['compare', comparing((values) => Math.sign(intArgument(values, 0) - intArgument(values, 1)))],
    ]),
  ],
  [
    'Long',
    new Map([
      ['parseLong', libraryFunction(1, 2, (values) => long(strictWhole(values, 64)))],
      ['valueOf', libraryFunction(1, 2, (values) => long(strictWhole(values, 64)))],
      ['toString', asText],
    ]),
  ],
  [
    'Double',
    new Map([
      ['parseDouble', strictDouble],
      ['valueOf', strictDouble],
      ['toString', asText],
      ['isNaN', libraryFunction(1, 1, (values) => Number.isNaN(doubleArgument(values, 0)))],
      ['compare', comparing((values) => Math.sign(doubleArgument(values, 0) - doubleArgument(values, 1)))],
    ]),
  ],
  [
    'Boolean',
    new Map([
      ['parseBoolean', libraryFunction(1, 1, (values) => textOf(argument(values, 0)).toLowerCase() === 'true')],
      ['toString', asText],
    ]),
  ],
  ['String', new Map([['valueOf', asText]])],
]
