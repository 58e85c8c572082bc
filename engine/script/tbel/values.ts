/**
 * The language's values and their numeric types. Integers are plain numbers, so that the common road costs nothing:
 *
 * | language type | representation |
 * |---|---|
 * | int | integral `number` within 32 bits |
 * | long | integral `number` beyond 32 bits up to 2^53, otherwise `bigint` (also small ones, such as `5L`) |
 * | double | `number` that is not integral (also NaN, Infinity), or {@link WholeDouble} for `2.0` |
 * | map | `Map` made by the script, or a plain object: shared message data, which is never written |
 * | list | array |
 *
 * The same as `model/json.ts`, so message data is read in place.
 */
import { LongDecimal, WholeDouble, javaDouble, type JsonObject, type JsonValue } from '../../../model/json.ts'
import { setMember } from '../../../model/members.ts'
import { Fault } from './fault.ts'
import { DateValue } from './library/date-value.ts'

export type MapKey = string | number | bigint | boolean
export type ScriptMap = Map<MapKey, Value>
/** An entry of a map, as `foreach (e : map)` sees it. */
export class MapEntry {
  readonly key: MapKey
  readonly value: Value
  constructor(key: MapKey, value: Value) {
    this.key = key
    this.value = value
  }
}
export type Value =
  | null
  | boolean
  | string
  | number
  | bigint
  | WholeDouble
  | LongDecimal
  | DateValue
  | MapEntry
  | ValueSet
  | PlatformObject
  | ScriptMap
  | JsonObject
  | Value[]
export type NumberValue = number | bigint | WholeDouble

/** What a run pays with. */
export interface Payments {
  spend(steps: number): void
  allocate(bytes: number): void
}

/** A thing of the platform's with properties and methods of its own, which scripts read and never write. */
export abstract class PlatformObject {
  /** In messages to the author. */
  abstract readonly typeName: string

  /** What JSON shows of it, in this order. */
  abstract members(): readonly (readonly [name: string, value: Value])[]

  /** What `foreach` goes through; undefined where it can not. */
  items(): readonly Value[] | undefined {
    return undefined
  }

  /** Undefined where it has no such property. */
  property(name: string): Value | undefined {
    return this.members().find(([member]) => member === name)?.[1]
  }

  /** Undefined where it has no such method. A property has one that reads it: `getName()`. */
  call(name: string, values: readonly Value[], _budget: Payments): Value | undefined {
    if (values.length > 0 || !name.startsWith('get')) return undefined
    return this.property(name.charAt(3).toLowerCase() + name.slice(4))
  }
}

/** A set by value, in order of insertion. */
export class ValueSet {
  readonly members = new Map<unknown, Value>()

  add(value: Value): boolean {
    const key = identityOf(value)
    if (this.members.has(key)) return false
    this.members.set(key, value)
    return true
  }

  has(value: Value): boolean {
    return this.members.has(identityOf(value))
  }

  delete(value: Value): boolean {
    return this.members.delete(identityOf(value))
  }
}

/** Equal values have equal keys: scalars by type and text, structures by their text. */
function identityOf(value: Value): unknown {
  if (typeof value === 'string') return `s${value}`
  return `${typeName(value)} ${textOf(value)}`
}

/** Who pays for walks and comparisons: the budget of the present run. Runs on one thread never overlap. */
let payer: { spend(steps: number): void } | undefined

export function chargeWalksTo(budget: { spend(steps: number): void }): void {
  payer = budget
}

/** Counts a look at every character of a long text. */
export function payForText(text: string): void {
  if (text.length > 256) payer?.spend(text.length >> 6)
}

/** A date in words takes as long as so many steps. */
const DATE_TEXT_STEPS = 300

function dateText(date: DateValue): string {
  payer?.spend(DATE_TEXT_STEPS)
  return date.toText()
}

export const MAX_DEPTH = 100
const MAX_WALK = 1_000_000

