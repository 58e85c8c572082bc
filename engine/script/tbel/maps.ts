/** One view of both kinds of map: the script's own, and shared message data, whose null members do not exist. */
import { Fault } from './fault.ts'
import { fromJson, keyOf, type MapKey, type ScriptMap, type Value } from './values.ts'
import type { JsonObject } from '../../../model/json.ts'

export type AnyMap = ScriptMap | JsonObject

export function mapGet(map: AnyMap, key: MapKey): Value {
  if (map instanceof Map) return map.get(key) ?? null
  const name = String(key)
  return typeof key === 'string' && Object.hasOwn(map, name) ? fromJson(map[name]) : null
}

export function mapHas(map: AnyMap, key: MapKey): boolean {
  return map instanceof Map ? map.has(key) : mapGet(map, key) !== null
}

export function mapEntries(map: AnyMap): [MapKey, Value][] {
  if (map instanceof Map) return [...map]
  const entries: [MapKey, Value][] = []
  for (const key of Object.keys(map)) {
    const value = fromJson(map[key])
    if (value !== null) entries.push([key, value])
  }
  return entries
}

export function mapSize(map: AnyMap): number {
  return map instanceof Map ? map.size : mapEntries(map).length
}

/** The map as one that may be written. A script that writes works on its own copy, so the other kind is a defect. */
export function writable(map: AnyMap): ScriptMap {
  if (map instanceof Map) return map
  throw new Fault('shared data can not be changed')
}

/** Assigning null removes the key (`rule-engine.md` 6.4). */
export function mapPut(map: AnyMap, key: Value, value: Value): void {
  const target = writable(map)
  if (value === null) target.delete(keyOf(key))
  else target.set(keyOf(key), value)
}
