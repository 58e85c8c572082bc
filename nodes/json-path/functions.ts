/** Functions at the end of a JSON path. Sums and the like are doubles, as the reference makes them. */
import { LongDecimal, WholeDouble, isJsonObject } from '../../model/json.ts'
import type { JsonValue } from '../../model/json.ts'
import { JsonPathErrors } from './errors.ts'
import type { FunctionCall, Operand } from './syntax.ts'

/** The value of an argument; undefined where its path leads nowhere. */
export type Reader = (operand: Operand) => JsonValue | undefined

export function applyFunction({ name, arguments: given }: FunctionCall, own: JsonValue, read: Reader): JsonValue {
  switch (name) {
    case 'length':
    case 'size':
      return lengthOf(given[0] === undefined ? own : (read(given[0]) ?? null))
    case 'append':
      return Array.isArray(own) ? [...own, ...given.map((operand) => read(operand) ?? null)] : own
    case 'keys':
      return isJsonObject(own) ? Object.keys(own) : null
    case 'first':
      return elementAt(own, 0)
    case 'last':
      return elementAt(own, -1)
    case 'index':
      return elementAt(own, Number(given[0] === undefined ? 0 : read(given[0])))
    case 'concat':
      return [...(Array.isArray(own) ? own : []), ...given.flatMap((operand) => listed(read(operand)))]
        .filter((each) => typeof each === 'string')
        .join('')
    default:
      return double(
        aggregate(name, [
          ...(Array.isArray(own) ? numbersIn(own) : []),
          ...given.flatMap((operand) => numbersIn(read(operand))),
        ]),
      )
  }
}

function aggregate(name: 'avg' | 'max' | 'min' | 'stddev' | 'sum', numbers: readonly number[]): number {
  if (numbers.length === 0) throw JsonPathErrors.NOT_FOUND({ reason: `${name}() has no numbers` })
  const sum = numbers.reduce((total, number) => total + number, 0)
  switch (name) {
    case 'sum':
      return sum
    case 'avg':
      return sum / numbers.length
    case 'max':
      return numbers.reduce((most, number) => Math.max(most, number))
    case 'min':
      return numbers.reduce((least, number) => Math.min(least, number))
    case 'stddev': {
      // By the sum of squares, as the reference: its last digits are the same.
      const { length } = numbers
      return Math.sqrt(
        numbers.reduce((total, number) => total + number * number, 0) / length - (sum * sum) / length / length,
      )
    }
  }
}

function lengthOf(value: JsonValue): JsonValue {
  return Array.isArray(value) ? value.length : isJsonObject(value) ? Object.keys(value).length : null
}

function elementAt(value: JsonValue, index: number): JsonValue {
  const found = Array.isArray(value) ? value.at(index) : undefined
  if (found === undefined) throw JsonPathErrors.NOT_FOUND({ reason: 'the list has no such element' })
  return found
}

function listed(value: JsonValue | undefined): readonly JsonValue[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}

function numbersIn(value: JsonValue | undefined): number[] {
  return listed(value).flatMap((each) => {
    if (each instanceof WholeDouble || each instanceof LongDecimal) return [each.value]
    return typeof each === 'number' || typeof each === 'bigint' ? [Number(each)] : []
  })
}

function double(value: number): JsonValue {
  // JSON has no such numbers: squares of equal ones may add up to less than nothing.
  if (!Number.isFinite(value)) return String(value)
  return Number.isInteger(value) ? new WholeDouble(value) : value
}
