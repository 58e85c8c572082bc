import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StepInput } from '../../model/calculated-fields/kind.ts'
import { WholeDouble, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import { DEVICE, opened, single, stepOf } from './testkit.ts'

function field(changes: JsonObject = {}, output: JsonObject = {}) {
  return opened({
    type: 'SIMPLE',
    arguments: {
      t: { refEntityKey: { key: 'temperature', type: 'TS_LATEST' } },
      u: { refEntityKey: { key: 'offset', type: 'ATTRIBUTE' }, defaultValue: '1' },
    },
    expression: 't * 2 + u',
    output: { type: 'TIME_SERIES', name: 'out', ...output },
    ...changes,
  })
}

function resultOf(given: JsonValue, output: JsonObject, changes: JsonObject = {}): string {
  const { results } = stepOf(field(changes, output), { args: { t: single(given, 7), u: single(1, 9) } })
  const [result] = results
  assert(result?.kind === 'values')
  return `${stringifyJson(result.values)} at ${result.ts ?? 'now'}`
}

test('a simple field is rounded as its output says', () => {
  assert.equal(resultOf(new WholeDouble(38), {}), '{"out":77.0} at now')
  assert.equal(resultOf(38, { decimalsByDefault: 0 }), '{"out":77} at now')
  assert.equal(resultOf(0.7525, { decimalsByDefault: 2 }), '{"out":2.51} at now')
  assert.equal(resultOf(2, { decimalsByDefault: 2 }), '{"out":5.0} at now')
  assert.equal(resultOf(0.7525, { decimalsByDefault: -1 }), '{"out":0.0} at now')
})

test('a simple field has the newest time of its arguments where that is asked', () => {
  assert.equal(resultOf(1, {}, { useLatestTs: true }), '{"out":3.0} at 9')
})

test('the time of a default counts where there is nothing else', () => {
  const byDefault = (ts: number) => ({ kind: 'single', ts, value: 1, isDefault: true }) as const
  const timeOf = (given: StepInput['args']) => {
    const [result] = stepOf(field({ useLatestTs: true }), { args: given }).results
    return result?.kind === 'values' ? result.ts : undefined
  }
  assert.equal(timeOf({ t: single(1, 7), u: byDefault(9) }), 7)
  assert.equal(timeOf({ t: byDefault(5), u: byDefault(9) }), 9)
})

test('values that are older than those that count are no cause for a result', () => {
  const args = { t: single(3, 7), u: single(1, 9) }
  const stepWith = (...times: readonly number[]) =>
    stepOf(field(), { args, updates: times.map((ts) => ({ name: 't', ts, value: 3, entity: DEVICE })) })
  assert.deepEqual([stepWith(6).results, stepWith(6).isUnchanged], [[], true])
  for (const times of [[7], [6, 7], []]) assert.equal(stepWith(...times).results.length, 1)
  const older = { name: 't', ts: 6, value: 3, entity: DEVICE }
  const read = stepOf(field(), { args, updates: [older], isRead: true })
  assert.equal(read.results.length, 1, 'what was read for the step has no result yet')
})

test('a text that is a number counts, true and false too, all else fails', () => {
  assert.equal(resultOf('2.5', {}), '{"out":6.0} at now')
  assert.equal(resultOf(true, {}), '{"out":3.0} at now')
  for (const given of [[1], 'warm', '', null]) assert.throws(() => resultOf(given, {}), /t/)
  assert.throws(() => resultOf(1, {}, { expression: 't / (u - 1)' }), /Infinity/)
})

test('a simple field says what it needs', () => {
  assert.deepEqual(field().needs.arguments['u'], {
    ...{ origin: { from: 'own' }, key: 'offset', type: 'ATTRIBUTE', scope: undefined },
    ...{ defaultValue: '1', limit: undefined, timeWindow: undefined },
  })
})

test('an expression that is none does not open', () => {
  assert.throws(() => field({ expression: 't *' }))
})
