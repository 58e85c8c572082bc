/** Random histories of writes, deletes, moves, reopens and reads against a model of a few lines, on bounds that force every path. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { AGGREGATIONS, type Aggregation } from '../../../model/telemetry-query.ts'
import type { DataPoint, TypedValue } from '../../../model/value.ts'
import { raw, write } from '../contract.ts'
import type { DeleteRange, PointsWrite } from '../store.ts'
import { Aggregate } from './aggregate.ts'
import { Core } from './core.ts'
import type { StoredPoint } from './point.ts'
import { coreOptions, writeOperation } from './testkit.ts'

const ENTITIES = ['a', 'b']
const KEYS = ['x', 'y']
const SPAN = 4000

/** The whole truth: every point by identity, and the latest value by version. */
class Model {
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
const entityId = fc.constantFrom('a', 'a', 'a', 'b')
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
const step = fc.oneof(
  { weight: 5, arbitrary: writing },
  { weight: 1, arbitrary: deleting },
  { weight: 3, arbitrary: other },
  { weight: 6, arbitrary: reading },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never
type Reading = Extract<Step, { kind: 'read' }>

const plain = (points: readonly StoredPoint[] | undefined) =>
  (points ?? []).map((point) => [point.ts, point.type, String(point.value)].join(' '))

function bordersOf({ startTs, endTs, width }: Reading): number[] {
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

function checkReads(core: Core, model: Model, reading: Reading, now: number): void {
  const { startTs, endTs, limit, order, agg } = reading
  const borders = bordersOf(reading)
  if (agg !== 'NONE' && borders.length < 2) return
  const found = core.history(reading.entityId, raw(KEYS, { startTs, endTs, limit, order, agg, borders }), now)
  for (const name of KEYS) {
    const all = model
      .live(`${reading.entityId}/${name}`, name, now)
      .filter((point) => point.ts >= startTs && point.ts < endTs)
    const wanted = (order === 'ASC' ? all : all.reverse()).slice(0, limit)
    const expected =
      agg === 'NONE' ? plain(wanted.map((point) => ({ ...point, expiresAt: 0 }))) : expectedBuckets(all, borders, agg)
    assert.deepEqual(plain(found.get(name)), expected, `${agg} of ${reading.entityId}/${name}`)
  }
}

function checkLatest(core: Core, model: Model): void {
  for (const name of ENTITIES) {
    const found = [...core.latest(name, undefined)].map(([found, points]) => `${found} ${plain(points).join()}`)
    const expected = KEYS.flatMap((key) => {
      const held = model.latest.get(`${name}/${key}`)
      return held === undefined ? [] : [`${key} ${plain([{ ...held.point, expiresAt: 0 }]).join()}`]
    })
    assert.deepEqual(found, expected, `latest of ${name}`)
  }
}

function runSteps(steps: readonly Step[]): void {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-timeseries-'))
  const options = coreOptions(directory, {
    logSoftBytes: 4000,
    logHardBytes: 30_000,
    segmentBytes: 3000,
    maxEntities: 1,
  })
  const model = new Model()
  let now = 1_000_000
  let core = new Core(options, now)
  try {
    for (const step of steps) {
      switch (step.kind) {
        case 'write':
          core.write(writeOperation([step.write], now), now)
          model.write(step.write, now)
          break
        case 'delete':
          core.delete(step.range, now)
          model.delete(step.range, now)
          break
        case 'dropEntity':
          core.deleteEntity('a', now)
          for (const name of KEYS) {
            model.points.delete(`a/${name}`)
            model.latest.delete(`a/${name}`)
          }
          break
        case 'tidy':
          core.tidy(now)
          break
        case 'pack':
          core.moveAll(now)
          break
        case 'reopen':
          core.close()
          core = new Core(options, now)
          break
        case 'later':
          now += 1500
          break
        case 'read':
          checkReads(core, model, step, now)
      }
      checkLatest(core, model)
    }
    assert.equal(core.figures().moveFailure, undefined)
  } finally {
    core.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

test('answers as the model does, whatever is written, deleted, moved, reopened and expired before', () => {
  fc.assert(fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), runSteps), { numRuns: 60 })
})

test('a point that outlived its time is gone, and what it overwrote stays gone', () => {
  const at = (second: number, value: number, ttlSeconds: number): Step => ({
    kind: 'write',
    write: write('a', [{ key: 'x', ts: second, type: 'LONG', value }], { ttlSeconds }),
  })
  const look: Step = {
    kind: 'read',
    entityId: 'a',
    startTs: 0,
    endTs: 10,
    limit: 9,
    order: 'ASC',
    agg: 'NONE',
    width: 9,
  }
  const later: Step = { kind: 'later' }
  for (const between of ['tidy', 'pack', 'reopen'] as const) {
    runSteps([
      at(1, 1, 0),
      { kind: between },
      at(1, 2, 2),
      look,
      { kind: between },
      later,
      look,
      later,
      look,
      { kind: between },
      look,
    ])
  }
})
