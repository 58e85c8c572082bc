/** Texts into numbers and back. Source: `rule-engine.md` 6.5 "parse text", "numbers", "text/bytes" and the quirks below them. */
import { Fault } from '../fault.ts'
import { double, long, textOf, type Value } from '../values.ts'
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
import { doubleOfBits, single, singleOfBits } from './floating.ts'
import { unsignedHex } from './hex.ts'
import { isDecimalText, isHexText, plainWhole, preparedNumber, radixOf, wholeOfText } from './whole-text.ts'

export const MAX_DIGITS = 100

/** The text of what is to be parsed; undefined for null. */
function given(values: readonly Value[]): string | undefined {
  const value = argument(values, 0)
  return value === null ? undefined : textOf(value)
}

function parseInteger(values: readonly Value[]): Value {
  const whole = wholeOfText(given(values) ?? '', intArgument(values, 1, 0), 32)
  return whole === undefined ? null : Number(whole)
}

/** A long is never an int, also where it is small. */
function parseLongInteger(values: readonly Value[]): Value {
  const whole = wholeOfText(given(values) ?? '', intArgument(values, 1, 0), 64)
  return whole === undefined ? null : long(whole)
}

/** Hex text is the number's bits. */
function parseSingle(values: readonly Value[]): Value {
  const text = given(values) ?? ''
  const prepared = preparedNumber(text, true)
  if (prepared === undefined) return null
  const radix = radixOf(prepared, intArgument(values, 1, 0), text)
  return double(radix === 16 ? singleOfBits(plainWhole(prepared, 16, 64)) : single(decimalNumber(text)))
}

/** Hex text is the number's bits. Throws where the text is blank, unlike its kin. */
function parseDoubleNumber(values: readonly Value[]): Value {
  const text = given(values) ?? ''
  const prepared = preparedNumber(text, true)
  if (prepared === undefined || (!isDecimalText(text) && !isHexText(text))) throw new Fault(`'${text}' is no number`)
  const radix = radixOf(prepared, isDecimalText(text) ? 10 : 16, text)
  return double(radix === 10 ? decimalNumber(prepared) : doubleOfBits(unsignedHex(prepared)))
}

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[dDfF]?$/

export function decimalNumber(text: string): number {
  const plain = text.trim()
  if (plain === 'NaN') return NaN
  if (/^[+-]?Infinity$/.test(plain)) return plain.startsWith('-') ? -Infinity : Infinity
  if (plain.length > MAX_DIGITS || !DECIMAL.test(plain)) throw new Fault(`'${plain.slice(0, MAX_DIGITS)}' is no number`)
  return Number(plain.replace(/[dDfF]$/, ''))
}

interface Decimal {
  /** Without its sign. */
  readonly unscaled: bigint
  /** The value is `unscaled` by so many tens smaller. */
  readonly scale: number
}

/** The shortest digits that mean the number: as it is written. */
function decimalOf(value: number): Decimal {
  if (!Number.isFinite(value)) throw new Fault('a finite number is needed')
  const [mantissa = '', exponent = '0'] = Math.abs(value).toExponential().split('e')
  const digits = mantissa.replace('.', '')
  return { unscaled: BigInt(digits), scale: digits.length - 1 - Number(exponent) }
}

/** Digits that no double has: what is left of it is 0. */
const ALL_DIGITS = 400

/** In units of the last of these digits behind the point; negative ones are before it. */
function roundedAt({ unscaled, scale }: Decimal, digits: number): bigint {
  const divisor = 10n ** BigInt(Math.min(ALL_DIGITS, scale - digits))
  return (unscaled * 2n + divisor) / (2n * divisor)
}

/** Rounds half up at a number of digits, on the decimal digits as written: `toFixed(1.005, 2)` is 1.01, `toFixed(1250, -2)` 1300. */
export function roundHalfUp(value: number, digits: number): number {
  const decimal = decimalOf(value)
  // A decimal has no negative zero.
  if (decimal.scale <= digits) return value + 0
  return Math.sign(value) * Number(`${roundedAt(decimal, digits)}e${-digits}`) + 0
}

/** The low 32 bits of the rounded number, as the platform narrows it. */
function toInt(values: readonly Value[]): Value {
  const value = doubleArgument(values, 0)
  const decimal = decimalOf(value)
  const { unscaled, scale } = decimal
  const whole = scale > 0 ? roundedAt(decimal, 0) : unscaled * 10n ** BigInt(-scale)
  return Number(BigInt.asIntN(32, value < 0 ? -whole : whole))
}

/** A double also of a whole number. */
function toFixed(values: readonly Value[]): Value {
  return double(roundHalfUp(doubleArgument(values, 0), intArgument(values, 1)))
}

function looksLike(test: (text: string) => boolean, radix: number): LibraryFunction {
  const run = (values: readonly Value[]): number => (test((given(values) ?? '').slice(0, 10_000)) ? radix : -1)
  return libraryFunction(1, 1, run, 'int')
}

function pad(values: readonly Value[], budget: Budget, atStart: boolean): string {
  const text = textArgument(values, 0)
  const length = intArgument(values, 1)
  const filler = textArgument(values, 2)
  if (filler.length !== 1) throw new Fault('the filler must be one character')
  budget.allocate(2 * Math.max(length, text.length))
  return atStart ? text.padStart(length, filler) : text.padEnd(length, filler)
}

const uriKept = /[^A-Za-z0-9\-_.!~*'();/?:@&=+$,#]/gu

function encodeText(text: string, budget: Budget): string {
  budget.allocate(6 * text.length)
  return text.replace(uriKept, (letter) => (letter.isWellFormed() ? encodeURIComponent(letter) : '%EF%BF%BD'))
}

/** Bytes that are no text become the replacement character. */
function decodeText(text: string, budget: Budget): string {
  budget.allocate(2 * text.length)
  if (/%(?![0-9a-fA-F]{2})/.test(text)) throw new Fault('text is not URI-encoded')
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'),
  )
}

export const parseFunctions: Functions = new Map([
  ['parseInt', libraryFunction(1, 2, parseInteger, 'int')],
  ['parseLong', libraryFunction(1, 2, parseLongInteger)],
  ['parseFloat', libraryFunction(1, 2, parseSingle)],
  ['parseDouble', libraryFunction(1, 1, parseDoubleNumber)],
  ['isBinary', looksLike((text) => /^[01]+$/.test(text), 2)],
  ['isOctal', looksLike((text) => /^[0-7]+$/.test(text), 8)],
  ['isDecimal', looksLike(isDecimalText, 10)],
  ['isHexadecimal', looksLike(isHexText, 16)],
  ['toFixed', libraryFunction(2, 2, toFixed)],
  ['toInt', libraryFunction(1, 1, toInt, 'int')],
  ['padStart', libraryFunction(3, 3, (values, budget) => pad(values, budget, true), 'string')],
  ['padEnd', libraryFunction(3, 3, (values, budget) => pad(values, budget, false), 'string')],
  ['encodeURI', libraryFunction(1, 1, (values, budget) => encodeText(textArgument(values, 0), budget), 'string')],
  ['decodeURI', libraryFunction(1, 1, (values, budget) => decodeText(textArgument(values, 0), budget), 'string')],
])