/**
 * One walk through a structure. A structure may hold the same one many times, and so unfold beyond any bound: its parts
 * and the characters of its texts are counted. Throws a Fault beyond 1,000,000 or deeper than {@link MAX_DEPTH}.
 */
export class Walk {
  private left = MAX_WALK
  private depth = 0
  private unpaid = 0

  enter(): void {
    if (++this.depth > MAX_DEPTH) throw new Fault(`value is nested deeper than ${MAX_DEPTH} levels`)
  }

  leave(): void {
    this.depth--
  }

  count(units: number): void {
    this.left -= units
    this.unpaid += units
    if (this.unpaid >= 64) {
      payer?.spend(this.unpaid >> 3)
      this.unpaid = 0
    }
    if (this.left < 0) throw new Fault('value unfolds beyond all limits', 'memory')
  }

  /** A part that is no structure. */
  countLeaf(value: Value): void {
    this.count(typeof value === 'string' ? 1 + value.length : 1)
  }
}

export function isInt(value: Value): value is number {
  return typeof value === 'number' && (value | 0) === value
}

/** A double as a value: whole ones are boxed, so that `2.0` stays a double. */
export function double(value: number): number | WholeDouble {
  return Number.isInteger(value) ? new WholeDouble(value) : value
}

/** A long as a value. */
export function long(value: bigint): number | bigint {
  return value >= -9007199254740991n && value <= 9007199254740991n && (value > 2147483647n || value < -2147483648n)
    ? Number(value)
    : value
}

/** A double cast to long: cut, saturated at ±2^63, NaN is 0. */
export function longOf(value: number): number | bigint {
  if (Number.isNaN(value)) return 0n
  if (value >= 9223372036854775807) return 9223372036854775807n
  if (value <= -9223372036854775808) return -9223372036854775808n
  return long(BigInt(Math.trunc(value)))
}

/** A double cast to int: cut, saturated, NaN is 0. */
export function intOf(value: number): number {
  if (Number.isNaN(value)) return 0
  if (value >= 2147483647) return 2147483647
  if (value <= -2147483648) return -2147483648
  return Math.trunc(value) + 0
}

/** 106 int, 107 long, 109 double: a mixed operation takes the larger; 0 is no number. */
export type Rank = 0 | 106 | 107 | 109
export const INT = 106
export const LONG = 107
export const DOUBLE = 109

export function rankOf(value: Value): Rank {
  if (typeof value === 'number') return (value | 0) === value ? INT : Number.isInteger(value) ? LONG : DOUBLE
  if (typeof value === 'bigint') return LONG
  return value instanceof WholeDouble || value instanceof LongDecimal ? DOUBLE : 0
}

export function isNumber(value: Value): value is NumberValue {
  return rankOf(value) !== 0
}

/** Its number as a double; only for values of a numeric rank. */
export function numberOf(value: Value): number {
  if (typeof value === 'number') return value
  return value instanceof WholeDouble ? value.value : Number(value)
}

