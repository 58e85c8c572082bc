/**
 * Arithmetic and bit operations with the reference's types (`rule-engine.md` 6.4 "division", "integers", "null
 * operands", "strings"). Two ints widen to long on overflow; a mixed pair is computed in doubles and cast to the wider
 * type; an operand that is no number makes the result null, or joins texts where it is `+`.
 */
import { Fault } from './fault.ts'
import { WholeDouble } from '../../../model/json.ts'
import {
  DOUBLE,
  INT,
  LONG,
  double,
  intOf,
  isInt,
  long,
  longOf,
  numberOf,
  payForText,
  rankOf,
  textOf,
  type Rank,
  type Value,
} from './values.ts'

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%' | '**'
export type BitOperator = '&' | '|' | '^' | '<<' | '>>' | '>>>'

export const arithmetic: Readonly<Record<ArithmeticOperator, (left: Value, right: Value) => Value>> = {
  '+': add,
  '-': (left, right) => calculate('-', left, right),
  '*': (left, right) => calculate('*', left, right),
  '/': (left, right) => calculate('/', left, right),
  '%': (left, right) => calculate('%', left, right),
  '**': (left, right) => calculate('**', left, right),
}

export function add(left: Value, right: Value): Value {
  const leftRank = rankOf(left)
  const rightRank = rankOf(right)
  if (leftRank !== 0 && rightRank !== 0) return numeric('+', left, leftRank, right, rightRank)
  if (Array.isArray(left)) return Array.isArray(right) ? [...left, ...right] : [...left, right]
  return textOf(left) + textOf(right)
}

function calculate(operator: ArithmeticOperator, left: Value, right: Value): Value {
  const leftRank = rankOf(left)
  const rightRank = rankOf(right)
  if (leftRank !== 0 && rightRank !== 0) return numeric(operator, left, leftRank, right, rightRank)
  const leftNumber = leftRank === 0 ? numericText(left) : numberOf(left)
  const rightNumber = rightRank === 0 ? numericText(right) : numberOf(right)
  if (leftNumber === undefined || rightNumber === undefined) {
    if (operator === '**') throw new Fault('** needs numbers')
    if (isBooleanBesideStructure(left, right) || isBooleanBesideStructure(right, left))
      throw new Fault(`'${operator}' needs numbers`)
    return null
  }
  // A text takes the type of the number beside it (so it is cut to int beside an int); two texts make a double.
  return cast(onDoubles(operator, leftNumber, rightNumber), leftRank > rightRank ? leftRank : rightRank)
}

function isBooleanBesideStructure(left: Value, right: Value): boolean {
  return typeof left === 'boolean' && typeof right === 'object' && right !== null && rankOf(right) === 0
}

const PLAIN_NUMBER = /^-?\d*(?:\.\d*)?$/

/** The number a text means to the operators, undefined where it is none. */
export function numericText(value: Value): number | undefined {
  if (typeof value === 'string') payForText(value)
  if (typeof value !== 'string' || value === '' || value === '-' || !PLAIN_NUMBER.test(value)) return undefined
  const number = Number(value)
  if (Number.isNaN(number)) throw new Fault(`not a number: '${value}'`)
  return number
}

function numeric(operator: ArithmeticOperator, left: Value, leftRank: Rank, right: Value, rightRank: Rank): Value {
  if (leftRank !== rightRank) {
    return cast(onDoubles(operator, numberOf(left), numberOf(right)), leftRank > rightRank ? leftRank : rightRank)
  }
  if (leftRank === INT) return onInts(operator, left as number, right as number)
  if (leftRank === LONG) return onLongs(operator, left as number | bigint, right as number | bigint)
  return double(onDoubles(operator, numberOf(left), numberOf(right)))
}

function cast(result: number, rank: Rank): Value {
  return rank === INT ? intOf(result) : rank === LONG ? longOf(result) : double(result)
}

function onDoubles(operator: ArithmeticOperator, left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return left / right
    case '%':
      return left % right
    case '**':
      return left ** right
  }
}

