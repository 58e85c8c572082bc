import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { delay } from './delay.ts'

const message = testMessage({ data: '{"a":1}', metadata: { wait: '7' } })

test('a message goes on after the period, or after that which the pattern gives', async () => {
  const context = testContext()
  const fixed = await createNode(delay, { periodInSeconds: 60, maxPendingMsgs: 1 }, context)
  const patterned = await createNode(
    delay,
    {
      ...{ periodInSeconds: 60, maxPendingMsgs: 1 },
      ...{ periodInSecondsPattern: '${wait}', useMetadataPeriodInSecondsPatterns: true },
    },
    context,
  )
  for (const [instance, seconds] of [
    [fixed, 60],
    [patterned, 7],
  ] as const) {
    const [result] = await runNode(instance, message)
    assert.deepEqual(result?.step, { flow: 'later', relation: 'Success', at: context.clock.now() + seconds * 1000 })
  }
})

test('more than the bound that waits fails', async () => {
  const context = testContext()
  const instance = await createNode(delay, { periodInSeconds: 60, maxPendingMsgs: 2 }, context)
  context.fakes.state.waitingCount = 2
  const [result] = await runNode(instance, message)
  assert.match(result?.error?.message ?? '', /2 wait already/)
})
