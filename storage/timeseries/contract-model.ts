/**
 * The whole truth about a time-series store in a few lines, and random histories of writes, deletes and reads: a store's own
 * test runs them on both and compares.
 */
import fc from 'fast-check'
import { AGGREGATIONS, type Aggregation } from '../../model/telemetry-query.ts'
import type { DataPoint, TypedValue } from '../../model/value.ts'
import { Aggregate } from './embedded/aggregate.ts'
import type { StoredPoint } from './embedded/point.ts'
import type { DeleteRange, PointsWrite } from './store.ts'

export const ENTITY = '00000000-0000-4000-8000-00000000000a'
export const ENTITIES = [ENTITY, '00000000-0000-4000-8000-00000000000b']
export const KEYS = ['x', 'y']
const SPAN = 4000

/** Every point by identity, and the latest value by version. */
export class Model {
  readonly points = new Map<string, Map<number, { value: TypedValue; expiresAt: number }>>()
  readonly latest = new Map<string, { point: DataPoint; version: number }>()
  maxSequence = 0

  write({ entityId, points, sequence, ttlSeconds, history, latest }: PointsWrite, now: number): void {
    this.maxSequence = Math.max(this.maxSequence, sequence)
    const version = sequence === 0 ? this.maxSequence + 0.5 : sequence
    for (const { key, ts, ...value } of points) {
      const id = `${entityId}/${key}`
      const expiresAt = ttlSeconds === 0 ? Infinity : now + ttlSeconds * 1000
      if (history) this.of(id).set(ts, { value, expiresAt })
      const held = this.latest.get(id)
      const newer = held === undefined || ts > held.point.ts || (ts === held.point.ts && version >= held.version)
      if (latest && newer) this.latest.set(id, { point: { key, ts, ...value }, version })
    }
  }

  delete({ entityId, keys, startTs, endTs, deleteLatest, rewriteLatest }: DeleteRange, now: number): void {
    for (const key of keys) {
      const id = `${entityId}/${key}`
      for (const ts of [...this.of(id).keys()]) if (ts >= startTs && ts < endTs) this.of(id).delete(ts)
      const held = this.latest.get(id)
      if (!deleteLatest || held === undefined || held.point.ts < startTs || held.point.ts >= endTs) continue
      this.latest.delete(id)
      const older = this.live(id, key, now).findLast(({ ts }) => ts < startTs)
      if (rewriteLatest && older !== undefined) this.latest.set(id, { point: older, version: 0 })
    }
  }

  dropEntity(entityId: string): void {
    for (const key of KEYS) {
      this.points.delete(`${entityId}/${key}`)
      this.latest.delete(`${entityId}/${key}`)
    }
  }

  of(id: string) {
    const found = this.points.get(id) ?? new Map<number, { value: TypedValue; expiresAt: number }>()
    this.points.set(id, found)
    return found
  }

  live(id: string, key: string, now: number): DataPoint[] {
    const alive = [...this.of(id)].filter(([, { expiresAt }]) => expiresAt > now)
    return alive.sort(([a], [b]) => a - b).map(([ts, { value }]) => ({ key, ts, ...value }))
  }
}

const typedValue: fc.Arbitrary<TypedValue> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('LONG' as const), value: fc.integer({ min: -9, max: 9 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('DOUBLE' as const),
      value: fc.integer({ min: -9, max: 9 }).map((n) => n / 2),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('STRING' as const), value: fc.constantFrom('p', 'q', '') }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('BOOLEAN' as const), value: fc.boolean() }) },
)
const key = fc.constantFrom(...KEYS)
const entityId = fc.constantFrom(ENTITY, ENTITY, ...ENTITIES)
const ts = fc.integer({ min: -100, max: SPAN })
const scattered = fc.array(
  fc.tuple(key, ts, typedValue).map(([name, at, value]) => ({ key: name, ts: at, ...value })),
  { maxLength: 12 },
)
/** Long runs, in order or backwards, fill chunks and lie over them. */
const run = fc
  .record({
    key,
    start: ts,
    count: fc.integer({ min: 100, max: 1500 }),
    step: fc.constantFrom(1, 3, -2),
    value: typedValue,
  })
  .map(({ key: name, start, count, step, value }) =>
    Array.from({ length: count }, (_, index): DataPoint => ({ key: name, ts: start + index * step, ...value })),
  )
