/** `Math`, with the overloads the reference picks: the first that fits is int (`rule-engine.md` 6.4 "Math.max/min"). */
import { Fault } from '../fault.ts'
import { DOUBLE, INT, LONG, double, intOf, long, longOf, numberOf, rankOf, type Value } from '../values.ts'
import type { Budget } from '../budget.ts'
import {
  argument,
  doubleArgument,
  intArgument,
  libraryFunction,
  type Functions,
  type LibraryFunction,
} from './signature.ts'

function overDouble(calculate: (value: number) => number): LibraryFunction {
  return libraryFunction(1, 1, (values) => double(calculate(doubleArgument(values, 0))))
}

function overDoubles(calculate: (left: number, right: number) => number): LibraryFunction {
  return libraryFunction(2, 2, (values) => double(calculate(doubleArgument(values, 0), doubleArgument(values, 1))))
}

function absolute(values: readonly Value[]): Value {
  const value = argument(values, 0)
  const rank = rankOf(value)
  if (rank === DOUBLE) return double(Math.abs(numberOf(value)))
  if (rank === LONG)
    return long(
      BigInt.asIntN(
        64,
        BigInt(value as number | bigint) < 0n ? -BigInt(value as number | bigint) : BigInt(value as number | bigint),
      ),
    )
  return Math.abs(intArgument(values, 0)) | 0
}

/** Two ints are compared as ints, and so is an int beside a double (which is cut); longs as longs; two doubles as doubles. */
function extreme(wantsLarger: boolean): LibraryFunction {
  const pick = wantsLarger ? Math.max : Math.min
  return libraryFunction(
    2,
    2,
    (values) => {
      const ranks = [rankOf(argument(values, 0)), rankOf(argument(values, 1))]
      if (ranks[0] === DOUBLE && ranks[1] === DOUBLE)
        return double(pick(doubleArgument(values, 0), doubleArgument(values, 1)))
      if (ranks.includes(LONG)) return extremeLong(wantsLarger, wholeOf(values, 0), wholeOf(values, 1))
      return pick(intArgument(values, 0), intArgument(values, 1))
    },
    'platformInt',
  )
}

function wholeOf(values: readonly Value[], index: number): bigint {
  const value = argument(values, index)
  return BigInt(
    rankOf(value) === DOUBLE
      ? longOf(numberOf(value))
      : rankOf(value) === LONG
        ? (value as number | bigint)
        : intArgument(values, index),
  )
}

function extremeLong(wantsLarger: boolean, left: bigint, right: bigint): Value {
  return long(left > right === wantsLarger ? left : right)
}

function integers(onInts: (left: bigint, right: bigint) => bigint): LibraryFunction {
  return libraryFunction(2, 2, (values) => {
    const left = wholeOf(values, 0)
    const right = wholeOf(values, 1)
    if (right === 0n) throw new Fault('division by zero')
    const result = onInts(left, right)
    const areInts = rankOf(argument(values, 0)) === INT && rankOf(argument(values, 1)) === INT
    return areInts ? Number(BigInt.asIntN(32, result)) : long(BigInt.asIntN(64, result))
  })
}

function floorMod(left: bigint, right: bigint): bigint {
  return ((left % right) + right) % right
}

/** A long takes the overload for single precision, which gives an int. */
function round(values: readonly Value[]): Value {
  const value = doubleArgument(values, 0)
  if (rankOf(argument(values, 0)) === LONG) return intOf(Math.floor(Math.fround(value) + 0.5))
  return longOf(Math.floor(value + 0.5))
}

/** To the even neighbour at exactly one half. */
function roundEven(value: number): number {
  const floor = Math.floor(value)
  if (value - floor !== 0.5) return Math.round(value)
  return floor % 2 === 0 ? floor : floor + 1
}

/** The platform multiplies by these doubles: the last digit differs from that of a division. */
const RADIANS_OF_A_DEGREE = 0.017453292519943295
const DEGREES_OF_A_RADIAN = 57.29577951308232

export const mathConstants: ReadonlyMap<string, Value> = new Map([
  ['PI', Math.PI],
  ['E', Math.E],
])

/** The functions of `Math`; chance comes from the engine. */
export function mathFunctions(random: (budget: Budget) => number): Functions {
  return new Map([
    ['abs', libraryFunction(1, 1, absolute, 'platformInt')],
    ['max', extreme(true)],
    ['min', extreme(false)],
    ['round', libraryFunction(1, 1, round)],
    ['rint', overDouble(roundEven)],
    ['ceil', overDouble(Math.ceil)],
    ['floor', overDouble(Math.floor)],
    ['sqrt', overDouble(Math.sqrt)],
    ['cbrt', overDouble(Math.cbrt)],
    ['exp', overDouble(Math.exp)],
    ['log', overDouble(Math.log)],
    ['log10', overDouble(Math.log10)],
    ['log1p', overDouble(Math.log1p)],
    ['expm1', overDouble(Math.expm1)],
    ['sin', overDouble(Math.sin)],
    ['cos', overDouble(Math.cos)],
    ['tan', overDouble(Math.tan)],
    ['asin', overDouble(Math.asin)],
    ['acos', overDouble(Math.acos)],
    ['atan', overDouble(Math.atan)],
    ['sinh', overDouble(Math.sinh)],
    ['cosh', overDouble(Math.cosh)],
    ['tanh', overDouble(Math.tanh)],
    ['signum', overDouble(Math.sign)],
    ['toRadians', overDouble((degrees) => degrees * RADIANS_OF_A_DEGREE)],
    ['toDegrees', overDouble((radians) => radians * DEGREES_OF_A_RADIAN)],
    ['pow', overDoubles((base, exponent) => base ** exponent)],
    ['atan2', overDoubles(Math.atan2)],
    ['hypot', overDoubles(Math.hypot)],
    ['floorMod', integers(floorMod)],
    ['floorDiv', integers((left, right) => (left - floorMod(left, right)) / right)],
    ['random', libraryFunction(0, 0, (_values, budget) => double(random(budget)))],
    ['toIntExact', libraryFunction(1, 1, (values) => intOf(intArgument(values, 0)), 'platformInt')],
  ])
}
