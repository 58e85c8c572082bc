import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Message } from '../../model/message.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { soleMember } from '../cluster/membership.ts'
import type { Delivery } from './link.ts'
import { message } from './testkit.ts'
import { FrameLink } from './frame-link.ts'
import { MemoryStreams } from './memory-testkit.ts'

const QUEUES = 20
const MESSAGES = 20
const BOUND = 40

function openLink(context: TestContext, maxMemoryMessages: number): FrameLink {
  const streams = new MemoryStreams(systemClock, 1)
  const link = new FrameLink({
    broker: streams.connect(),
    partitions: 1,
    letters: streams.letterStore(),
    membership: soleMember({ id: systemRandom.uuid(), roles: ['engine'], startedAt: 0 }),
    clock: systemClock,
    random: systemRandom,
    bounds: { maxMemoryMessages, settleDelayMs: 0 },
  })
  context.after(() => link.close())
  return link
}

async function publish(link: FrameLink, messages: readonly Message[]): Promise<void> {
  await Promise.all(
    messages.map((each) => new Promise<void>((stored, refused) => link.publish(each, { stored, refused }))),
  )
}

test('queues that stand still share one bound on memory, and lose nothing by it', async (context) => {
  const link = openLink(context, BOUND)
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
      await publish(link, [each])
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

test('a consumer is told of what is left of a frame that took its room, once; so is who comes after it', async (context) => {
  const link = openLink(context, 1000)
  const consumer = () => {
    const told: string[] = []
    const delivered: string[] = []
    return {
      told,
      delivered,
      room: () => 3 - delivered.length,
      ahead: (waiting: readonly Delivery[]) => void told.push(...waiting.map(({ message: { id } }) => id)),
      deliver: (batch: readonly Delivery[]) => {
        delivered.push(...batch.map(({ message: { id } }) => id))
        link.settle(batch)
      },
    }
  }
  const first = consumer()
  const stop = link.consume(first)
  const messages = Array.from({ length: 8 }, (_, index) => message().with({ id: `message ${index}` }))
  await publish(link, messages)
  while (link.figures().delivered < 3) await new Promise<void>((turn) => systemClock.soon(turn))
  link.wake()
  assert.equal(link.figures().openFrames, 1, 'void: several frames')
  const ids = messages.map(({ id }) => id)
  assert.deepEqual([first.delivered, first.told], [ids.slice(0, 3), ids.slice(3)])
  stop()
  const second = consumer()
  link.consume(second)
  assert.deepEqual([second.delivered, second.told], [ids.slice(3, 6), ids.slice(6)])
})
