import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { StepInput } from '../../model/calculated-fields/kind.ts'
import { stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import { aggregated } from './aggregation.ts'
import { opened, stepOf } from './testkit.ts'

const latest = (key: string) => ({ refEntityKey: { key, type: 'TS_LATEST' } })
const of = (name: string, more: JsonObject = {}) => ({ function: name, input: { type: 'key', key: 't' }, ...more })

function field(metrics: JsonObject, more: JsonObject = {}) {
  const configuration = {
    type: 'RELATED_ENTITIES_AGGREGATION',
    arguments: { t: latest('temperature'), on: latest('on') },
    relation: { direction: 'FROM', relationType: 'Contains' },
    metrics,
    deduplicationIntervalInSec: 10,
    output: { type: 'TIME_SERIES' },
    ...more,
  }
  return opened(configuration, {
    compileWithArguments: (expression) => (args) => {
      const value = args[expression === 'on' ? 'on' : 't']
      return value?.kind === 'single' ? (expression === 'on' ? value.value === true : Number(value.value) * 2) : null
    },
  })
}

/** One related entity each. */
function argsOf(...values: readonly JsonObject[]): StepInput['args'] {
  const named = (name: string) =>
    values.flatMap((one, index) => {
      const value = one[name]
      const entity = { entityType: 'DEVICE', id: `entity ${index}` } as const
      return value === undefined ? [] : [{ entity, ts: 1000 + index, value }]
    })
  return { t: { kind: 'many', of: named('t') }, on: { kind: 'many', of: named('on') } }
}

function told(configured: ReturnType<typeof field>, input: Partial<StepInput>, state: JsonValue = null): string {
  const [result] = stepOf(configured, input, state).results
  if (result === undefined) return ''
  assert(result.kind === 'values')
  return `${stringifyJson(result.values)} at ${result.ts ?? 'now'}`
}

describe('aggregation over related entities', () => {
  test('every function, with filter and input function', () => {
    const metrics = {
      ...{
        min: of('MIN'),
        max: of('MAX'),
        sum: of('SUM'),
        avg: of('AVG'),
        count: of('COUNT'),
        kinds: of('COUNT_UNIQUE'),
      },
      on: of('COUNT', { filter: 'on' }),
      double: of('SUM', { input: { type: 'function', function: 'double' } }),
    }
    const args = argsOf({ t: -0.1, on: true }, { t: -0.2, on: false }, { t: '-0.2' }, { on: true })
    const expected = '{"min":-0.2,"max":-0.1,"sum":-0.5,"avg":-0.17,"count":3,"kinds":2,"on":1,"double":-1.0}'
    assert.equal(
      told(field(metrics, { output: { type: 'TIME_SERIES', decimalsByDefault: 2 } }), { args }),
      `${expected} at now`,
    )
  })

  test('of nothing there is the default, or nothing', () => {
    const metrics = { max: of('MAX', { filter: 'on' }), other: of('MIN', { filter: 'on', defaultValue: 7 }) }
    assert.equal(told(field(metrics), { args: argsOf({ t: 1, on: false }) }), '{"other":7.0} at now')
    assert.equal(told(field({ count: of('COUNT') }), { args: argsOf() }), '')
  })

  test('has the newest time where that is asked', () => {
    const args = argsOf({ t: 1 }, { t: 2 })
    assert.equal(told(field({ max: of('MAX') }, { useLatestTs: true }), { args }), '{"max":2.0} at 1001')
  })

  test('values within the interval are calculated together, at its end', () => {
    const configured = field({ sum: of('SUM') })
    const first = stepOf(configured, { args: argsOf({ t: 1 }), now: 5000 })
    assert.equal(first.results.length, 1)
    const second = stepOf(configured, { args: argsOf({ t: 2 }), now: 8000 }, first.state)
    assert.deepEqual([second.results, second.wakeAt], [[], 15_000])
    const third = stepOf(configured, { args: argsOf({ t: 2 }), now: 15_000, cause: 'wake' }, second.state)
    assert.equal(third.results.length, 1)
    assert.equal(third.wakeAt, undefined)
    assert.deepEqual(
      stepOf(configured, { args: argsOf({ t: 2 }), now: 26_000, cause: 'wake' }, third.state).results,
      [],
    )
  })

  test('who comes or goes is counted at once; entities that were only read again are no news', () => {
    const configured = field({ count: of('COUNT') })
    const { state } = stepOf(configured, { args: argsOf({ t: 1 }, { t: 2 }), now: 5000 })
    const reload = { cause: 'reload', now: 5001 } as const
    assert.equal(told(configured, { args: argsOf({ t: 1 }, { t: 2 }), ...reload }, state), '')
    assert.equal(told(configured, { args: argsOf({ t: 1 }), ...reload }, state), '{"count":1} at now')
    assert.equal(told(configured, { args: argsOf(), ...reload }, state), '{"count":0} at now')
  })

  test('what is no number can be counted, not added', () => {
    assert.throws(() => told(field({ sum: of('SUM') }), { args: argsOf({ t: 'warm' }) }), {
      code: 'node.VALUE_INVALID',
    })
    assert.equal(told(field({ count: of('COUNT') }), { args: argsOf({ t: 'warm' }) }), '{"count":1} at now')
  })

  test('sums are exact, as written', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1_000_000, max: 1_000_000 }), { minLength: 1, maxLength: 50 }),
        (cents) => {
          const values = cents.map((each) => ({ type: 'DOUBLE', value: each / 100 }) as const)
          const sum = cents.reduce((one, other) => one + other) / 100
          assert.equal(Number(aggregated('SUM', 'x', values, undefined)), sum + 0)
        },
      ),
    )
  })
})
