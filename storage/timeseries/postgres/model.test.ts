/** Random histories of writes, deletes, expiries and reads against the model that the embedded store is held to. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Clock } from '../../../model/clock.ts'
import { emptyDatabase, serverForFile } from '../../postgres/testkit.ts'
import {
  bordersOf,
  ENTITIES,
  ENTITY,
  expectedLatest,
  expectedPoints,
  KEYS,
  Model,
  plain,
  step,
  type Reading,
  type Step,
} from '../contract-model.ts'
import { raw } from '../contract.ts'
import { openPostgresTimeSeries, type PostgresTimeSeries } from './store.ts'

const server = await serverForFile()

/** Moved by hand; its timers never run. */
class HandClock implements Clock {
  time = 1_000_000

  now(): number {
    return this.time
  }

  monotonic(): number {
    return this.time
  }

  after(): { cancel(): void } {
    return { cancel: () => undefined }
  }

  soon(run: () => void): void {
    setImmediate(run)
  }
}

const noExpiry = { expiresAt: 0 }

async function checkReads(store: PostgresTimeSeries, model: Model, reading: Reading, now: number): Promise<void> {
  const { startTs, endTs, limit, order, agg } = reading
  const borders = bordersOf(reading)
  if (agg !== 'NONE' && borders.length < 2) return
  const { value } = await store.history(reading.entityId, raw(KEYS, { startTs, endTs, limit, order, agg, borders }))
  for (const key of KEYS) {
    const found = plain(value.get(key)?.map((point) => ({ ...point, ...noExpiry })))
    assert.deepEqual(found, expectedPoints(model, key, reading, now), `${agg} of ${reading.entityId}/${key}`)
  }
}

async function checkLatest(store: PostgresTimeSeries, model: Model): Promise<void> {
  for (const entity of ENTITIES) {
    const { value } = await store.latest(entity, undefined)
    assert.deepEqual(value, expectedLatest(model, entity), `latest of ${entity}`)
  }
}

async function runSteps(store: PostgresTimeSeries, clock: HandClock, steps: readonly Step[]): Promise<void> {
  const model = new Model()
  for (const entity of ENTITIES) await store.deleteEntity(entity)
  // Sequences of messages rise: which older ones are refused is kept by row here, and has tests of its own.
  let sequence = 0
  for (const each of steps) {
    switch (each.kind) {
      case 'write': {
        const write = { ...each.write, sequence: each.write.sequence === 0 ? 0 : ++sequence }
        await store.write([write])
        model.write(write, clock.time)
        break
      }
      case 'delete':
        await store.delete({ ...each.range })
        model.delete(each.range, clock.time)
        break
      case 'dropEntity':
        await store.deleteEntity(ENTITY)
        model.dropEntity(ENTITY)
        break
      case 'later':
        clock.time += 1500
        break
      case 'tidy':
      case 'pack':
      case 'reopen':
        await store.cleanUp()
        break
      case 'read':
        await checkReads(store, model, each, clock.time)
    }
    await checkLatest(store, model)
  }
}

test(
  'answers as the model does, whatever is written, deleted, expired and cleaned before',
  { skip: server === undefined },
  async (context) => {
    assert.ok(server !== undefined)
    const clock = new HandClock()
    const store = await openPostgresTimeSeries({
      url: await emptyDatabase(server),
      applicationName: 'test',
      clock,
      partitioning: 'DAYS',
    })
    context.after(() => store.close())
    const histories = fc.array(step, { minLength: 5, maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(histories, (steps) => runSteps(store, clock, steps)),
      { numRuns: 30 },
    )
  },
)
