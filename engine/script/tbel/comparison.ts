/** Equality and order with the reference's coercions (`rule-engine.md` 6.4: `'1' == 1`, null operands, texts). */
import { Fault } from './fault.ts'
import { numericText } from './arithmetic.ts'
import { DateValue } from './library/date-value.ts'
import { mapEntries, mapGet, mapSize } from './maps.ts'
import { LONG, ValueSet, Walk, isMap, numberOf, payForText, rankOf, textOf, typeName, type Value } from './values.ts'

export type Order = '<' | '<=' | '>' | '>='

/** `==` */
export function looselyEqual(left: Value, right: Value): boolean {
  if (left === right) return true
  if (left === null || right === null) return false
  const leftRank = rankOf(left)
  const rightRank = rankOf(right)
  if (leftRank !== 0 && rightRank !== 0) return equalNumbers(left, right)
  if (typeof left === 'string' && typeof right === 'string') return false
  if (typeof left === 'boolean' || typeof right === 'boolean') return booleanOf(left) === booleanOf(right)
  const leftNumber = leftRank === 0 ? numericText(left) : numberOf(left)
  const rightNumber = rightRank === 0 ? numericText(right) : numberOf(right)
  if (leftNumber !== undefined && rightNumber !== undefined) return leftNumber === rightNumber
  return strictlyEqual(left, right)
}

function equalNumbers(left: Value, right: Value): boolean {
  if (typeof left === 'bigint' && typeof right === 'bigint') return left === right
  return numberOf(left) === numberOf(right)
}

/** A value beside a boolean, as a boolean. Throws where it has no reading as one. */
export function booleanOf(value: Value): boolean {
  if (typeof value === 'boolean') return value
  if (rankOf(value) !== 0) return numberOf(value) > 0
  if (typeof value === 'string') return !['false', 'no', 'off', '0', ''].includes(value.toLowerCase())
  throw new Fault(`${typeName(value)} is no boolean`)
}

/** Equality by value and type, as lists, maps and sets compare their members: `[1]` is not `[1.0]`. */
export function strictlyEqual(left: Value, right: Value, walk?: Walk): boolean {
  walk?.count(1)
  if (typeof left === 'string') payForText(left)
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  const rank = rankOf(left)
  if (rank !== 0) return rankOf(right) === rank && equalNumbers(left, right)
  const inner = walk ?? new Walk()
  inner.enter()
  const equal = structuresEqual(left, right, inner)
  inner.leave()
  return equal
}

function structuresEqual(left: Value, right: Value, walk: Walk): boolean {
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false
    return left.every((item, index) => strictlyEqual(item, right[index] ?? null, walk))
  }
  if (left instanceof DateValue)
    return right instanceof DateValue && left.time === right.time && left.nanos === right.nanos
  if (left instanceof ValueSet) {
    if (!(right instanceof ValueSet) || left.members.size !== right.members.size) return false
    for (const member of left.members.values()) if (!right.has(member)) return false
    return true
  }
  if (!isMap(left) || !isMap(right) || mapSize(left) !== mapSize(right)) return false
  for (const [key, member] of mapEntries(left)) if (!strictlyEqual(member, mapGet(right, key), walk)) return false
  return true
}

/** `<`, `<=`, `>`, `>=`; false beside null. Throws where the two have no order. */
export function inOrder(order: Order, left: Value, right: Value): boolean {
  const leftRank = rankOf(left)
  const rightRank = rankOf(right)
  if (leftRank !== 0 && rightRank !== 0) {
    if (leftRank === LONG && rightRank === LONG)
      return holds(order, signOf(BigInt(left as number | bigint), BigInt(right as number | bigint)))
    return holdsNumbers(order, numberOf(left), numberOf(right))
  }
  if (left === null || right === null) return false
  if (typeof left === 'string' && typeof right === 'string') {
    payForText(left)
    return holds(order, signOf(left, right))
  }
  if (typeof left === 'boolean' || typeof right === 'boolean') {
    return holdsNumbers(order, Number(booleanOf(left)), Number(booleanOf(right)))
  }
  const leftNumber = leftRank === 0 ? numericText(left) : numberOf(left)
  const rightNumber = rightRank === 0 ? numericText(right) : numberOf(right)
  if (leftNumber !== undefined && rightNumber !== undefined) return holdsNumbers(order, leftNumber, rightNumber)
  if (isMap(left)) return false
  throw new Fault(`${typeName(left)} ${textOf(left)} and ${typeName(right)} ${textOf(right)} can not be compared`)
}

export function signOf<Ordered extends string | bigint | number>(left: Ordered, right: Ordered): number {
  return left < right ? -1 : left > right ? 1 : 0
}

function holds(order: Order, sign: number): boolean {
  return order === '<' ? sign < 0 : order === '<=' ? sign <= 0 : order === '>' ? sign > 0 : sign >= 0
}

function holdsNumbers(order: Order, left: number, right: number): boolean {
  return order === '<' ? left < right : order === '<=' ? left <= right : order === '>' ? left > right : left >= right
}
