import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StepResult } from '../../model/calculated-fields/kind.ts'
import type { JsonValue } from '../../model/json.ts'
import { DEVICE, opened, single, stepOf } from './testkit.ts'

const CONFIGURATION = {
  type: 'SCRIPT',
  arguments: { t: { refEntityKey: { key: 'temp', type: 'TS_LATEST' } } },
  expression: 'return {};',
  output: { type: 'TIME_SERIES' },
}

function resultsOf(returned: JsonValue): readonly StepResult[] {
  const field = opened(CONFIGURATION, { compileWithArguments: () => () => returned })
  return stepOf(field, { args: { t: single(4) } }).results
}

test('a script answers an object, one with its time, or several', () => {
  const result = (values: Record<string, number>, ts?: number) => ({ kind: 'values', entity: DEVICE, values, ts })
  assert.deepEqual(resultsOf({ a: 1 }), [result({ a: 1 })])
  assert.deepEqual(resultsOf({ ts: 7, values: { a: 1 } }), [result({ a: 1 }, 7)])
  assert.deepEqual(resultsOf({ ts: '7', values: { a: 1 } }), [result({ a: 1 }, 7)])
  assert.deepEqual(resultsOf([{ a: 1 }, {}, { ts: 8, values: { b: 2 } }]), [result({ a: 1 }), result({ b: 2 }, 8)])
  assert.deepEqual(resultsOf({ ts: 7, a: 1 }), [result({ ts: 7, a: 1 })])
})

test('a value that is older than the one that counts is no cause for a result', () => {
  const refuse = (): never => assert.fail('it was calculated')
  const field = opened(CONFIGURATION, { compileWithArguments: () => refuse })
  const older = { name: 't', ts: 900, value: 4, entity: DEVICE }
  assert.deepEqual(stepOf(field, { args: { t: single(4) }, updates: [older] }).results, [])
})

test('an empty answer comes to nothing, one of another kind fails', () => {
  for (const empty of [{}, [], null, '', { ts: 7, values: {} }]) assert.deepEqual(resultsOf(empty), [])
  for (const wrong of [5, 'text', [[{ a: 1 }]], { ts: 'late', values: { a: 1 } }]) assert.throws(() => resultsOf(wrong))
})
