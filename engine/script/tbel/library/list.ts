/** Methods of lists. Source: `rule-engine.md` 6.5 "list" and its quirks. */
import { isNumberText } from '../../../../model/number-text.ts'
import { Fault } from '../fault.ts'
import { signOf, strictlyEqual } from '../comparison.ts'
import { isInt, textOf, ValueSet, type Value } from '../values.ts'
import type { Budget } from '../budget.ts'
import { argument, booleanArgument, intArgument, method, startIndex, textArgument, type Methods } from './signature.ts'

type List = Value[]
const ITEM_BYTES = 8

function grow(budget: Budget, items: number): void {
  budget.spend(items >> 3)
  budget.allocate(ITEM_BYTES * items)
}

function checkIndex(list: List, index: number, limit: number = list.length): number {
  if (index < 0 || index >= limit) throw new Fault(`index ${index} is out of bounds for a list of ${list.length}`)
  return index
}

function itemsOf(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value
  if (value instanceof ValueSet) return [...value.members.values()]
  throw new Fault('argument must be a list')
}

function indexOf(list: List, value: Value, from: number, budget: Budget): number {
  budget.spend(list.length)
  for (let index = Math.max(0, from); index < list.length; index++)
    if (strictlyEqual(list[index] ?? null, value)) return index
  return -1
}

/** The order of `sort`: by number where all items read as numbers, else by text. */
export function sorter(
  values: readonly Value[],
  ascending: boolean,
  budget: Budget,
): (left: Value, right: Value) => number {
  budget.spend(values.length * Math.ceil(Math.log2(values.length + 2)))
  const texts = new Map<Value, string>()
  for (const value of values) if (!texts.has(value)) texts.set(value, textOf(value))
  const direction = ascending ? 1 : -1
  const text = (value: Value): string => texts.get(value) ?? ''
  const areNumbers = values.every((value) => isNumberText(text(value)))
  return areNumbers
    ? (left, right) => direction * signOf(Number(text(left)), Number(text(right)))
    : (left, right) => direction * signOf(text(left), text(right))
}

function slice(list: List, values: readonly Value[], budget: Budget): List {
  const start = startIndex(intArgument(values, 0, 0), list.length)
  const end = startIndex(intArgument(values, 1, list.length), list.length)
  if (start > end) throw new Fault(`start ${start} is behind end ${end}`)
  grow(budget, end - start)
  return list.slice(start, end)
}

function splice(list: List, values: readonly Value[], budget: Budget): List {
  const start = startIndex(intArgument(values, 0), list.length)
  const count = Math.max(0, Math.min(intArgument(values, 1, list.length - start), list.length - start))
  grow(budget, list.length + values.length)
  return list.splice(start, count, ...values.slice(2))
}

function copy(list: List, budget: Budget): List {
  grow(budget, list.length)
  return list.slice()
}

function remove(list: List, value: Value, budget: Budget): Value {
  budget.spend(list.length >> 3)
  if (isInt(value)) return list.splice(checkIndex(list, value), 1)[0] ?? null
  const index = indexOf(list, value, 0, budget)
  if (index >= 0) list.splice(index, 1)
  return index >= 0
}

function insertAll(list: List, at: number, values: readonly Value[], budget: Budget): boolean {
  grow(budget, list.length + values.length)
  list.splice(checkIndex(list, at, list.length + 1), 0, ...values)
  return values.length > 0
}

function join(list: List, separator: string, budget: Budget): string {
  const texts = list.map((item) => textOf(item))
  if (list.includes(null)) throw new Fault('null can not be joined')
  budget.allocate(2 * texts.reduce((sum, text) => sum + text.length + separator.length, 0))
  return texts.join(separator).replaceAll(', ', ',').replaceAll('[', '').replaceAll(']', '')
}

function fill(list: List, values: readonly Value[], budget: Budget): List {
  const start = startIndex(intArgument(values, 1, 0), list.length)
  const end = startIndex(intArgument(values, 2, list.length), list.length)
  budget.spend(list.length >> 3)
  return list.fill(argument(values, 0), start, end)
}

function sum(list: List, budget: Budget, values: readonly Value[]): List {
  const items = itemsOf(argument(values, 0))
  grow(budget, list.length + items.length)
  return [...list, ...items]
}

function withItem(list: List, values: readonly Value[], budget: Budget): List {
  const index = intArgument(values, 0)
  const place = checkIndex(list, index < 0 ? index + list.length : index)
  const result = copy(list, budget)
  result.splice(place, 0, argument(values, 1))
  return result
}

function retain(list: List, keep: (item: Value) => boolean, budget: Budget): boolean {
  grow(budget, list.length)
  const kept = list.filter(keep)
  const changed = kept.length !== list.length
  list.splice(0, list.length, ...kept)
  return changed
}

