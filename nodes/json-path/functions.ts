/** Functions at the end of a JSON path. Sums and the like are doubles, as the reference makes them. */
import { LongDecimal, WholeDouble, isJsonObject } from '../../model/json.ts'
import type { JsonValue } from '../../model/json.ts'
import { JsonPathErrors } from './errors.ts'
import type { FunctionCall, Operand } from './syntax.ts'

export function applyFunction(
  { name, arguments: given }: FunctionCall,
  value: JsonValue,
  read: (operand: Operand) => JsonValue | undefined,
): JsonValue {
  switch (name) {
    case 'length':
    case 'size':
      return Array.isArray(value) ? value.length : isJsonObject(value) ? Object.keys(value).length : null
    case 'keys':
      return isJsonObject(value) ? Object.keys(value) : null
    case 'first':
      return elementAt(value, 0)
    case 'last':
      return elementAt(value, -1)
    case 'index':
      return elementAt(value, Number(given[0] === undefined ? 0 : read(given[0])))
    case 'concat':
      return [...(Array.isArray(value) ? value : []), ...given.flatMap((operand) => listed(read(operand)))]
        .filter((each) => typeof each === 'string')
        .join('')
    default:
      return double(aggregate(name, [...numbersIn(value), ...given.flatMap((operand) => numbersIn(read(operand)))]))
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
      const mean = sum / numbers.length
      return Math.sqrt(numbers.reduce((total, number) => total + (number - mean) ** 2, 0) / numbers.length)
    }
  }
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
  return Number.isInteger(value) ? new WholeDouble(value) : value
}
