/** The platform's classes of numbers, texts and characters, as far as scripts use them. Source: `rule-engine.md` 6.4. */
import { Fault } from '../fault.ts'
import { DOUBLE, ValueSet, double, long, longOf, numberOf, rankOf, textOf, typeName, type Value } from '../values.ts'
import type { Budget } from '../budget.ts'
import { characterFunctions } from './character.ts'
import { doubleBits, doubleOfBits, hexText, single, singleBits, singleOfBits } from './floating.ts'
import { formatText } from './format.ts'
import { decimalNumber, MAX_DIGITS } from './parse.ts'
import { membersOf } from './set.ts'
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
import { plainWhole } from './whole-text.ts'

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

/** Digits of an unsigned int. */
function unsignedWhole(values: readonly Value[]): bigint {
  const whole = plainWhole(textArgument(values, 0), intArgument(values, 1, 10), 64)
  if (whole < 0n || whole > 0xffffffffn) throw new Fault(`${whole} is beyond the range of an unsigned int`)
  return whole
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

type Bits = 8 | 16 | 32 | 64

/** A value within the bits: an int, or a long of 64. */
function wholeNumber(bits: Bits, value: bigint): Value {
  const within = BigInt.asIntN(bits, value)
  return bits === 64 ? long(within) : Number(within)
}

function onWhole(bits: Bits, calculate: (value: bigint, unsigned: bigint) => bigint, hasInt = false): LibraryFunction {
  const given = bits === 64 ? 64 : 32
  return libraryFunction(
    1,
    1,
    (values) => {
      const value = cutWhole(values, given)
      const result = calculate(value, BigInt.asUintN(bits, value))
      return hasInt ? Number(result) : wholeNumber(bits, result)
    },
    hasInt || bits !== 64 ? 'platformInt' : 'unknown',
  )
}

function onTwo(bits: 32 | 64, calculate: (left: bigint, right: bigint) => bigint): LibraryFunction {
  const run = (values: readonly Value[]): Value =>
    wholeNumber(bits, calculate(cutWhole(values, bits), cutWhole(values.slice(1), bits)))
  return libraryFunction(2, 2, run, bits === 32 ? 'platformInt' : 'unknown')
}

function onUnsigned(bits: 32 | 64, calculate: (left: bigint, right: bigint) => bigint): LibraryFunction {
  return onTwo(bits, (left, right) => {
    const divisor = BigInt.asUintN(bits, right)
    if (divisor === 0n) throw new Fault('division by zero')
    return calculate(BigInt.asUintN(bits, left), divisor)
  })
}

const ones = (unsigned: bigint): bigint => BigInt(unsigned.toString(2).replaceAll('0', '').length)

function highestOne(unsigned: bigint): bigint {
  return unsigned === 0n ? 0n : 1n << BigInt(unsigned.toString(2).length - 1)
}

function mirrored(unsigned: bigint, bits: number, step: number): bigint {
  let [rest, result] = [unsigned, 0n]
  for (let place = 0; place < bits; place += step) {
    result = (result << BigInt(step)) | BigInt.asUintN(step, rest)
    rest >>= BigInt(step)
  }
  return result
}

/** What `Integer` and `Long` have alike, besides reading and writing texts. */
function bitFunctions(bits: 32 | 64): readonly (readonly [string, LibraryFunction])[] {
  const rotated = (value: bigint, distance: bigint): bigint => {
    const unsigned = BigInt.asUintN(bits, value)
    const by = BigInt.asUintN(bits === 64 ? 6 : 5, distance)
    return (unsigned << by) | (unsigned >> (BigInt(bits) - by))
  }
  const trailing = (unsigned: bigint): bigint =>
    unsigned === 0n ? BigInt(bits) : BigInt((unsigned & -unsigned).toString(2).length - 1)
  return [
    ['sum', onTwo(bits, (left, right) => left + right)],
    ['max', onTwo(bits, (left, right) => (left > right ? left : right))],
    ['min', onTwo(bits, (left, right) => (left < right ? left : right))],
    ['signum', onWhole(bits, (value) => (value === 0n ? 0n : value < 0n ? -1n : 1n), true)],
    ['bitCount', onWhole(bits, (_value, unsigned) => ones(unsigned), true)],
    ['reverse', onWhole(bits, (_value, unsigned) => mirrored(unsigned, bits, 1))],
    ['reverseBytes', onWhole(bits, (_value, unsigned) => mirrored(unsigned, bits, 8))],
    ['highestOneBit', onWhole(bits, (_value, unsigned) => highestOne(unsigned))],
    ['lowestOneBit', onWhole(bits, (_value, unsigned) => unsigned & -unsigned)],
    [
      'numberOfLeadingZeros',
      onWhole(bits, (_value, unsigned) => BigInt(bits - (unsigned === 0n ? 0 : unsigned.toString(2).length)), true),
    ],
    ['numberOfTrailingZeros', onWhole(bits, (_value, unsigned) => trailing(unsigned), true)],
    ['rotateLeft', onTwo(bits, rotated)],
    ['rotateRight', onTwo(bits, (value, distance) => rotated(value, -distance))],
    ['divideUnsigned', onUnsigned(bits, (left, right) => left / right)],
    ['remainderUnsigned', onUnsigned(bits, (left, right) => left % right)],
    [
      'compareUnsigned',
      comparing((values) => {
        const [left, right] = [values, values.slice(1)].map((one) => BigInt.asUintN(bits, cutWhole(one, bits)))
        return left === right ? 0 : (left ?? 0n) < (right ?? 0n) ? -1 : 1
      }),
    ],
    [
      'toUnsignedString',
      libraryFunction(1, 1, (values) => String(BigInt.asUintN(bits, cutWhole(values, bits))), 'string'),
    ],
    [
      'hashCode',
      onWhole(bits, (value, unsigned) => BigInt.asIntN(32, bits === 32 ? value : unsigned ^ (unsigned >> 32n)), true),
    ],
  ]
}

/** `decode`: decimal, or hex behind 0x or #, or octal behind 0. */
function decoded(bits: 32 | 64): LibraryFunction {
  return libraryFunction(1, 1, (values) => {
    const text = textArgument(values, 0)
    const [, sign = '', prefix = '', digits = ''] = /^([+-]?)(0[xX]|#|0(?=.))?([0-9a-fA-F]{1,40})$/.exec(text) ?? []
    const radix = prefix === '' ? 10 : prefix === '0' ? 8 : 16
    return wholeNumber(bits, plainWhole(`${sign}${digits}`, radix, bits))
  })
}

function readSmall(bits: 8 | 16): LibraryFunction {
  return libraryFunction(
    1,
    2,
    (values) => {
      const whole = strictWhole(values, 32)
      if (BigInt.asIntN(bits, whole) !== whole) throw new Fault(`${whole} is beyond the range of ${bits} bits`)
      return Number(whole)
    },
    'int',
  )
}

/** `Short` and `Byte`: their values are ints here. */
function smallFunctions(name: 'Byte' | 'Short', bits: 8 | 16): Functions {
  const difference = (values: readonly Value[]): number => intArgument(values, 0) - intArgument(values, 1)
  return new Map([
    [`parse${name}`, readSmall(bits)],
    ['valueOf', readSmall(bits)],
    ['toString', asText],
    ['compare', comparing(difference)],
    ['toUnsignedInt', onWhole(32, (value) => BigInt.asUintN(bits, value))],
    ['toUnsignedLong', libraryFunction(1, 1, (values) => long(BigInt.asUintN(bits, cutWhole(values, 32))))],
    ...(bits === 16 ? ([['reverseBytes', onWhole(16, (_value, unsigned) => mirrored(unsigned, 16, 8))]] as const) : []),
  ])
}

function ofNumbers(calculate: (...numbers: readonly number[]) => number | boolean, count = 1): LibraryFunction {
  return libraryFunction(count, count, (values) => {
    const numbers = Array.from({ length: count }, (_, place) => doubleArgument(values, place))
    const result = calculate(...numbers)
    return typeof result === 'number' ? double(result) : result
  })
}

/** What `Double` and `Float` have alike; `kept`: a result in their precision, `exact`: what its bits are worth. */
function floatingFunctions(
  kept: (value: number) => number,
  exact: (value: number) => number,
): readonly (readonly [string, LibraryFunction])[] {
  return [
    ['toString', asText],
    ['isNaN', ofNumbers((value) => Number.isNaN(value))],
    ['isInfinite', ofNumbers((value = 0) => Math.abs(value) === Infinity)],
    ['isFinite', ofNumbers((value) => Number.isFinite(value))],
    ['compare', comparing(comparedDoubles)],
    ['sum', ofNumbers((left = 0, right = 0) => kept(left + right), 2)],
    ['max', ofNumbers((left = 0, right = 0) => kept(Math.max(left, right)), 2)],
    ['min', ofNumbers((left = 0, right = 0) => kept(Math.min(left, right)), 2)],
    ['toHexString', libraryFunction(1, 1, (values) => hexText(exact(doubleArgument(values, 0))), 'string')],
  ]
}

const itself = (value: number): number => value

const strictSingle = libraryFunction(1, 1, (values) => {
  const value = argument(values, 0)
  return double(single(rankOf(value) === 0 ? decimalNumber(textArgument(values, 0)) : numberOf(value)))
})
const bitsOfSingle = libraryFunction(1, 1, (values) => singleBits(doubleArgument(values, 0)), 'platformInt')

const bitsOfDouble = libraryFunction(1, 1, (values) => long(doubleBits(doubleArgument(values, 0))))

function ofFlags(calculate: (left: boolean, right: boolean) => boolean): LibraryFunction {
  return libraryFunction(2, 2, (values) => calculate(booleanArgument(values, 0), booleanArgument(values, 1)))
}

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
      ['toUnsignedLong', libraryFunction(1, 1, (values) => long(BigInt.asUintN(32, cutWhole(values, 32))))],
      [
        'parseUnsignedInt',
        libraryFunction(1, 2, (values) => Number(BigInt.asIntN(32, unsignedWhole(values))), 'platformInt'),
      ],
      ['decode', decoded(32)],
      ...bitFunctions(32),
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
      ['decode', decoded(64)],
      ...bitFunctions(64),
    ]),
  ],
  [
    'Double',
    new Map([
      ['parseDouble', strictDouble],
      ['valueOf', strictDouble],
      ['doubleToLongBits', bitsOfDouble],
      ['doubleToRawLongBits', bitsOfDouble],
      ['longBitsToDouble', libraryFunction(1, 1, (values) => double(doubleOfBits(cutWhole(values, 64))))],
      ...floatingFunctions(itself, itself),
    ]),
  ],
  [
    'Float',
    new Map([
      ['parseFloat', strictSingle],
      ['valueOf', strictSingle],
      ['intBitsToFloat', libraryFunction(1, 1, (values) => double(singleOfBits(cutWhole(values, 32))))],
      ['floatToIntBits', bitsOfSingle],
      ['floatToRawIntBits', bitsOfSingle],
      ['hashCode', bitsOfSingle],
      ...floatingFunctions(single, Math.fround),
    ]),
  ],
  ['Short', smallFunctions('Short', 16)],
  ['Byte', smallFunctions('Byte', 8)],
  ['Character', characterFunctions],
  [
    'Boolean',
    new Map([
      ['parseBoolean', readBoolean],
      ['valueOf', booleanValue],
      ['toString', asText],
      ['logicalAnd', ofFlags((left, right) => left && right)],
      ['logicalOr', ofFlags((left, right) => left || right)],
      ['logicalXor', ofFlags((left, right) => left !== right)],
      ['compare', comparing((values) => Number(booleanArgument(values, 0)) - Number(booleanArgument(values, 1)))],
    ]),
  ],
  [
    'String',
    new Map([
      ['valueOf', asText],
      ['format', libraryFunction(1, 10, formatText, 'string')],
      ['join', libraryFunction(1, 10, joined, 'string')],
    ]),
  ],
]
