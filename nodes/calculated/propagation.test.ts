import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { StepInput } from '../../model/calculated-fields/kind.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { DEVICE, opened, single, stepOf } from './testkit.ts'

const asset = (digit: number) => ({ entityType: 'ASSET', id: `${digit}1111111-1111-4111-8111-111111111111` }) as const
const [A, B] = [asset(1), asset(2)]
const latest = (key: string) => ({ refEntityKey: { key, type: 'TS_LATEST' } })

function field(more: JsonObject = {}, result: JsonValue = null) {
  const configuration = {
    type: 'PROPAGATION',
    arguments: { t: latest('temperature'), h: latest('humidity') },
    relation: { direction: 'TO', relationType: 'Contains' },
    output: { type: 'TIME_SERIES' },
    ...more,
  }
  return opened(configuration, { compileWithArguments: () => () => result })
}

const update = (name: string, ts = 1000) => ({ name, ts, value: 1, entity: DEVICE })

function told(configured: ReturnType<typeof field>, input: Partial<StepInput>, state: JsonValue = null) {
  const { results } = stepOf(configured, input, state)
  return results.map((result) => {
    assert(result.kind === 'values')
    return [result.entity.id.charAt(0), result.values, result.ts] as const
  })
}

describe('propagation', () => {
  const args = { t: single(20), h: single(50) }
  const expression = { applyExpressionToResolvedArguments: true, expression: 'return {};' }

  test('each value goes to all related entities as it comes, and all values to one that is related only now', () => {
    const input = { args, updates: [update('t')], targets: [A, B] }
    assert.deepEqual(told(field(), input, [A.id, B.id]), [
      ['1', { t: 20 }, 1000],
      ['2', { t: 20 }, 1000],
    ])
    assert.deepEqual(told(field(), input, [B.id]), [
      ['1', { t: 20, h: 50 }, 1000],
      ['2', { t: 20 }, 1000],
    ])
    assert.deepEqual(told(field(), { args, cause: 'reload', targets: [A, B] }, [B.id]), [['1', { t: 20, h: 50 }, 1000]])
  })

  test('a value keeps its time where it is written as one, and has none as an attribute', () => {
    const apart = { args: { t: single(20, 700), h: single(50) }, cause: 'reload' as const, targets: [A] }
    assert.deepEqual(told(field(), apart), [
      ['1', { t: 20 }, 700],
      ['1', { h: 50 }, 1000],
    ])
    const attributes = field({ output: { type: 'ATTRIBUTES', scope: 'SERVER_SCOPE' } })
    assert.deepEqual(told(attributes, apart), [['1', { t: 20, h: 50 }, undefined]])
  })

  test('an old value goes nowhere, and nothing goes where nobody is related', () => {
    assert.deepEqual(told(field(), { args, updates: [update('t', 999)], targets: [A] }, [A.id]), [])
    assert.deepEqual(told(field(), { args, updates: [update('t')], targets: [] }), [])
  })

  test('who was related before and is so again has all values again', () => {
    const without = stepOf(field(), { args, cause: 'reload', targets: [] }, [A.id])
    assert.deepEqual(without.state, [])
    assert.equal(told(field(), { args, cause: 'reload', targets: [A] }, without.state).length, 1)
  })

  test('with an expression its result goes, at the time that it says', () => {
    const input = { args, updates: [update('t')], targets: [A] }
    assert.deepEqual(told(field(expression, { double: 40 }), input, [A.id]), [['1', { double: 40 }, undefined]])
    const list = [{ ts: 5, values: { x: 1 } }, { y: 2 }]
    assert.deepEqual(told(field(expression, list), input, [A.id]), [
      ['1', { x: 1 }, 5],
      ['1', { y: 2 }, undefined],
    ])
    assert.throws(() => told(field(expression, 7), input, [A.id]), { code: 'node.SCRIPT_NO_VALUES' })
  })

  test('all arguments are needed for an expression, none of them without one', () => {
    assert.deepEqual([...(field().needs.optional ?? [])], ['t', 'h'])
    assert.equal(field(expression).needs.optional, undefined)
    assert.throws(() => field({ applyExpressionToResolvedArguments: true }), { code: 'node.SCRIPT_NO_VALUES' })
  })
})