function onInts(operator: ArithmeticOperator, left: number, right: number): Value {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*': {
      const product = left * right
      if (Number.isSafeInteger(product)) return product + 0
      return long(BigInt(left) * BigInt(right))
    }
    case '/':
      return double(left / right)
    case '%':
      if (right === 0) throw new Fault('division by zero')
      return (left % right) + 0
    case '**': {
      const power = left ** right
      return power > 2147483647 ? double(power) : intOf(power)
    }
  }
}

function onLongs(operator: ArithmeticOperator, left: number | bigint, right: number | bigint): Value {
  if (operator === '/') return double(Number(left) / Number(right))
  if (operator === '**') {
    const power = Number(left) ** Number(right)
    return power > 9223372036854775807 ? double(power) : longOf(power)
  }
  const a = BigInt(left)
  const b = BigInt(right)
  if (operator === '%') {
    if (b === 0n) throw new Fault('division by zero')
    return long(a % b)
  }
  return long(BigInt.asIntN(64, operator === '+' ? a + b : operator === '-' ? a - b : a * b))
}

/** Division of operands known to be ints when the script was compiled: the quotient is cut. */
export function divideInts(left: Value, right: Value): Value {
  if (!isInt(left) || !isInt(right)) return arithmetic['/'](left, right)
  if (right === 0) throw new Fault('division by zero')
  const quotient = left / right
  return quotient === 2147483648 ? -2147483648 : intOf(quotient)
}

/** An operation with an int of the platform: computed in doubles and cut, so it saturates and divides by zero. */
export function cutOperation(operator: ArithmeticOperator): (left: Value, right: Value) => Value {
  const ordinary = arithmetic[operator]
  return (left, right) =>
    isInt(left) && isInt(right) ? intOf(onDoubles(operator, left, right)) : ordinary(left, right)
}

/** Null stays null. */
export function negate(value: Value): Value {
  if (value === null) return null
  if (isInt(value)) return value === -2147483648 ? value : 0 - value
  if (value instanceof WholeDouble) return new WholeDouble(-value.value)
  const rank = rankOf(value)
  if (rank === LONG) return long(BigInt.asIntN(64, -BigInt(value as number | bigint)))
  if (rank === DOUBLE) return double(-numberOf(value))
  throw new Fault(`'-' can not be applied to ${textOf(value)}`)
}

export function bits(operator: BitOperator, left: Value, right: Value): Value {
  const a = wholeOf(operator, left)
  const b = wholeOf(operator, right)
  if (typeof a === 'number' && typeof b === 'number') return intBits(operator, a, b)
  // A shift keeps the left operand's type; the others widen to long.
  if (typeof a === 'number' && operator.length > 1) return intBits(operator, a, Number(BigInt(b) & 31n))
  return longBits(operator, BigInt(a), BigInt(b))
}

export function complement(value: Value): Value {
  const whole = wholeOf('~', value)
  return typeof whole === 'number' ? ~whole : long(~whole)
}

/** An int as number, a long as bigint; booleans count as 1 and 0. */
function wholeOf(operator: string, value: Value): number | bigint {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (isInt(value)) return value
  if (rankOf(value) === LONG) return BigInt.asIntN(64, BigInt(value as number | bigint))
  throw new Fault(`'${operator}' needs integers`)
}

function intBits(operator: BitOperator, left: number, right: number): number {
  switch (operator) {
    case '&':
      return left & right
    case '|':
      return left | right
    case '^':
      return left ^ right
    case '<<':
      return left << right
    case '>>':
      return left >> right
    case '>>>':
      return (left >>> right) | 0
  }
}

function longBits(operator: BitOperator, left: bigint, right: bigint): Value {
  switch (operator) {
    case '&':
      return long(left & right)
    case '|':
      return long(left | right)
    case '^':
      return long(left ^ right)
    case '<<':
      return long(BigInt.asIntN(64, left << (right & 63n)))
    case '>>':
      return long(left >> (right & 63n))
    case '>>>':
      return long(BigInt.asIntN(64, BigInt.asUintN(64, left) >> (right & 63n)))
  }
}
