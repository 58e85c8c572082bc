/** Texts into numbers and back. Source: `rule-engine.md` 6.5 "parse text", "numbers", "text/bytes" and the quirks below them. */
import { Fault } from '../fault.ts'
import {
  DOUBLE,
  INT,
  ValueSet,
  double,
  intOf,
  long,
  longOf,
  numberOf,
  rankOf,
  textOf,
  typeName,
  type Value,
} from '../values.ts'
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
import { formatText } from './format.ts'
import { unsignedHex } from './hex.ts'
import { membersOf } from './set.ts'
import { isDecimalText, isHexText, plainWhole, preparedNumber, radixOf, wholeOfText } from './whole-text.ts'

const MAX_DIGITS = 100

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
  ['toInt', libraryFunction(1, 1, (values) => intOf(roundHalfUp(doubleArgument(values, 0), 0)), 'int')],
  ['padStart', libraryFunction(3, 3, (values, budget) => pad(values, budget, true), 'string')],
  ['padEnd', libraryFunction(3, 3, (values, budget) => pad(values, budget, false), 'string')],
  ['encodeURI', libraryFunction(1, 1, (values, budget) => encodeText(textArgument(values, 0), budget), 'string')],
  ['decodeURI', libraryFunction(1, 1, (values, budget) => decodeText(textArgument(values, 0), budget), 'string')],
])

/** `Integer.parseInt` and its like read plain digits only. */
function strictWhole(values: readonly Value[], bits: 32 | 64): bigint {
  const value = argument(values, 0)
  if (rankOf(value) !== 0 && rankOf(value) !== DOUBLE) return plainWhole(textOf(value), 10, bits)
  const text = textArgument(values, 0)
  const radix = intArgument(values, 1, 10)
  if (typeof value !== 'string' || text.length > MAX_DIGITS || /^[+-]?0[xX]/.test(text))
    throw new Fault(`${typeName(value)} '${text.slice(0, 100)}' is no integer`)
  return plainWhole(text, radix, bits)
}

/** Of functions that take a number: a double is cut. */
function cutWhole(values: readonly Value[], bits: 32 | 64): bigint {
  const value = argument(values, 0)
  if (rankOf(value) !== DOUBLE) return strictWhole(values.slice(0, 1), bits)
  const whole = BigInt(longOf(numberOf(value)))
  if (BigInt.asIntN(bits, whole) !== whole) throw new Fault(`${textOf(value)} is beyond the range of int`)
  return whole
}

/** Of an int or a long, negative ones in two's complement. */
function inRadix(radix: number, bits: 32 | 64): LibraryFunction {
  return libraryFunction(1, 1, (values) => BigInt.asUintN(bits, cutWhole(values, bits)).toString(radix), 'string')
}

/** `valueOf`: digits may have a radix. */
function wholeValue(values: readonly Value[], bits: 32 | 64): bigint {
  return rankOf(argument(values, 0)) === DOUBLE ? cutWhole(values, bits) : strictWhole(values, bits)
}

/** `toString`, with a radix: one that there is not is 10. */
function wholeText(bits: 32 | 64): LibraryFunction {
  const run: LibraryFunction['run'] = (values, budget) => {
    if (values.length === 1) return asText.run(values, budget)
    const radix = intArgument(values, 1)
    return cutWhole(values, bits).toString(radix >= 2 && radix <= 36 ? radix : 10)
  }
  return libraryFunction(1, 2, run, 'string')
}

/** `String.join(separator, texts…)`, also of a list or a set. */
function joined(values: readonly Value[], budget: Budget): Value {
  const [separator, ...rest] = values.map((_, index) => argument(values, index))
  const [list] = rest
  const isOne = rest.length === 1 && (Array.isArray(list) || list instanceof ValueSet)
  const parts = isOne ? membersOf(list) : rest
  if (typeof separator !== 'string' || parts.some((part) => part !== null && typeof part !== 'string'))
    throw new Fault('only texts can be joined')
  budget.spend(parts.length)
  const texts = parts.map((part) => textOf(part))
  // Before it is made: a list may hold one long text many times.
  budget.allocate(2 * texts.reduce((length, text) => length + text.length + separator.length, 0))
  return texts.join(separator)
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

function comparedWhole(values: readonly Value[]): number {
  const [left, right] = [values.slice(0, 1), values.slice(1)].map((value) => cutWhole(value, 64))
  return left === right ? 0 : (left ?? 0n) < (right ?? 0n) ? -1 : 1
}

/** -0.0 comes before 0.0, and NaN behind all. */
function comparedDoubles(values: readonly Value[]): number {
  const [left, right] = [doubleArgument(values, 0), doubleArgument(values, 1)]
  if (left < right) return -1
  if (left > right) return 1
  if (Object.is(left, right)) return 0
  return Number.isNaN(left) || Object.is(right, -0) ? 1 : -1
}

const readBoolean = libraryFunction(1, 1, (values) => /^true$/i.test(textOf(argument(values, 0))))
/** A number is true above zero; what is read as a text alone is not. */
const booleanValue = libraryFunction(1, 1, (values, budget) => {
  const value = argument(values, 0)
  return rankOf(value) === 0 ? readBoolean.run(values, budget) : numberOf(value) > 0
})

/** The platform's number classes, as far as scripts use them. */
export const wrapperFunctions: readonly (readonly [string, Functions])[] = [
  [
    'Integer',
    new Map([
      ['parseInt', libraryFunction(1, 2, (values) => Number(strictWhole(values, 32)), 'platformInt')],
      ['valueOf', libraryFunction(1, 2, (values) => Number(wholeValue(values, 32)), 'int')],
      ['toString', wholeText(32)],
      ['toHexString', inRadix(16, 32)],
      ['toOctalString', inRadix(8, 32)],
      ['toBinaryString', inRadix(2, 32)],
      ['compare', comparing((values) => Math.sign(intArgument(values, 0) - intArgument(values, 1)))],
    ]),
  ],
  [
    'Long',
    new Map([
      ['parseLong', libraryFunction(1, 2, (values) => long(strictWhole(values, 64)))],
      ['valueOf', libraryFunction(1, 2, (values) => long(wholeValue(values, 64)))],
      ['toString', wholeText(64)],
      ['toHexString', inRadix(16, 64)],
      ['toOctalString', inRadix(8, 64)],
      ['toBinaryString', inRadix(2, 64)],
      ['compare', comparing(comparedWhole)],
    ]),
  ],
  [
    'Double',
    new Map([
      ['parseDouble', strictDouble],
      ['valueOf', strictDouble],
      ['toString', asText],
      ['isNaN', libraryFunction(1, 1, (values) => Number.isNaN(doubleArgument(values, 0)))],
      ['isInfinite', libraryFunction(1, 1, (values) => Math.abs(doubleArgument(values, 0)) === Infinity)],
      ['compare', comparing(comparedDoubles)],
    ]),
  ],
  [
    'Boolean',
    new Map([
      ['parseBoolean', readBoolean],
      ['valueOf', booleanValue],
      ['toString', asText],
    ]),
  ],
  [
    'String',
    new Map([
      ['valueOf', asText],
      ['format', libraryFunction(1, 10, formatText, 'string')],
      ['join', libraryFunction(2, 10, joined, 'string')],
    ]),
  ],
]
