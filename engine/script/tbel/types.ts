/** Casts and `instanceof`. Source: `rule-engine.md` 6.4. */
import { Fault } from './fault.ts'
import { booleanOf } from './comparison.ts'
import { numericText } from './arithmetic.ts'
import {
  DOUBLE,
  INT,
  LONG,
  ValueSet,
  double,
  intOf,
  isMap,
  longOf,
  numberOf,
  rankOf,
  textOf,
  typeName,
  type Value,
} from './values.ts'
import type { Budget } from './budget.ts'

/** `(int) value`; null stays null. Throws where the value has no reading as that type. */
export function castValue(value: Value, type: string, budget: Budget): Value {
  if (value === null) return null
  switch (type) {
    case 'int':
    case 'Integer':
      return toInt(value)
    case 'short':
    case 'Short':
      return Number(BigInt.asIntN(16, BigInt(toInt(value))))
    case 'byte':
    case 'Byte':
      return Number(BigInt.asIntN(8, BigInt(toInt(value))))
    case 'char':
    case 'Character':
      return toCharacter(value)
    case 'long':
    case 'Long':
      return toLong(value)
    case 'double':
    case 'Double':
    case 'float':
    case 'Float':
      return double(toNumber(value))
    case 'boolean':
    case 'Boolean':
      return booleanOf(value)
    default: {
      const text = textOf(value)
      budget.allocate(2 * text.length)
      return text
    }
  }
}

function toNumber(value: Value): number {
  if (rankOf(value) !== 0) return numberOf(value)
  if (typeof value === 'boolean') return value ? 1 : 0
  const number = numericText(value)
  if (number === undefined)
    throw new Fault(`${typeName(value)} '${textOf(value).slice(0, 100)}' can not be cast to a number`)
  return number
}

function toInt(value: Value): number {
  const number = toNumber(value)
  if (rankOf(value) === LONG && (number > 2147483647 || number < -2147483648))
    throw new Fault(`${textOf(value)} is beyond the range of int`)
  return intOf(number)
}

/** A text of length one. */
function toCharacter(value: Value): string {
  if (typeof value === 'string' && value.length === 1) return value
  if (rankOf(value) === 0) throw new Fault(`${typeName(value)} can not be cast to a character`)
  return String.fromCharCode(toInt(value))
}

function toLong(value: Value): Value {
  if (rankOf(value) === LONG) return value
  const whole = longOf(toNumber(value))
  return whole
}

const TYPES: ReadonlyMap<string, (value: Value) => boolean> = new Map([
  ['Object', (value: Value) => value !== null],
  ['String', (value: Value) => typeof value === 'string'],
  ['Boolean', (value: Value) => typeof value === 'boolean'],
  ['Integer', (value: Value) => rankOf(value) === INT],
  ['Long', (value: Value) => rankOf(value) === LONG],
  ['Double', (value: Value) => rankOf(value) === DOUBLE],
  ['Number', (value: Value) => rankOf(value) !== 0],
  ['java.util.Map', isMap],
  ['java.util.HashMap', isMap],
  ['java.util.LinkedHashMap', isMap],
  ['java.util.List', Array.isArray],
  ['java.util.ArrayList', Array.isArray],
  ['java.util.Collection', (value: Value) => Array.isArray(value) || value instanceof ValueSet],
  ['java.util.Set', (value: Value) => value instanceof ValueSet],
])

export function isKnownType(type: string): boolean {
  return TYPES.has(type)
}

export function isInstance(value: Value, type: string): boolean {
  return TYPES.get(type)?.(value) ?? false
}
