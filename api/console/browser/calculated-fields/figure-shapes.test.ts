import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configuration } from '../../../../model/calculated-fields/configuration.ts'
import { newConfiguration } from './field-shapes.js'
import {
  FUNCTIONS,
  INTERVALS,
  followed,
  inUnit,
  intervalOf,
  metricsOf,
  namedMetrics,
  secondsOf,
  storedInterval,
} from './figure-shapes.js'

const METRICS = {
  mean: { function: 'AVG', input: { type: 'key', key: 't' } },
  warm: {
    ...{ function: 'COUNT', filter: 'return t > 20;', defaultValue: 0, note: 'kept' },
    input: { type: 'function', function: 'return 1;' },
  },
}

test('figures and intervals that nobody changes stay as they are', () => {
  assert.deepEqual(namedMetrics(metricsOf(METRICS)), METRICS)
  for (const interval of [
    { type: 'HOUR', tz: 'UTC' },
    { type: 'CUSTOM', tz: 'Europe/Berlin', durationSec: 900, offsetSec: 0, note: 'kept' },
  ])
    assert.deepEqual(storedInterval(interval, intervalOf(interval)), interval)
})

test('an interval of the calendar has no length of its own', () => {
  const custom = { type: 'CUSTOM', tz: 'UTC', durationSec: 900 }
  assert.deepEqual(storedInterval(custom, { ...intervalOf(custom), type: 'DAY' }), { type: 'DAY', tz: 'UTC' })
})

test('every function and interval that is offered is one that the server takes', () => {
  for (const type of ['ENTITY_AGGREGATION', 'RELATED_ENTITIES_AGGREGATION'])
    for (const [fn] of FUNCTIONS) {
      const metrics = { x: { function: fn, input: { type: 'key', key: 't' } } }
      assert(configuration.safeParse({ ...newConfiguration(type), metrics }).success, fn)
    }
  for (const [type] of INTERVALS) {
    const interval = storedInterval({}, { type, zone: 'UTC', durationSec: 900, offsetSec: undefined })
    assert(configuration.safeParse({ ...newConfiguration('ENTITY_AGGREGATION'), interval }).success, type)
  }
})

test('seconds are said in the largest unit of which they are a whole number', () => {
  assert.deepEqual(inUnit(90), { amount: '90', unit: '1' })
  assert.deepEqual(inUnit(900), { amount: '15', unit: '60' })
  assert.deepEqual(inUnit(172_800), { amount: '2', unit: '86400' })
  assert.deepEqual(inUnit(0), { amount: '0', unit: '1' })
  assert.equal(inUnit(undefined).amount, '')
  assert.equal(secondsOf('1.5', '60'), 90)
})

test('an argument is followed by its place, whatever the names are while somebody types', () => {
  assert.equal(followed(['t', 'h'], ['t', 't'], 1), 1)
  assert.equal(followed(['t'], ['t', ''], 0), 0)
  assert.deepEqual(
    [0, 1, 2].map((place) => followed(['a', 'b', 'c'], ['a', 'c'], place)),
    [0, -1, 1],
  )
})
