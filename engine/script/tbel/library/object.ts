/** Functions over structures, and `JSON`. Source: `rule-engine.md` 6.5 "objects", "geo" apart. */
import { Fault } from '../fault.ts'
import { mapEntries } from '../maps.ts'
import { parseJson, stringifyJson } from '../../../../model/json.ts'
import { errorText } from '../../../../model/errors.ts'
import { MAX_DEPTH, ValueSet, isMap, mutableCopy, toJson, typeName, type ScriptMap, type Value } from '../values.ts'
import type { Budget } from '../budget.ts'
import { argument, booleanArgument, libraryFunction, listArgument, textArgument, type Functions } from './signature.ts'
import { PlatformArray } from './platform-array.ts'
import { membersOf, setOf } from './set.ts'

/** JSON text of a value, counted. */
export function jsonText(value: Value, budget: Budget): string {
  const text = stringifyJson(toJson(value))
  budget.allocate(2 * text.length)
  return text
}

/** JSON text as a value of the script's own. */
export function jsonValue(text: string, budget: Budget): Value {
  budget.allocate(8 * text.length)
  try {
    return mutableCopy(parseJson(text))
  } catch (error) {
    throw new Fault(errorText(error))
  }
}

interface Flattening {
  readonly result: ScriptMap
  readonly excluded: ReadonlySet<string>
  readonly keepsPath: boolean
  readonly budget: Budget
}

/** Leaves by their paths, `a.b.0`. */
function toFlatMap(values: readonly Value[], budget: Budget): Value {
  const source = argument(values, 0)
  if (!isMap(source)) throw new Fault(`argument must be a map, not ${typeName(source)}`)
  const names =
    values.length > 1 && typeof argument(values, 1) !== 'boolean' ? membersOf(argument(values, 1)).map(String) : []
  const keepsPath = booleanArgument(values, typeof argument(values, 1) === 'boolean' ? 1 : 2, true)
  const flattening = { result: new Map(), excluded: new Set(names), keepsPath, budget }
  flatten(flattening, source, '', 0)
  return flattening.result
}

function flatten(to: Flattening, value: Value, path: string, depth: number): void {
  to.budget.step()
  if (depth > MAX_DEPTH) throw new Fault(`value is nested deeper than ${MAX_DEPTH} levels`)
  if (isMap(value)) {
    for (const [key, member] of mapEntries(value)) {
      const name = String(key)
      if (!to.excluded.has(name)) flatten(to, member, path.trim() === '' ? name : `${path}.${name}`, depth + 1)
    }
  } else if (Array.isArray(value) || value instanceof ValueSet) {
    membersOf(value).forEach((item, index) => flatten(to, item, `${path}.${index}`, depth + 1))
  } else if (value !== null) {
    to.budget.allocate(48 + 2 * path.length)
    to.result.set(to.keepsPath ? path : lastName(path), value)
  }
}

/** The last name of a path; an item of a list goes by the list's name too. */
function lastName(path: string): string {
  const names = path.split('.')
  return names.slice(/^\d+$/.test(names.at(-1) ?? '') ? -2 : -1).join('.')
}

function isList(value: Value): boolean {
  return Array.isArray(value) && !(value instanceof PlatformArray)
}

export const objectFunctions: Functions = new Map([
  ['toFlatMap', libraryFunction(1, 3, toFlatMap, 'map')],
  ['isMap', libraryFunction(1, 1, (values) => isMap(argument(values, 0)))],
  ['isList', libraryFunction(1, 1, (values) => isList(argument(values, 0)))],
  ['isArray', libraryFunction(1, 1, (values) => argument(values, 0) instanceof PlatformArray)],
  ['isSet', libraryFunction(1, 1, (values) => argument(values, 0) instanceof ValueSet)],
  ['newSet', libraryFunction(0, 0, () => new ValueSet())],
  ['toSet', libraryFunction(1, 1, (values, budget) => setOf(listArgument(values, 0), budget))],
])

export const jsonFunctions: Functions = new Map([
  ['stringify', libraryFunction(1, 1, (values, budget) => jsonText(argument(values, 0), budget), 'string')],
  [
    'parse',
    libraryFunction(1, 1, (values, budget) =>
      argument(values, 0) === null ? null : jsonValue(textArgument(values, 0), budget),
    ),
  ],
])
