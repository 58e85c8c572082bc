import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../model/clock.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { deduplication } from './deduplication.ts'

async function opened(configuration: object, queueName: string | null = null) {
  let now = 100_000
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    after: () => ({ cancel: () => undefined }),
    soon: (run) => queueMicrotask(run),
  }
  const context = testContext({ clock, queueName })
  const node = await createNode(
    deduplication,
    { interval: 10, strategy: 'FIRST', outMsgType: null, maxPendingMsgs: 100, maxRetries: 3, ...configuration },
    context,
  )
  const { state } = context.fakes
  const give = (ts: number, v: number, originatorId?: string) =>
    runNode(
      node,
      testMessage({
        ...{ data: `{"v":${v}}`, metadata: { ts: String(ts) } },
        ...(originatorId === undefined ? {} : { originatorId }),
      }),
    )
  const pass = async (ms: number): Promise<void> => {
    now += ms
    await state.wake()
  }
  return { give, pass, state }
}

test('one message of each window goes on, by time, of each originator', async () => {
  for (const [strategy, expected] of [
    ['FIRST', ['{"v":2}', '{"v":9}']],
    ['LAST', ['{"v":3}', '{"v":9}']],
  ] as const) {
    const { give, pass, state } = await opened({ strategy })
    for (const [ts, v] of [
      [100_005, 1],
      [100_000, 2],
      [100_009, 3],
    ] as const) {
      const [result] = await give(ts, v)
      assert.deepEqual(result, { emissions: [] })
    }
    await give(100_000, 9, '66666666-5555-4555-8555-555555555555')
    await pass(10_000)
    assert.equal(state.sent.length, 0)
    await pass(1)
    assert.deepEqual(
      state.sent.map(({ message }) => message.data),
      expected,
      strategy,
    )
    assert.ok([...state.held.values()].every(({ text }) => text === undefined))
  }
})

test('all of a window are one message in the order in which they came, in the node’s queue', async () => {
  const { give, pass, state } = await opened({ strategy: 'ALL', outMsgType: 'MANY' }, 'Slow')
  await give(100_005, 1)
  await give(100_000, 2)
  await pass(10_001)
  const [{ message } = { message: undefined }] = state.sent
  const expected = '[{"msg":{"v":1},"metadata":{"ts":"100005"}},{"msg":{"v":2},"metadata":{"ts":"100000"}}]'
  assert.deepEqual([message?.type, message?.data, message?.metadata], ['MANY', expected, { ts: '110001' }])
  assert.match(message?.queueName ?? '', /Slow$/)
})

test('what waits on for the next window keeps the order in which it came', async () => {
  const { give, pass, state } = await opened({ strategy: 'ALL', outMsgType: 'MANY' })
  for (const [ts, v] of [
    [100_000, 1],
    [111_000, 2],
    [110_500, 3],
  ] as const)
    await give(ts, v)
  await pass(10_001)
  await pass(10_500)
  assert.deepEqual(
    state.sent.map(({ message }) => [...message.data.matchAll(/"v":(\d)/g)].map(([, v]) => v).join('')),
    ['1', '23'],
  )
})

test('old times are windows of their own, and what is not over waits on', async () => {
  const { give, pass, state } = await opened({})
  for (const ts of [1000, 5000, 20_000, 105_000]) await give(ts, ts)
  await pass(10_001)
  assert.deepEqual(
    state.sent.map(({ message }) => message.data),
    ['{"v":1000}', '{"v":20000}'],
  )
  await pass(5000)
  assert.equal(state.sent.length, 3)
})

test('more than the bound fails', async () => {
  const { give } = await opened({ maxPendingMsgs: 2 })
  const results = [await give(1, 1), await give(2, 2), await give(3, 3)]
  assert.deepEqual(
    results.map(([result]) => result?.error?.message),
    [undefined, undefined, 'Max limit of pending messages reached: 2 wait already'],
  )
})

test('a message of a time far ahead holds up nobody', async () => {
  const { give, pass, state } = await opened({})
  await give(100_000 + 365 * 86_400_000, 1)
  await give(9e15, 2)
  await pass(10_001)
  await give(110_001, 3)
  await pass(10_001)
  assert.deepEqual(
    state.sent.map(({ message }) => message.data),
    ['{"v":3}'],
  )
})
