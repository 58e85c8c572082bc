/** What nodes send of one entity reaches the log in the order in which it was committed, whatever becomes of a process, the log or the store between. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../model/manual-clock.ts'
import type { PublishReceipt } from '../link/link.ts'
import { LinkErrors } from '../link/errors.ts'
import type { NodeIdentity } from '../rulechain/capabilities.ts'
import { TENANT_ID, testWork } from '../rulechain/testkit.ts'
import { NodeStates } from './node-states.ts'
import { MemoryStateStore } from './testkit.ts'

const NODE: NodeIdentity = {
  tenantId: TENANT_ID,
  ruleChainId: 'chain',
  ruleChainName: 'chain',
  ruleNodeId: 'node',
  ruleNodeName: 'node',
}

async function processOf(store: MemoryStateStore, answer: (receipt: PublishReceipt) => void) {
  const clock = new ManualClock()
  const published: string[] = []
  const link = { answer }
  const states = new NodeStates({
    ...{ store, clock, serviceId: 'here', report: () => undefined },
    log: {
      streamOf: () => 0,
      settledBelow: () => 0,
      publish: (message, receipt) => {
        published.push(message.data)
        link.answer(receipt)
      },
    },
  })
  await states.taken(0)
  const send = async (device: string, data: string): Promise<void> => {
    const { message } = testWork({ device, data })
    const receipt = { stored: () => undefined, refused: () => undefined }
    states.defer({ message, at: clock.now(), node: NODE, originatorId: device }, receipt)
    // No time goes by: what is looked for in the store is looked for later.
    for (let turn = 0; turn < 50; turn++) await Promise.resolve()
  }
  return { clock, published, link, send }
}

const stored = (receipt: PublishReceipt): void => receipt.stored()
const refused = (receipt: PublishReceipt): void => receipt.refused(LinkErrors.LINK_CLOSED())

test('what a killed process left is sent before what its entity sends anew', async () => {
  const store = new MemoryStateStore()
  const killed = await processOf(store, () => undefined)
  await killed.send('a', 'raise')
  const next = await processOf(store, stored)
  await next.send('a', 'clear')
  await next.send('b', 'other')
  assert.deepEqual(next.published, ['other'])
  await next.clock.advance(0)
  assert.deepEqual(next.published, ['other', 'raise', 'clear'])
  await next.clock.advance(5000)
  assert.equal(next.published.length, 3)
  assert.equal(store.outputs.size, 0)
})

test('what the log refuses for now is sent before what its entity sends meanwhile', async () => {
  const store = new MemoryStateStore()
  const { send, published, link, clock } = await processOf(store, refused)
  await clock.advance(0)
  await send('a', 'raise')
  link.answer = stored
  await send('a', 'clear')
  await send('b', 'other')
  await clock.settle()
  assert.deepEqual(published, ['raise', 'other'])
  await clock.advance(1000)
  assert.deepEqual(published, ['raise', 'other', 'raise', 'clear'])
  assert.equal(store.outputs.size, 0)
  await send('a', 'at once')
  assert.equal(published.at(-1), 'at once')
})

test('what a store did without an answer is sent before what its entity sends then; what it did not do is not waited for', async () => {
  for (const [fate, expected] of [
    ['unanswered', ['raise', 'clear']],
    ['refused', ['clear']],
  ] as const) {
    const store = new MemoryStateStore()
    const { send, published, clock } = await processOf(store, stored)
    await clock.settle()
    store.fate = () => fate
    await send('a', 'raise')
    store.fate = () => 'done'
    await send('a', 'clear')
    await clock.advance(1000)
    assert.deepEqual(published, expected, fate)
    await send('a', 'at once')
    assert.equal(published.at(-1), 'at once')
  }
})
