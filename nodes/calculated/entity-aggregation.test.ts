import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { stringifyJson, parseJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import { DEVICE, opened, single, stepOf } from './testkit.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
const START = Date.parse('2024-07-01T10:00:00Z')

const of = (name: string, more: JsonObject = {}) => ({ function: name, input: { type: 'key', key: 't' }, ...more })
const ALL = {
  min: of('MIN'),
  max: of('MAX'),
  sum: of('SUM'),
  avg: of('AVG'),
  count: of('COUNT'),
  kinds: of('COUNT_UNIQUE'),
}

/** An entity with the field: values and timers in the order of their times. */
class Entity {
  wakeAt: number | undefined
  /** What was told, in its order: `<start of the interval> <values>`. */
  readonly told: string[] = []
  private state: JsonValue = null
  private readonly field: ReturnType<typeof opened>

  constructor(metrics: JsonObject, more: JsonObject = {}) {
    const configuration = {
      type: 'ENTITY_AGGREGATION',
      arguments: { t: { refEntityKey: { key: 'temperature', type: 'TS_LATEST' } } },
      metrics,
      interval: { type: 'HOUR', tz: 'UTC' },
      output: { type: 'TIME_SERIES', decimalsByDefault: 2 },
      ...more,
    }
    this.field = opened(configuration, {
      limit: (name) => (name === 'cfReevaluationCheckInterval' ? 60 : 300),
      compileWithArguments: () => (args) => args['t']?.kind === 'single' && Number(args['t'].value) > 10,
    })
  }

  begin(now: number): this {
    this.step({ cause: 'begin', now })
    return this
  }

  value(value: JsonValue, ts: number, now = ts): void {
    this.until(now)
    this.step({ now, args: { t: single(value, ts) }, updates: [{ name: 't', ts, value, entity: DEVICE }] })
  }

  until(now: number): void {
    while (this.wakeAt !== undefined && this.wakeAt <= now) this.step({ cause: 'wake', now: this.wakeAt })
  }

  private step(input: Parameters<typeof stepOf>[1]): void {
    const { state, results, wakeAt } = stepOf(this.field, input, this.state)
    this.state = parseJson(JSON.stringify(state))
    this.wakeAt = wakeAt
    for (const result of results) {
      assert(result.kind === 'values')
      this.told.push(`${((result.ts ?? 0) - START) / HOUR} ${stringifyJson(result.values)}`)
    }
  }
}

describe('aggregation of an entity by time', () => {
  test('every function, once, when the interval ends', () => {
    const entity = new Entity(ALL)
    for (const [index, value] of [3, 0.1, 0.2, 3].entries()) entity.value(value, START + index * MINUTE)
    entity.until(START + HOUR - 1)
    assert.deepEqual(entity.told, [])
    entity.until(START + 3 * HOUR)
    assert.deepEqual(entity.told, ['0 {"min":0.1,"max":3.0,"sum":6.3,"avg":1.58,"count":4,"kinds":3}'])
    assert.equal(entity.wakeAt, undefined)
  })

  test('values before the watermark are told of again, later ones are left out', () => {
    const entity = new Entity({ sum: of('SUM') }, { watermark: { duration: 600 } })
    entity.value(1, START)
    entity.value(2, START + 1, START + HOUR + 5 * MINUTE)
    entity.value(4, START + 2, START + HOUR + 5 * MINUTE + 1)
    entity.value(8, START + 3, START + HOUR + 10 * MINUTE)
    entity.until(START + 3 * HOUR)
    assert.deepEqual(entity.told, ['0 {"sum":1.0}', '0 {"sum":3.0}', '0 {"sum":7.0}'])
  })

  test('intermediate results come as often as the tenant may have them', () => {
    const entity = new Entity({ count: of('COUNT') }, { produceIntermediateResult: true })
    for (let minute = 0; minute < 12; minute++) entity.value(1, START + minute * MINUTE)
    entity.until(START + HOUR)
    assert.deepEqual(entity.told, ['0 {"count":1}', '0 {"count":5}', '0 {"count":10}', '0 {"count":12}'])
  })

  test('an interval without values has the default, one without a default is not told of', () => {
    const entity = new Entity({ max: of('MAX', { defaultValue: 7 }), count: of('COUNT') }).begin(START)
    entity.until(START + 2 * HOUR)
    assert.deepEqual(entity.told, ['0 {"max":7.0}', '1 {"max":7.0}'])
    assert.equal(new Entity({ max: of('MAX') }).begin(START).wakeAt, undefined)
  })

  test('a filter says which values count', () => {
    const entity = new Entity({ count: of('COUNT', { filter: 'return t > 10;' }) })
    for (const value of [5, 15, 25]) entity.value(value, START + value)
    entity.until(START + HOUR)
    assert.deepEqual(entity.told, ['0 {"count":2}'])
  })

  test('what is no number can be counted, not added', () => {
    assert.throws(() => new Entity({ sum: of('SUM') }).value('warm', START), { code: 'node.VALUE_INVALID' })
  })

  test('what was told last of each interval is what a plain look at all values in time gives', () => {
    const event = fc.record({
      value: fc.integer({ min: -50, max: 50 }),
      lateMinutes: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 180 })),
      afterMinutes: fc.integer({ min: 0, max: 40 }),
    })
    const watermarks = fc.integer({ min: 0, max: 90 })
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), watermarks, fc.boolean(), (events, watermark, isIntermediate) => {
        const more = { watermark: { duration: watermark * 60 }, produceIntermediateResult: isIntermediate }
        const entity = new Entity({ sum: of('SUM'), count: of('COUNT'), kinds: of('COUNT_UNIQUE') }, more)
        const expected = new Map<number, number[]>()
        let now = START
        for (const { value, lateMinutes, afterMinutes } of events) {
          now += afterMinutes * MINUTE
          const ts = now - lateMinutes * MINUTE
          entity.value(value, ts, now)
          const hour = Math.floor((ts - START) / HOUR)
          const isInTime = now < START + (hour + 1) * HOUR + watermark * MINUTE
          if (isInTime) expected.set(hour, [...(expected.get(hour) ?? []), value])
        }
        entity.until(now + 10 * HOUR)
        const last = new Map(entity.told.map((text) => [Number(text.split(' ')[0]), text.slice(text.indexOf(' ') + 1)]))
        assert.deepEqual(
          [...last].toSorted(([one], [other]) => one - other),
          [...expected].toSorted(([one], [other]) => one - other).map(([hour, values]) => [hour, plain(values)]),
        )
      }),
      { numRuns: 300 },
    )
  })
})

function plain(values: readonly number[]): string {
  const sum = values.reduce((one, other) => one + other, 0)
  return `{"sum":${sum}.0,"count":${values.length},"kinds":${new Set(values).size}}`
}
