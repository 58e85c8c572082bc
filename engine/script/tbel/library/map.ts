/** Methods of maps and their entries. Source: `rule-engine.md` 6.5 "map". */
import { strictlyEqual } from '../comparison.ts'
import { mapEntries, mapGet, mapHas, mapPut, mapSize, writable, type AnyMap } from '../maps.ts'
import { Fault } from '../fault.ts'
import { MapEntry, isMap, keyOf, textOf, typeName, type MapKey, type ScriptMap, type Value } from '../values.ts'
import type { Budget } from '../budget.ts'
import { argument, booleanArgument, intArgument, method, startIndex, type Methods } from './signature.ts'
import { sorter, textWithin } from './list.ts'

const ENTRY_BYTES = 48

function charge(budget: Budget, entries: number): void {
  budget.spend(entries >> 2)
  budget.allocate(ENTRY_BYTES * entries)
}

/** Entries, counted before they are copied. */
function entries(map: AnyMap, budget: Budget): [MapKey, Value][] {
  charge(budget, mapSize(map))
  return mapEntries(map)
}

/** Shared data is counted through. */
function countedSize(map: AnyMap, _values: readonly Value[], budget: Budget): number {
  const size = mapSize(map)
  budget.spend(size >> 3)
  return size
}

function get(map: AnyMap, key: Value): Value {
  return key === null ? null : mapGet(map, keyOf(key))
}

function put(map: AnyMap, values: readonly Value[], budget: Budget): Value {
  const key = argument(values, 0)
  const old = get(map, key)
  charge(budget, 1)
  mapPut(map, key, argument(values, 1))
  return old
}

function putAll(map: AnyMap, values: readonly Value[], budget: Budget): Value {
  const other = argument(values, 0)
  if (!isMap(other)) throw new Fault(`argument must be a map, not ${typeName(other)}`)
  for (const [key, value] of entries(other, budget)) mapPut(map, key, value)
  return null
}

function remove(map: AnyMap, values: readonly Value[]): Value {
  const old = get(map, argument(values, 0))
  if (argument(values, 0) !== null) writable(map).delete(keyOf(argument(values, 0)))
  return old
}

function replaceContent(map: AnyMap, content: readonly [MapKey, Value][]): null {
  const target = writable(map)
  target.clear()
  for (const [key, value] of content) target.set(key, value)
  return null
}

function sortedByKey(map: AnyMap, values: readonly Value[], budget: Budget): [MapKey, Value][] {
  const content = entries(map, budget)
  const compare = sorter(
    content.map(([key]) => key),
    booleanArgument(values, 0, true),
    budget,
  )
  return content.sort(([left], [right]) => compare(left, right))
}

function sortedByValue(map: AnyMap, values: readonly Value[], budget: Budget): [MapKey, Value][] {
  const content = entries(map, budget)
  const compare = sorter(
    content.map(([, value]) => value),
    booleanArgument(values, 0, true),
    budget,
  )
  return content.sort(([, left], [, right]) => compare(left, right))
}

function inverted(map: AnyMap, budget: Budget): [MapKey, Value][] {
  const result: ScriptMap = new Map()
  const counts = new Map<string, number>()
  const content = entries(map, budget)
  for (const [, value] of content) counts.set(textOf(value), (counts.get(textOf(value)) ?? 0) + 1)
  for (const [key, value] of content) {
    const present = result.get(keyOf(value))
    if (Array.isArray(present)) present.push(key)
    else result.set(keyOf(value), counts.get(textOf(value)) === 1 ? key : [key])
  }
  return [...result]
}

function slice(map: AnyMap, values: readonly Value[], budget: Budget): ScriptMap {
  const content = entries(map, budget)
  const start = startIndex(intArgument(values, 0, 0), content.length)
  return new Map(content.slice(start, startIndex(intArgument(values, 1, content.length), content.length)))
}

