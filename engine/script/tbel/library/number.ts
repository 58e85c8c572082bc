/** Methods of numbers and booleans. */
import { signOf, strictlyEqual } from '../comparison.ts'
import { double, intOf, isNumber, longOf, numberOf, textOf, type NumberValue, type Value } from '../values.ts'
import { Fault } from '../fault.ts'
import { argument, method, type Methods } from './signature.ts'

function compareTo(value: NumberValue, other: Value): number {
  if (!isNumber(other)) throw new Fault('argument must be a number')
  return signOf(numberOf(value), numberOf(other))
}

export const numberMethods: Methods<NumberValue> = new Map([
  [
    'intValue',
    method<NumberValue>(0, 0, (value) =>
      typeof value === 'bigint' ? Number(BigInt.asIntN(32, value)) : intOf(numberOf(value)),
    ),
  ],
  ['longValue', method<NumberValue>(0, 0, (value) => (typeof value === 'bigint' ? value : longOf(numberOf(value))))],
  ['doubleValue', method<NumberValue>(0, 0, (value) => double(numberOf(value)))],
  ['compareTo', method<NumberValue>(1, 1, (value, values) => compareTo(value, argument(values, 0)))],
  ['equals', method<NumberValue>(1, 1, (value, values) => strictlyEqual(value, argument(values, 0)))],
  ['isNaN', method<NumberValue>(0, 0, (value) => Number.isNaN(numberOf(value)))],
  ['isInfinite', method<NumberValue>(0, 0, (value) => Math.abs(numberOf(value)) === Infinity)],
  ['toString', method<NumberValue>(0, 0, (value) => textOf(value), 'string')],
])

export const booleanMethods: Methods<boolean> = new Map([
  ['booleanValue', method<boolean>(0, 0, (value) => value)],
  ['equals', method<boolean>(1, 1, (value, values) => value === argument(values, 0))],
  ['toString', method<boolean>(0, 0, (value) => String(value), 'string')],
])
