import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../model/clock.ts'
import { createNode, runNode, testContext, testMessage, TENANT_ID } from '../testkit.ts'
import { messageCount } from './message-count.ts'

async function opened() {
  let now = 1000
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    after: () => ({ cancel: () => undefined }),
    soon: (run) => queueMicrotask(run),
  }
  const context = testContext({ clock })
  const { state } = context.fakes
  const instance = await createNode(messageCount, { interval: 3, telemetryPrefix: 'count' }, context)
  const passes = async (ms: number): Promise<void> => {
    now += ms
    await state.wake()
  }
  return { context, state, instance, passes }
}

test('tells the tenant after each interval how many there were, none too', async () => {
  const { state, instance, passes } = await opened()
  state.start()
  const results = await runNode(
    instance,
    testMessage({ data: '{}' }),
    testMessage({ data: '{}', originatorId: 'other' }),
  )
  assert.ok(results.every(({ emissions, step }) => emissions.length === 0 && step === undefined))
  for (const passed of [3000, 3500]) await passes(passed)
  assert.deepEqual(
    state.sent.map(({ message: { type, data, metadata, originator }, relation }) => [
      ...[relation, type, data, metadata['delta']],
      originator.id,
    ]),
    [
      ['Success', 'POST_TELEMETRY_REQUEST', '{"count_here":2}', '3000', TENANT_ID],
      ['Success', 'POST_TELEMETRY_REQUEST', '{"count_here":0}', '3500', TENANT_ID],
    ],
  )
})

test('what several partitions counted is told as one, by the tenant’s', async () => {
  const { context, state, instance, passes } = await opened()
  const message = testMessage({ data: '{}' })
  for (state.partition = 0; state.partition < 3; state.partition++) {
    state.start()
    await runNode(instance, ...Array.from({ length: state.partition + 1 }, () => message))
  }
  await passes(3000)
  const told = state.sent.splice(0)
  const parts = told.filter(({ relation }) => relation === undefined).map((sent) => sent.message)
  assert.deepEqual(
    parts.map(({ data, originator, ruleChainId, ruleNodeId }) => [data, originator.id, ruleChainId, ruleNodeId]),
    ['2', '3'].map((count) => [count, TENANT_ID, context.ruleChainId, context.ruleNodeId]),
  )
  state.partition = 0
  await runNode(instance, ...parts, message, message.with({ type: parts[0]?.type ?? '' }))
  await passes(3000)
  const counts = [...told, ...state.sent].filter(({ relation }) => relation === 'Success')
  assert.deepEqual(
    counts.map((sent) => sent.message.data),
    ['{"count_here":1}', '{"count_here":7}'],
    'where nothing was counted nothing is handed over',
  )
})