const reading: Methods<AnyMap> = new Map([
  ['size', method<AnyMap>(0, 0, countedSize, 'platformInt')],
  ['isEmpty', method<AnyMap>(0, 0, (map, values, budget) => countedSize(map, values, budget) === 0)],
  ['get', method<AnyMap>(1, 1, (map, values) => get(map, argument(values, 0)))],
  ['getOrDefault', method<AnyMap>(2, 2, (map, values) => get(map, argument(values, 0)) ?? argument(values, 1))],
  [
    'containsKey',
    method<AnyMap>(1, 1, (map, values) => argument(values, 0) !== null && mapHas(map, keyOf(argument(values, 0)))),
  ],
  [
    'containsValue',
    method<AnyMap>(1, 1, (map, values, budget) =>
      entries(map, budget).some(([, value]) => strictlyEqual(value, argument(values, 0))),
    ),
  ],
  ['keys', method<AnyMap>(0, 0, (map, _values, budget) => entries(map, budget).map(([key]) => key), 'list')],
  ['keySet', method<AnyMap>(0, 0, (map, _values, budget) => entries(map, budget).map(([key]) => key))],
  ['values', method<AnyMap>(0, 0, (map, _values, budget) => entries(map, budget).map(([, value]) => value), 'list')],
  ['entrySet', method<AnyMap>(0, 0, (map, _values, budget) => mapEntryList(map, budget))],
  ['slice', method<AnyMap>(0, 2, slice, 'map')],
  ['toSorted', method<AnyMap>(0, 1, (map, values, budget) => new Map(sortedByKey(map, values, budget)), 'map')],
  ['toSortedByKey', method<AnyMap>(0, 1, (map, values, budget) => new Map(sortedByKey(map, values, budget)), 'map')],
  [
    'toSortedByValue',
    method<AnyMap>(0, 1, (map, values, budget) => new Map(sortedByValue(map, values, budget)), 'map'),
  ],
  ['toReversed', method<AnyMap>(0, 0, (map, _values, budget) => new Map(entries(map, budget).reverse()), 'map')],
  ['toInverted', method<AnyMap>(0, 0, (map, _values, budget) => new Map(inverted(map, budget)), 'map')],
  ['toString', method<AnyMap>(0, 0, (map, _values, budget) => textWithin(map, budget), 'string')],
  ['equals', method<AnyMap>(1, 1, (map, values) => strictlyEqual(map, argument(values, 0)))],
])

const changing: Methods<AnyMap> = new Map([
  ['put', method<AnyMap>(2, 2, put)],
  ['putAll', method<AnyMap>(1, 1, putAll)],
  [
    'putIfAbsent',
    method<AnyMap>(2, 2, (map, values, budget) => get(map, argument(values, 0)) ?? put(map, values, budget)),
  ],
  ['remove', method<AnyMap>(1, 1, remove)],
  ['clear', method<AnyMap>(0, 0, (map) => replaceContent(map, []))],
  ['sortByKey', method<AnyMap>(0, 1, (map, values, budget) => replaceContent(map, sortedByKey(map, values, budget)))],
  [
    'sortByValue',
    method<AnyMap>(0, 1, (map, values, budget) => replaceContent(map, sortedByValue(map, values, budget))),
  ],
  ['reverse', method<AnyMap>(0, 0, (map, _values, budget) => replaceContent(map, entries(map, budget).reverse()))],
  ['invert', method<AnyMap>(0, 0, (map, _values, budget) => replaceContent(map, inverted(map, budget)))],
])

export const mapMethods: Methods<AnyMap> = new Map([...reading, ...changing])

export function mapEntryList(map: AnyMap, budget: Budget): Value[] {
  return entries(map, budget).map(([key, value]) => new MapEntry(key, value))
}

export const entryMethods: Methods<MapEntry> = new Map([
  ['getKey', method<MapEntry>(0, 0, (entry) => entry.key)],
  ['getValue', method<MapEntry>(0, 0, (entry) => entry.value)],
])
