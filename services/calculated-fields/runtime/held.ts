/** What is kept of a field's arguments between its steps, and how values that come change it. */
import { isDeepStrictEqual } from 'node:util'
import type { ArgumentNeed, ArgumentUpdate, ArgumentValue, SingleValue } from '../../../model/calculated-fields/kind.ts'
import type { EntityId, EntityType } from '../../../model/entity-id.ts'
import { WholeDouble, type JsonValue } from '../../../model/json.ts'
import { numberOfText } from '../../../model/number-text.ts'
import { rollingNumber } from './script-arguments.ts'

type Place = readonly [type: EntityType, id: string]
type Point = readonly [ts: number, value: JsonValue]
/** The time of defaults among many values: any value is newer. */
const OF_DEFAULTS = 0

/** One argument of one entity. Short names: it is stored with every change. */
export interface Held {
  /** The one value; absent where there is none. Changed in place by {@link takeOver} alone. */
  readonly one?: [ts: number, value: JsonValue]
  /** It is the default. */
  readonly isDefault?: true
  /** Of a window, oldest first. */
  readonly points?: readonly Point[]
  readonly many?: readonly (readonly [Place, Point])[]
  /** Whose values count, where that is asked of owners and relations. */
  readonly sources?: readonly Place[]
}

/** Whose values it has may change while the field stays as it is. */
export function isDynamic({ origin: { from } }: ArgumentNeed): boolean {
  return from === 'owner' || from === 'related'
}

export function held(
  need: ArgumentNeed,
  sources: readonly EntityId[],
  read: readonly (readonly SingleValue[])[],
  now: number,
): Held {
  const places = sources.map(placeOf)
  const known = isDynamic(need) ? { sources: places } : {}
  if (need.type === 'TS_ROLLING') return { ...known, points: (read[0] ?? []).map(rollingPoint) }
  if (need.many === true) {
    const many = places.flatMap((place, index): readonly (readonly [Place, Point])[] => {
      const value = read[index]?.[0]
      return value === undefined ? defaultFor(need, place) : [[place, pointOf(value)]]
    })
    return { ...known, many }
  }
  const value = read.find((values) => values.length > 0)?.[0]
  return value === undefined ? { ...known, ...defaultOf(need, now) } : { ...known, one: pointOf(value) }
}

/** Of one of many. */
function defaultFor(need: ArgumentNeed, place: Place): readonly (readonly [Place, Point])[] {
  const value = defaultValueOf(need)
  return value === undefined ? [] : [[place, [OF_DEFAULTS, value]]]
}

function defaultOf(need: ArgumentNeed, now: number): Held {
  const value = defaultValueOf(need)
  return value === undefined ? {} : { one: [now, value], isDefault: true }
}

/** A number, true or false where the text is one. */
function defaultValueOf({ defaultValue }: ArgumentNeed): JsonValue | undefined {
  if (defaultValue === undefined || defaultValue.trim() === '') return undefined
  const text = defaultValue.trim()
  const number = numberOfText(text)
  if (Number.isFinite(number)) return Number.isInteger(number) ? new WholeDouble(number) : number
  return /^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : defaultValue
}

/** Undefined where the value changes nothing: an older one than is there, or one before the window. */
export function withUpdate(
  need: ArgumentNeed,
  before: Held,
  { ts, value, entity }: ArgumentUpdate,
  now: number,
): Held | undefined {
  if (need.type === 'TS_ROLLING') {
    const points = before.points ?? []
    if (ts < windowStart(need, now)) return undefined
    return { ...before, points: inWindow(need, inserted(points, rollingPoint({ ts, value })), now) }
  }
  if (need.many === true) {
    const others = (before.many ?? []).filter(([place]) => place[1] !== entity.id)
    const own = before.many?.find(([place]) => place[1] === entity.id)
    if (own !== undefined && ts < own[1][0]) return undefined
    const many: Held['many'] = [...others, [placeOf(entity), [ts, value]]]
    return { ...before, many }
  }
  const { one, isDefault, sources } = before
  if (one !== undefined && isDefault !== true && ts < one[0]) return undefined
  return sources === undefined ? { one: [ts, value] } : { sources, one: [ts, value] }
}