const writing: fc.Arbitrary<{ kind: 'write'; write: PointsWrite }> = fc.record({
  kind: fc.constant('write' as const),
  write: fc.record({
    entityId,
    points: fc.oneof({ weight: 3, arbitrary: scattered }, { weight: 2, arbitrary: run }),
    sequence: fc.nat(20),
    ttlSeconds: fc.constantFrom(0, 0, 0, 2),
    history: fc.constantFrom(true, true, true, false),
    latest: fc.boolean(),
  }),
})
const deleting = fc.record({
  kind: fc.constant('delete' as const),
  range: fc.record({
    entityId,
    keys: fc.uniqueArray(key, { minLength: 1 }),
    startTs: ts,
    endTs: ts,
    deleteLatest: fc.boolean(),
    rewriteLatest: fc.boolean(),
  }),
})
const other = fc.constantFrom(
  { kind: 'tidy' as const },
  { kind: 'pack' as const },
  { kind: 'reopen' as const },
  { kind: 'later' as const },
  { kind: 'dropEntity' as const },
)
const reading = fc.record({
  kind: fc.constant('read' as const),
  entityId,
  startTs: fc.oneof(fc.constant(-10_000), ts),
  endTs: fc.oneof(fc.constant(20_000), ts),
  limit: fc.integer({ min: 1, max: 2000 }),
  order: fc.constantFrom('ASC' as const, 'DESC' as const),
  agg: fc.constantFrom(...AGGREGATIONS),
  width: fc.oneof(fc.integer({ min: 100, max: 3000 }), fc.constant(40_000)),
})
export const step = fc.oneof(
  { weight: 5, arbitrary: writing },
  { weight: 1, arbitrary: deleting },
  { weight: 3, arbitrary: other },
  { weight: 6, arbitrary: reading },
)
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never
export type Reading = Extract<Step, { kind: 'read' }>

export const plain = (points: readonly StoredPoint[] | undefined) =>
  (points ?? []).map((point) => [point.ts, point.type, String(point.value)].join(' '))

export function bordersOf({ startTs, endTs, width }: Reading): number[] {
  const borders: number[] = []
  for (let at = startTs; at < endTs; at += width) borders.push(at)
  return [...borders, endTs]
}

function expectedBuckets(
  points: readonly DataPoint[],
  borders: readonly number[],
  agg: Exclude<Aggregation, 'NONE'>,
): string[] {
  return borders.slice(0, -1).flatMap((start, index) => {
    const end = borders[index + 1] ?? start
    const bucket = new Aggregate()
    for (const point of points) if (point.ts >= start && point.ts < end) bucket.add(point.type, point.value)
    const value = bucket.result(agg)
    return value === undefined
      ? []
      : [[start + Math.floor((end - start) / 2), value.type, String(value.value)].join(' ')]
  })
}

/** What a reading of one key must answer, as {@link plain} writes it. */
export function expectedPoints(model: Model, key: string, reading: Reading, now: number): string[] {
  const { startTs, endTs, limit, order, agg } = reading
  const all = model
    .live(`${reading.entityId}/${key}`, key, now)
    .filter((point) => point.ts >= startTs && point.ts < endTs)
  if (agg !== 'NONE') return expectedBuckets(all, bordersOf(reading), agg)
  const wanted = (order === 'ASC' ? all : all.reverse()).slice(0, limit)
  return plain(wanted.map((point) => ({ ...point, expiresAt: 0 })))
}

/** The latest values of an entity, in the order of keys. */
export function expectedLatest(model: Model, entityId: string): DataPoint[] {
  return KEYS.flatMap((key) => model.latest.get(`${entityId}/${key}`)?.point ?? [])
}
