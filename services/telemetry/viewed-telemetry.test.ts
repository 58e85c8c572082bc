import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import type { DataPoint } from '../../model/value.ts'
import type { Exposure } from './exposure.ts'
import type { HistoryRequest, TelemetryService } from './telemetry-service.ts'
import { ViewedTelemetry } from './viewed-telemetry.ts'

const VIEW = entityId('ENTITY_VIEW', 'v')
const SOURCE = entityId('DEVICE', 'd')
const point = (key: string, ts: number): DataPoint => ({ key, ts, type: 'LONG', value: ts })
const POINTS = [point('a', 10), point('a', 20), point('a', 30), point('b', 10)]

/** Of the source alone: newest first, cut at the limit. */
class Source implements TelemetryService {
  readonly asked: HistoryRequest[] = []

  async history({ id }: { readonly id: string }, request: HistoryRequest) {
    this.asked.push(request)
    const { keys, startTs, endTs, limit = 100 } = request
    const found = id === SOURCE.id ? POINTS.filter(({ ts }) => ts >= startTs && ts < endTs).toReversed() : []
    const series = keys.map((key) => [key, found.filter((each) => each.key === key).slice(0, limit)] as const)
    return { value: new Map(series.filter(([, points]) => points.length > 0)), sequence: 1 }
  }

  async latest({ id }: { readonly id: string }, keys: readonly string[] = ['a', 'b']) {
    const value = id === SOURCE.id ? [point('a', 30), point('b', 10)].filter(({ key }) => keys.includes(key)) : []
    return { value, sequence: 1 }
  }

  async keys() {
    return ['a', 'b']
  }

  save(): void {}
  async saveByUser(): Promise<void> {}

  async deleteByUser() {
    return { latestRemoved: [] }
  }
}

function viewed(exposure: Partial<Exposure> = {}) {
  const source = new Source()
  const shown = { source: SOURCE, keys: ['a'], startTimeMs: 0, endTimeMs: 0, ...exposure }
  return { source, telemetry: new ViewedTelemetry(source, async (id) => (id === 'v' ? shown : undefined)) }
}

const timesOf = async (telemetry: ViewedTelemetry, startTs: number, endTs: number, keys = ['a', 'b']) => {
  const { value } = await telemetry.history(VIEW, { keys, startTs, endTs })
  return [...value].map(([key, points]) => `${key} ${points.map(({ ts }) => ts).join()}`)
}

test('a view shows the keys that it names, within its time', async () => {
  assert.deepEqual(await timesOf(viewed().telemetry, 0, 100), ['a 30,20,10'])
  const { telemetry } = viewed({ startTimeMs: 10, endTimeMs: 30 })
  assert.deepEqual(await timesOf(telemetry, 0, 100), ['a 20,10'])
  assert.deepEqual(await timesOf(telemetry, 15, 100), ['a 20'])
  assert.deepEqual(await timesOf(telemetry, 30, 100), [])
  assert.deepEqual(await timesOf(telemetry, 0, 100, ['b']), [])
})

test('its latest value is the last one within its time', async () => {
  const latest = async (exposure: Partial<Exposure>, keys?: readonly string[]) =>
    (await viewed(exposure).telemetry.latest(VIEW, keys)).value.map(({ key, ts }) => `${key} ${ts}`)
  assert.deepEqual(await latest({}), ['a 30'])
  assert.deepEqual(await latest({ endTimeMs: 30 }), ['a 20'])
  assert.deepEqual(await latest({ startTimeMs: 31 }), [])
  assert.deepEqual(await latest({}, ['b']), [])
  assert.deepEqual(await latest({ keys: [] }), [])
})

test('its keys are those that it shows something of', async () => {
  assert.deepEqual(await viewed({ keys: ['a', 'absent'] }).telemetry.keys(VIEW), ['a'])
  assert.deepEqual(await viewed({ endTimeMs: 5 }).telemetry.keys(VIEW), [])
})

test('aggregates begin and end where the view does; a bad question is refused all the same', async () => {
  const { source, telemetry } = viewed({ startTimeMs: 10, endTimeMs: 30 })
  await telemetry.history(VIEW, { keys: ['a'], startTs: 0, endTs: 100, agg: 'SUM', interval: 100 })
  const [asked] = source.asked
  assert.deepEqual([asked?.startTs, asked?.endTs], [10, 30])
  const bad = telemetry.history(VIEW, { keys: ['a'], startTs: 0, endTs: 10_000_000, agg: 'SUM', interval: 1 })
  await assert.rejects(bad, { code: 'telemetry.TOO_MANY_INTERVALS' })
})

test('a view that is gone shows nothing', async () => {
  const gone = entityId('ENTITY_VIEW', 'gone')
  const { telemetry } = viewed()
  assert.deepEqual((await telemetry.latest(gone, undefined)).value, [])
  assert.equal((await telemetry.history(gone, { keys: ['a'], startTs: 0, endTs: 9 })).value.size, 0)
})
