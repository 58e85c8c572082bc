import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { calculateDelta } from './calculate-delta.ts'

const CONFIGURATION = { ...calculateDelta.defaultConfiguration, inputValueKey: 'pulse' }

async function opened(change: JsonObject = {}) {
  const context = testContext()
  const node = await createNode(calculateDelta, { ...CONFIGURATION, ...change }, context)
  const give = async (data: string, ts = 0): Promise<string> => {
    const [result] = await runNode(node, testMessage({ data, metadata: { ts: String(ts) } }))
    const [out] = result?.emissions ?? []
    return result?.error?.message ?? `${out?.relations.join()} ${out?.message.data}`
  }
  return { context, give }
}

test('the difference to the message before; a negative one fails and is remembered', async () => {
  const { give } = await opened()
  const given = ['{"pulse":10}', '{"pulse":15}', '{"pulse":14}', '{"pulse":20}', '{"pulse":"x"}', '{"pulse":true}']
  const outcomes: string[] = []
  for (const data of given) outcomes.push(await give(data))
  assert.deepEqual(outcomes, [
    'Success {"pulse":10,"delta":0}',
    'Success {"pulse":15,"delta":5}',
    'Delta value is negative!',
    'Success {"pulse":20,"delta":6}',
    'Delta value is negative!',
    'Success {"pulse":true,"delta":1}',
  ])
})

test('the period, digits half up, and zero that is left out', async () => {
  const { give } = await opened({ addPeriodBetweenMsgs: true, round: 2, excludeZeroDeltas: true })
  assert.equal(await give('{"pulse":1}', 1000), 'Success {"pulse":1}')
  assert.equal(await give('{"pulse":1.125}', 2500), 'Success {"pulse":1.125,"delta":0.13,"periodInMs":1500}')
})

test('without memory the value before is the latest that is stored; what is no number fails', async () => {
  const { context, give } = await opened({ useCache: false })
  const { originator } = testMessage({ data: '{}' })
  assert.equal(await give('{"pulse":5}'), 'Success {"pulse":5,"delta":0}')
  context.fakes.history.add(originator, { key: 'pulse', type: 'LONG', value: 3, ts: 1 })
  assert.equal(await give('{"pulse":5}'), 'Success {"pulse":5,"delta":2}')
  context.fakes.history.add(originator, { key: 'pulse', type: 'STRING', value: 'abc', ts: 2 })
  assert.match(await give('{"pulse":5}'), /Unable to parse value \[abc\]/)
})

test('blank keys are refused', () => {
  assert.throws(() => calculateDelta.check({ ...CONFIGURATION, inputValueKey: ' ' }), /inputValueKey/)
})

test('the first message that comes again is told what it was told, whatever was stored since', async () => {
  const before = { key: 'pulse', type: 'LONG', value: 3, ts: 1000 } as const
  const own = { key: 'pulse', type: 'LONG', value: 5, ts: 2000 } as const
  const later = { key: 'pulse', type: 'LONG', value: 9, ts: 3000 } as const
  for (const [stored, told] of [
    [[before], 2],
    [[before, own], 2],
    [[before, own, later], 2],
    [[], 0],
    [[own, later], 0],
  ] as const) {
    const { context, give } = await opened({ addPeriodBetweenMsgs: true, periodValueKey: 'period' })
    context.fakes.history.add(testMessage({ data: '{}' }).originator, ...stored)
    const period = told === 0 ? 0 : 1000
    assert.equal(await give('{"pulse":5}', 2000), `Success {"pulse":5,"delta":${told},"period":${period}}`)
  }
})

test('an old configuration keeps what it says of zero', () => {
  const said = (configuration: JsonObject) => calculateDelta.upgrade?.(configuration, 0)['excludeZeroDeltas']
  assert.deepEqual([said({}), said({ excludeZeroDeltas: true })], [false, true])
})
