/** Everything a script can reach, by name. What is not in these tables does not exist: there is no way to the engine's own objects. */
import { MapEntry, PlatformObject, ValueSet, isMap, isNumber, type NumberValue, type Value } from '../values.ts'
import type { AnyMap } from '../maps.ts'
import { DateValue } from './date-value.ts'
import { listMethods } from './list.ts'
import { entryMethods, mapMethods } from './map.ts'
import { booleanMethods, numberMethods } from './number.ts'
import { setMethods } from './set.ts'
import { dateMethods } from './date.ts'
import { stringMethods } from './string.ts'
import type { Budget } from '../budget.ts'
import type { Functions, Method } from './signature.ts'

/** What is found under a method's name, by the kind of value it is called on. */
export interface MethodChoice {
  readonly name: string
  readonly string: Method<string> | undefined
  readonly list: Method<Value[]> | undefined
  readonly map: Method<AnyMap> | undefined
  readonly number: Method<NumberValue> | undefined
  readonly boolean: Method<boolean> | undefined
  readonly entry: Method<MapEntry> | undefined
  readonly set: Method<ValueSet> | undefined
  readonly date: Method<DateValue> | undefined
}

export function methodChoice(name: string): MethodChoice {
  return {
    name,
    string: stringMethods.get(name),
    list: listMethods.get(name),
    map: mapMethods.get(name),
    number: numberMethods.get(name),
    boolean: booleanMethods.get(name),
    entry: entryMethods.get(name),
    set: setMethods.get(name),
    date: dateMethods.get(name),
  }
}

/** A method bound to what it is called on: its bounds and how to run it. Undefined where the value has no such method. */
export function invoke(
  choice: MethodChoice,
  target: Value,
  values: readonly Value[],
  budget: Budget,
): Value | undefined {
  if (typeof target === 'string') return apply(choice.string, target, values, budget)
  if (typeof target === 'boolean') return apply(choice.boolean, target, values, budget)
  if (isNumber(target)) return apply(choice.number, target, values, budget)
  if (Array.isArray(target)) return apply(choice.list, target, values, budget)
  if (target instanceof MapEntry) return apply(choice.entry, target, values, budget)
  if (target instanceof ValueSet) return apply(choice.set, target, values, budget)
  if (target instanceof DateValue) return apply(choice.date, target, values, budget)
  if (target instanceof PlatformObject) return target.call(choice.name, values, budget)
  return isMap(target) ? apply(choice.map, target, values, budget) : undefined
}

function apply<Target>(
  method: Method<Target> | undefined,
  target: Target,
  values: readonly Value[],
  budget: Budget,
): Value | undefined {
  if (method === undefined || values.length < method.least || values.length > method.most) return undefined
  return method.run(target, values, budget)
}

/** The names a host gives its scripts besides their variables. */
export interface Library {
  /** `parseInt(…)` */
  readonly functions: Functions
  /** `Math.round(…)`, by the name before the dot. */
  readonly statics: ReadonlyMap<string, Functions>
  /** `Math.PI` */
  readonly constants: ReadonlyMap<string, ReadonlyMap<string, Value>>
  /** `new java.util.ArrayList()` */
  readonly constructors: Functions
}