/** A plain object of the shared message data. */
export function isPlainMap(value: Value): value is JsonObject {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

export function isMap(value: Value): value is ScriptMap | JsonObject {
  return value instanceof Map || isPlainMap(value)
}

/** The key a value makes in a map. */
export function keyOf(value: Value): MapKey {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return value
  throw new Fault(`${typeName(value)} can not be a key of a map`)
}

/** Reads one value out of shared message data. */
export function fromJson(value: Value | undefined): Value {
  if (value === undefined) return null
  return value instanceof LongDecimal ? double(value.value) : value
}

/** A private copy that the script may write; null members go. */
export function mutableCopy(value: Value): Value {
  if (Array.isArray(value)) return value.map(mutableCopy)
  if (!isMap(value)) return fromJson(value)
  const copy: ScriptMap = new Map()
  if (value instanceof Map) {
    for (const [key, member] of value) copy.set(key, mutableCopy(member))
    return copy
  }
  for (const key of Object.keys(value)) {
    const member = value[key]
    if (member !== null && member !== undefined) copy.set(key, mutableCopy(member))
  }
  return copy
}

/** The value as JSON; null members of maps go, NaN and infinities become text. Throws where it is nested too deeply. */
export function toJson(value: Value, walk?: Walk): JsonValue {
  if (typeof value !== 'object' || value === null) {
    walk?.countLeaf(value)
    return typeof value === 'number' && !Number.isFinite(value) ? javaDouble(value) : value
  }
  if (value instanceof WholeDouble || value instanceof LongDecimal) return value
  if (value instanceof DateValue) return dateText(value)
  return structureJson(value, walk ?? new Walk())
}

type Structure = Exclude<Value, null | boolean | string | number | bigint | WholeDouble | LongDecimal | DateValue>

function structureJson(value: Structure, walk: Walk): JsonValue {
  walk.enter()
  const json = Array.isArray(value) || value instanceof ValueSet ? itemsJson(value, walk) : membersJson(value, walk)
  walk.leave()
  return json
}

function itemsJson(value: Value[] | ValueSet, walk: Walk): JsonValue[] {
  const items = Array.isArray(value) ? value : [...value.members.values()]
  return items.map((item) => {
    walk.count(1)
    return toJson(item, walk)
  })
}

function membersJson(value: MapEntry | PlatformObject | ScriptMap | JsonObject, walk: Walk): JsonObject {
  const members: JsonObject = {}
  if (value instanceof PlatformObject) return membersJson(new Map(value.members()), walk)
  if (value instanceof MapEntry) {
    setMember(members, String(value.key), toJson(value.value, walk))
    return members
  }
  if (value instanceof Map) {
    for (const [key, member] of value) {
      walk.count(1 + String(key).length)
      setMember(members, String(key), toJson(member, walk))
    }
    return members
  }
  for (const key of Object.keys(value)) {
    const member = value[key]
    if (member !== null && member !== undefined) setMember(members, key, toJson(member, walk))
  }
  return members
}

/** The text that `"" + value` gives: doubles with their dot, `[1, 2]`, `{x=1}`. Throws where a structure is too large. */
export function textOf(value: Value, walk?: Walk): string {
  walk?.countLeaf(value)
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
      return Number.isInteger(value) ? String(value) : javaDouble(value)
    case 'object':
      break
    default:
      return String(value)
  }
  if (value === null) return 'null'
  if (value instanceof WholeDouble || value instanceof LongDecimal) return javaDouble(value.value)
  if (value instanceof DateValue) return dateText(value)
  return structureText(value, walk ?? new Walk())
}

function structureText(value: Structure, walk: Walk): string {
  walk.enter()
  const text =
    Array.isArray(value) || value instanceof ValueSet
      ? `[${(Array.isArray(value) ? value : [...value.members.values()]).map((item) => textOf(item, walk)).join(', ')}]`
      : membersText(value, walk)
  walk.leave()
  return text
}

function membersText(value: MapEntry | PlatformObject | ScriptMap | JsonObject, walk: Walk): string {
  if (value instanceof PlatformObject) return membersText(new Map(value.members()), walk)
  if (value instanceof MapEntry) return `${value.key}=${textOf(value.value, walk)}`
  const members: string[] = []
  const entries = value instanceof Map ? value : Object.entries(value)
  for (const [key, member] of entries) {
    const read = value instanceof Map ? member : fromJson(member)
    if (read !== null) members.push(`${textOf(key, walk)}=${textOf(read, walk)}`)
  }
  return `{${members.join(', ')}}`
}

/** The name of a value's type in messages to the author. */
export function typeName(value: Value): string {
  const rank = rankOf(value)
  if (rank !== 0) return rank === INT ? 'int' : rank === LONG ? 'long' : 'double'
  if (value === null) return 'null'
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value
  if (Array.isArray(value)) return 'list'
  if (value instanceof ValueSet) return 'set'
  if (value instanceof DateValue) return 'date'
  if (value instanceof PlatformObject) return value.typeName
  return value instanceof MapEntry ? 'map entry' : 'map'
}
