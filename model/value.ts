/**
 * Typed values of telemetry and attributes. The type is the sender's, read off the text of the JSON it sent:
 * `2` is a LONG, `2.0` a DOUBLE, and a 64-bit integer keeps every digit. Source: `rule-engine.md` 1.3, `device-api.md` 2.3.
 */

/** A LONG's value is a `number` while it is a safe integer, and a `bigint` beyond that: compare with {@link sameValue}. */
export type TypedValue =
  | { readonly type: 'BOOLEAN'; readonly value: boolean }
  | { readonly type: 'LONG'; readonly value: number | bigint }
  | { readonly type: 'DOUBLE'; readonly value: number }
  | { readonly type: 'STRING'; readonly value: string }
  /** `value` is the JSON text of an object or an array. */
  | { readonly type: 'JSON'; readonly value: string }

export type ValueType = TypedValue['type']

/** A key with its typed value: what an upload holds before it has a time or a scope. */
export type Entry = TypedValue & { readonly key: string }

/** One telemetry point; its identity is (entity, key, ts), `ts` in Unix milliseconds (may be negative). */
export type DataPoint = Entry & { readonly ts: number }

/** Points that somebody is to store. */
export interface PointsToStore {
  readonly points: readonly DataPoint[]
  /** Set where all points have one time, `ts`. Who reads these instead of `points` spares an object for each point. */
  readonly entries?: readonly Entry[] | undefined
  readonly ts?: number | undefined
}

/** How many points there are; makes none of them. */
export function countOf(points: PointsToStore): number {
  return (points.entries ?? points.points).length
}

/** The last `ts` that a date can name, and that the stores take; before 1970 the first is as far. */
export const LAST_TS = 8.64e15

/** One attribute as stored; `lastUpdateTs` in Unix milliseconds. */
export type Attribute = Entry & { readonly lastUpdateTs: number }

export const ATTRIBUTE_SCOPES = ['CLIENT_SCOPE', 'SERVER_SCOPE', 'SHARED_SCOPE'] as const
export type AttributeScope = (typeof ATTRIBUTE_SCOPES)[number]

/** Entries that share one time: one element of a telemetry upload, and one rule-engine message. */
export interface TelemetryGroup {
  readonly ts: number
  readonly entries: readonly Entry[]
}

const LONG_MIN = -(2n ** 63n)
const LONG_MAX = 2n ** 63n - 1n

export function fitsLong(value: bigint): boolean {
  return value >= LONG_MIN && value <= LONG_MAX
}

/** The smallest representation of a LONG: a `number` where that is exact. */
export function longValue(value: bigint): number | bigint {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value
}

export function sameValue(a: TypedValue, b: TypedValue): boolean {
  return a.type === b.type && (a.value === b.value || (a.type === 'DOUBLE' && Object.is(a.value, b.value)))
}
