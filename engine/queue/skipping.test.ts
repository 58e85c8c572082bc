/** A queue that skips failures lets go what its chain could not do, not what the platform could not take just then. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../actor/testkit.ts'
import { LinkErrors } from '../link/errors.ts'
import { message } from '../link/testkit.ts'
import { RuleChainErrors, unhandledFailure } from '../rulechain/errors.ts'
import { ScriptErrors } from '../script/errors.ts'
import { createQueue } from './queue.ts'
import { MemoryLink } from './testkit.ts'

const REFUSALS = {
  'full script workers': ScriptErrors.POOL_FULL({ waiting: 1, limit: 1 }),
  'a disk that refused the link': LinkErrors.DISK_REFUSED({ reason: 'ENOSPC' }),
  'a full log': LinkErrors.BACKLOG_FULL({ bytes: 1, limit: 1 }),
  'a full buffer of the link': LinkErrors.BUFFER_FULL({ messages: 1 }),
  'a link that closes': LinkErrors.LINK_CLOSED(),
  'a full rule chain': RuleChainErrors.CHAIN_FULL({ chain: 'c', waiting: 1, limit: 1 }),
}

for (const [name, refusal] of Object.entries(REFUSALS)) {
  test(`issue-8 I: a SKIP queue drops no message for ${name}: it is tried again until it goes`, async () => {
    const clock = new ManualClock()
    const link = new MemoryLink()
    let tries = 0
    createQueue({
      link,
      clock,
      settings: { processing: 'SKIP_ALL_FAILURES', pauseBetweenRetriesMs: 100, maxPauseBetweenRetriesMs: 100 },
      processor: {
        process: (pack) =>
          pack.forEach((work) => work.end(++tries < 5 ? unhandledFailure('chain', 'node', refusal) : undefined)),
      },
    })
    link.publish(message({ data: 'acknowledged' }))
    await clock.advance(250)
    assert.equal(link.settled.length, 0, 'it was dropped')
    await clock.advance(1000)
    assert.deepEqual([tries, link.settled.length, link.buried.length], [5, 1, 0])
  })
}

test('issue-8 I: in a queue of one lane, which nothing can be moved out of, a message becomes a letter before a full log stands still', async () => {
  const clock = new ManualClock()
  const link = new MemoryLink()
  createQueue({
    link,
    clock,
    settings: { processing: 'SKIP_ALL_FAILURES', submit: 'SEQUENTIAL', maxPauseBetweenRetriesMs: 1000 },
    processor: {
      process: (pack) => pack.forEach((work) => work.end(LinkErrors.BACKLOG_FULL({ bytes: 1, limit: 1 }))),
    },
  })
  link.publish(message({ data: 'acknowledged' }))
  await clock.advance(9500)
  assert.deepEqual([link.settled.length, link.buried.length], [0, 0])
  await clock.advance(2000)
  assert.deepEqual([link.settled.length, link.buried.length], [0, 1])
})
