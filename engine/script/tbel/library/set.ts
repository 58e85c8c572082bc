/** Methods of sets. Source: `rule-engine.md` 6.5 "objects". */
import { ValueSet, textOf, type Value } from '../values.ts'
import { Fault } from '../fault.ts'
import type { Budget } from '../budget.ts'
import { strictlyEqual } from '../comparison.ts'
import { argument, booleanArgument, method, type Methods } from './signature.ts'
import { sorter } from './list.ts'

const MEMBER_BYTES = 96

/** A set of a list's items; counted, as every member's text is its identity. */
export function setOf(items: readonly Value[], budget: Budget): ValueSet {
  const set = new ValueSet()
  for (const item of items) addCounted(set, item, budget)
  return set
}

function addCounted(set: ValueSet, value: Value, budget: Budget): boolean {
  budget.step()
  budget.allocate(MEMBER_BYTES + (typeof value === 'object' ? 2 * textOf(value).length : 0))
  return set.add(value)
}

/** Looking for a value reads all of its text. */
function sought(value: Value, budget: Budget): Value {
  budget.spend(1 + (typeof value === 'string' ? value.length >> 4 : 0))
  return value
}

export function membersOf(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value
  if (value instanceof ValueSet) return [...value.members.values()]
  throw new Fault('argument must be a list or a set')
}

function clear(set: ValueSet): null {
  set.members.clear()
  return null
}

function toList(set: ValueSet, budget: Budget): Value[] {
  budget.allocate(8 * set.members.size)
  return [...set.members.values()]
}

function sorted(set: ValueSet, values: readonly Value[], budget: Budget): Value[] {
  const items = toList(set, budget)
  return items.sort(sorter(items, booleanArgument(values, 0, true), budget))
}

function replaceMembers(set: ValueSet, items: readonly Value[]): null {
  set.members.clear()
  for (const item of items) set.add(item)
  return null
}

function keepMembers(set: ValueSet, budget: Budget, keep: (item: Value) => boolean): boolean {
  const before = set.members.size
  replaceMembers(set, toList(set, budget).filter(keep))
  return set.members.size !== before
}

export const setMethods: Methods<ValueSet> = new Map([
  ['add', method<ValueSet>(1, 1, (set, values, budget) => addCounted(set, argument(values, 0), budget))],
  [
    'addAll',
    method<ValueSet>(1, 1, (set, values, budget) =>
      membersOf(argument(values, 0))
        .map((item) => addCounted(set, item, budget))
        .includes(true),
    ),
  ],
  ['remove', method<ValueSet>(1, 1, (set, values, budget) => set.delete(sought(argument(values, 0), budget)))],
  ['contains', method<ValueSet>(1, 1, (set, values, budget) => set.has(sought(argument(values, 0), budget)))],
  ['size', method<ValueSet>(0, 0, (set) => set.members.size)],
  ['isEmpty', method<ValueSet>(0, 0, (set) => set.members.size === 0)],
  ['clear', method<ValueSet>(0, 0, clear)],
  ['toList', method<ValueSet>(0, 0, (set, _values, budget) => toList(set, budget))],
  ['sort', method<ValueSet>(0, 1, (set, values, budget) => replaceMembers(set, sorted(set, values, budget)))],
  ['toSorted', method<ValueSet>(0, 1, (set, values, budget) => setOf(sorted(set, values, budget), budget))],
  [
    'containsAll',
    method<ValueSet>(1, 1, (set, values, budget) =>
      membersOf(argument(values, 0)).every((item) => set.has(sought(item, budget))),
    ),
  ],
  [
    'removeAll',
    method<ValueSet>(1, 1, (set, values, budget) => {
      const gone = setOf(membersOf(argument(values, 0)), budget)
      return keepMembers(set, budget, (item) => !gone.has(item))
    }),
  ],
  [
    'retainAll',
    method<ValueSet>(1, 1, (set, values, budget) => {
      const kept = setOf(membersOf(argument(values, 0)), budget)
      return keepMembers(set, budget, (item) => kept.has(item))
    }),
  ],
  ['equals', method<ValueSet>(1, 1, (set, values) => strictlyEqual(set, argument(values, 0)))],
  ['toString', method<ValueSet>(0, 0, (set) => textOf(set))],
])
