/** Random histories of writes, deletes, moves, reopens and reads against a model of a few lines, on bounds that force every path. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
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
import { raw, write } from '../contract.ts'
import { Core } from './core.ts'
import { coreOptions, writeOperation } from './testkit.ts'

function checkReads(core: Core, model: Model, reading: Reading, now: number): void {
  const { startTs, endTs, limit, order, agg } = reading
  const borders = bordersOf(reading)
  if (agg !== 'NONE' && borders.length < 2) return
  const found = core.reads.history(reading.entityId, raw(KEYS, { startTs, endTs, limit, order, agg, borders }), now)
  for (const name of KEYS) {
    const expected = expectedPoints(model, name, reading, now)
    assert.deepEqual(plain(found.get(name)), expected, `${agg} of ${reading.entityId}/${name}`)
  }
}

function checkLatest(core: Core, model: Model): void {
  for (const name of ENTITIES) {
    const found = [...core.reads.latest(name, undefined)].flatMap(([, points]) => plain(points))
    const expected = plain(expectedLatest(model, name).map((point) => ({ ...point, expiresAt: 0 })))
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
          core.deleteEntity(ENTITY, now)
          model.dropEntity(ENTITY)
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
    write: write(ENTITY, [{ key: 'x', ts: second, type: 'LONG', value }], { ttlSeconds }),
  })
  const look: Step = {
    kind: 'read',
    entityId: ENTITY,
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