/** Has `before` hold the one value of `after`; false where they differ in more, and nothing was done. `after` must be nobody else's. */
export function takeOver(before: Held, after: Held): boolean {
  const { one } = before
  if (one === undefined || after.one === undefined || before.points !== after.points || before.many !== after.many)
    return false
  if (before.isDefault !== after.isDefault || before.sources !== after.sources) return false
  one[0] = after.one[0]
  one[1] = after.one[1]
  return true
}

/** An attribute went: its default counts. */
export function withoutValue(need: ArgumentNeed, before: Held, entity: EntityId, now: number): Held {
  if (need.many === true) {
    const others = (before.many ?? []).filter(([place]) => place[1] !== entity.id)
    return { ...before, many: [...others, ...defaultFor(need, placeOf(entity))] }
  }
  const { sources } = before
  return { ...(sources === undefined ? {} : { sources }), ...defaultOf(need, now) }
}

/** Whether what was read is what is there already. Defaults have the time at which they were read: it does not count. */
export function areSame(read: Readonly<Record<string, Held>>, before: Readonly<Record<string, Held>>): boolean {
  return Object.entries(read).every(([name, held]) => isDeepStrictEqual(timeless(held), timeless(before[name] ?? {})))
}

function timeless(held: Held): Held {
  return held.isDefault === true && held.one !== undefined ? { ...held, one: [OF_DEFAULTS, held.one[1]] } : held
}

/** Points of the same time replace each other. */
function inserted(points: readonly Point[], point: Point): readonly Point[] {
  const place = points.findLastIndex(([ts]) => ts <= point[0])
  const isSame = points[place]?.[0] === point[0]
  return [...points.slice(0, isSame ? place : place + 1), point, ...points.slice(place + 1)]
}

export function windowStart({ timeWindow = 0 }: ArgumentNeed, now: number): number {
  return timeWindow > 0 ? now - timeWindow : 0
}

function inWindow(need: ArgumentNeed, points: readonly Point[], now: number): readonly Point[] {
  const start = windowStart(need, now)
  const inside = points.filter(([ts]) => ts >= start)
  const { limit } = need
  return limit === undefined || limit <= 0 ? inside : inside.slice(-limit)
}

/** Undefined where it has no value. */
export function valueOf(
  need: ArgumentNeed,
  { one, isDefault, points, many }: Held,
  now: number,
): ArgumentValue | undefined {
  if (need.type === 'TS_ROLLING') {
    const inside = inWindow(need, points ?? [], now).map(singleOf)
    return inside.length === 0
      ? undefined
      : { kind: 'rolling', points: inside, from: windowStart(need, now), until: now }
  }
  if (need.many === true)
    return { kind: 'many', of: (many ?? []).map(([place, point]) => ({ entity: entityOf(place), ...singleOf(point) })) }
  if (one === undefined) return undefined
  const [ts, value] = one
  return isDefault === true ? { kind: 'single', ts, value, isDefault } : { kind: 'single', ts, value }
}

export function placeOf({ entityType, id }: EntityId): Place {
  return [entityType, id]
}

export function entityOf([entityType, id]: Place): EntityId {
  return { entityType, id }
}

function pointOf({ ts, value }: SingleValue): [ts: number, value: JsonValue] {
  return [ts, value]
}

/** Only numbers are calculated with: what is none is null, and takes no room. */
function rollingPoint({ ts, value }: SingleValue): Point {
  const number = rollingNumber(value)
  return [ts, Number.isFinite(number) ? number : null]
}

function singleOf([ts, value]: Point): SingleValue {
  return { ts, value }
}

/** Whether values of `from` are ones of the argument. */
export function isSource({ sources }: Held, need: ArgumentNeed, own: EntityId, from: EntityId): boolean {
  switch (need.origin.from) {
    case 'own':
      return from.id === own.id
    case 'entity':
      return from.id === need.origin.entity.id
    default:
      return sources?.some((place) => entityOf(place).id === from.id) === true
  }
}
