import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNode, runNode, testMessage } from '../testkit.ts'
import { messageTypeFilter } from './message-type-filter.ts'

async function relationFor(messageTypes: readonly string[], type: string): Promise<string | undefined> {
  const instance = await createNode(messageTypeFilter, { messageTypes: [...messageTypes] })
  const [result] = await runNode(instance, testMessage({ type, data: 'no JSON' }))
  return result?.emissions[0]?.relations[0]
}

test('only the type counts: an unreadable body passes, an empty list passes nothing', async () => {
  assert.equal(await relationFor(['MY_TYPE'], 'MY_TYPE'), 'True')
  assert.equal(await relationFor([], 'MY_TYPE'), 'False')
})

test('types are compared as they are: with case, without patterns, without inherited names', async () => {
  for (const type of ['my_type', 'MY_TYPE ', '', 'constructor']) {
    assert.equal(await relationFor(['MY_TYPE', 'MY.*'], type), 'False', type)
  }
})
