import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { soleMember } from '../cluster/membership.ts'
import type { Delivery } from './link.ts'
import { message } from './testkit.ts'
import { createFrameLink } from './frame-link.ts'
import { MemoryStreams } from './memory-testkit.ts'

const QUEUES = 20
const MESSAGES = 20
const BOUND = 40

test('queues that stand still share one bound on memory, and lose nothing by it', async (context) => {
  const streams = new MemoryStreams(systemClock, 1)
  const link = createFrameLink({
    broker: streams.connect(),
    partitions: 1,
    letters: streams.letterStore(),
    membership: soleMember({ id: systemRandom.uuid(), roles: ['engine'], startedAt: 0 }),
    clock: systemClock,
    random: systemRandom,
    bounds: { maxMemoryMessages: BOUND, settleDelayMs: 0 },
  })
  context.after(() => link.close())
  let room = 0
  const delivered = new Map<string, string[]>()
  const names = Array.from({ length: QUEUES }, (_, index) => `Queue${index}`)
  const { promise: all, resolve } = Promise.withResolvers<void>()
  let count = 0
  const ahead = new Map<string, string[]>()
  const consumerOf = (name: string) => ({
    room: () => room,
    ahead: (waiting: readonly Delivery[]) => {
      ahead.set(name, [...(ahead.get(name) ?? []), ...waiting.map((each) => each.message.id)])
    },
    deliver: (batch: readonly Delivery[]) => {
      delivered.set(name, [...(delivered.get(name) ?? []), ...batch.map((each) => each.message.id)])
      link.settle(batch)
      count += batch.length
      if (count === QUEUES * MESSAGES) resolve()
    },
  })
  for (const name of names) link.consume(consumerOf(name), name)
  const published = new Map<string, string[]>(names.map((name) => [name, []]))
  for (let round = 0; round < MESSAGES; round++) {
    for (const name of names) {
      const each = message().with({ queueName: name, id: `${name}-${round}` })
      published.get(name)?.push(each.id)
      await new Promise<void>((stored, refused) => link.publish(each, { stored, refused }))
    }
  }
  while (link.figures().openFrames < QUEUES * MESSAGES) await new Promise<void>((turn) => systemClock.soon(turn))
  const inMemory = QUEUES * MESSAGES - link.figures().parkedFrames
  assert.ok(inMemory <= 2 * BOUND, `${inMemory} in memory`)
  assert.deepEqual(ahead, published, 'each is told of what waits, also of what is not in memory')
  room = 1000
  link.wake()
  await all
  assert.deepEqual(delivered, published)
})
