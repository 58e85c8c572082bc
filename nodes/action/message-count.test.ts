import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../model/clock.ts'
import { createNode, runNode, testContext, testMessage, TENANT_ID } from '../testkit.ts'
import { messageCount } from './message-count.ts'

test('tells the tenant after each interval how many there were, none too', async () => {
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
  state.start()
  const results = await runNode(
    instance,
    testMessage({ data: '{}' }),
    testMessage({ data: '{}', originatorId: 'other' }),
  )
  assert.ok(results.every(({ emissions, step }) => emissions.length === 0 && step === undefined))
  for (const passed of [3000, 3500]) {
    now += passed
    await state.wake()
  }
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