const reading: Methods<List> = new Map([
  ['size', method<List>(0, 0, (list) => list.length, 'platformInt')],
  ['length', method<List>(0, 0, (list) => list.length, 'platformInt')],
  ['isEmpty', method<List>(0, 0, (list) => list.length === 0)],
  ['get', method<List>(1, 1, (list, values) => list[checkIndex(list, intArgument(values, 0))] ?? null)],
  ['contains', method<List>(1, 1, (list, values, budget) => indexOf(list, argument(values, 0), 0, budget) >= 0)],
  [
    'containsAll',
    method<List>(1, 1, (list, values, budget) =>
      itemsOf(argument(values, 0)).every((item) => indexOf(list, item, 0, budget) >= 0),
    ),
  ],
  [
    'indexOf',
    method<List>(
      1,
      2,
      (list, values, budget) =>
        indexOf(list, argument(values, 0), startIndex(intArgument(values, 1, 0), list.length), budget),
      'platformInt',
    ),
  ],
  [
    'lastIndexOf',
    method<List>(1, 1, (list, values, budget) => lastIndexOf(list, argument(values, 0), budget), 'platformInt'),
  ],
  ['slice', method<List>(0, 2, slice, 'list')],
  [
    'subList',
    method<List>(
      2,
      2,
      (list, values, budget) => subList(list, intArgument(values, 0), intArgument(values, 1), budget),
      'list',
    ),
  ],
  [
    'join',
    method<List>(
      0,
      1,
      (list, values, budget) => join(list, values.length === 0 ? ',' : textArgument(values, 0), budget),
      'string',
    ),
  ],
  ['concat', method<List>(1, 1, (list, values, budget) => sum(list, budget, values))],
  ['with', method<List>(2, 2, withItem)],
  [
    'toSorted',
    method<List>(
      0,
      1,
      (list, values, budget) => copy(list, budget).sort(sorter(list, booleanArgument(values, 0, true), budget)),
      'list',
    ),
  ],
  ['toReversed', method<List>(0, 0, (list, _values, budget) => copy(list, budget).reverse())],
  ['toSpliced', method<List>(1, 10, toSpliced)],
  ['toString', method<List>(0, 0, (list, _values, budget) => textWithin(list, budget), 'string')],
  ['equals', method<List>(1, 1, (list, values) => strictlyEqual(list, argument(values, 0)))],
])

const changing: Methods<List> = new Map([
  ['add', method<List>(1, 2, add)],
  ['push', method<List>(1, 1, (list, values, budget) => insertAll(list, list.length, values, budget))],
  ['addAll', method<List>(1, 2, addAll)],
  ['pop', method<List>(0, 0, (list) => list.pop() ?? null)],
  ['shift', method<List>(0, 0, (list, _values, budget) => remove(list, 0, budget))],
  ['unshift', method<List>(1, 10, (list, values, budget) => discard(insertAll(list, 0, values, budget)))],
  ['set', method<List>(2, 2, (list, values) => set(list, intArgument(values, 0), argument(values, 1)))],
  ['remove', method<List>(1, 1, (list, values, budget) => remove(list, argument(values, 0), budget))],
  [
    'removeAll',
    method<List>(1, 1, (list, values, budget) =>
      retain(list, (item) => indexOf([...itemsOf(argument(values, 0))], item, 0, budget) < 0, budget),
    ),
  ],
  [
    'retainAll',
    method<List>(1, 1, (list, values, budget) =>
      retain(list, (item) => indexOf([...itemsOf(argument(values, 0))], item, 0, budget) >= 0, budget),
    ),
  ],
  ['clear', method<List>(0, 0, (list) => discard(list.splice(0, list.length)))],
  ['splice', method<List>(1, 10, splice)],
  ['fill', method<List>(1, 3, fill)],
  [
    'sort',
    method<List>(0, 1, (list, values, budget) =>
      discard(list.sort(sorter(list, booleanArgument(values, 0, true), budget))),
    ),
  ],
  ['reverse', method<List>(0, 0, (list, _values, budget) => (budget.spend(list.length >> 3), discard(list.reverse())))],
])

export const listMethods: Methods<List> = new Map([...reading, ...changing])

/** The language's `void`. */
function discard(_result: unknown): null {
  return null
}

function add(list: List, values: readonly Value[], budget: Budget): Value {
  if (values.length === 1) {
    budget.allocate(ITEM_BYTES)
    list.push(argument(values, 0))
    return true
  }
  return discard(insertAll(list, intArgument(values, 0), values.slice(1), budget))
}

function addAll(list: List, values: readonly Value[], budget: Budget): boolean {
  const at = values.length === 1 ? list.length : intArgument(values, 0)
  return insertAll(list, at, itemsOf(argument(values, values.length - 1)), budget)
}

function set(list: List, index: number, value: Value): Value {
  const old = list[checkIndex(list, index)] ?? null
  list[index] = value
  return old
}

function lastIndexOf(list: List, value: Value, budget: Budget): number {
  budget.spend(list.length)
  for (let index = list.length - 1; index >= 0; index--) if (strictlyEqual(list[index] ?? null, value)) return index
  return -1
}

function subList(list: List, from: number, to: number, budget: Budget): List {
  if (from < 0 || to > list.length || from > to)
    throw new Fault(`no sub-list from ${from} to ${to} of a list of ${list.length}`)
  grow(budget, to - from)
  return list.slice(from, to)
}

function toSpliced(list: List, values: readonly Value[], budget: Budget): List {
  const result = copy(list, budget)
  splice(result, values, budget)
  return result
}

/** The text of a structure, counted. */
export function textWithin(value: Value, budget: Budget): string {
  const text = textOf(value)
  budget.allocate(2 * text.length)
  return text
}
