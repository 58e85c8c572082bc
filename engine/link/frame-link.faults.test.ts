/** What only a link of many processes can do wrong, on a clock that the test moves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MillraceError } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import { Collector } from './contract.ts'
import { partitionOf } from './partition.ts'
import { message } from './testkit.ts'
import type { LinkEvent } from './events.ts'
import { FrameLink } from './frame-link.ts'
import type { FrameLinkBounds } from './options.ts'
import { decodeRecord } from './record.ts'
import { ownerOf } from './rendezvous.ts'
import { MemoryStreams, TestMembership, type MemoryBroker } from './memory-testkit.ts'

interface Process {
  readonly link: FrameLink
  readonly broker: MemoryBroker
  readonly events: LinkEvent[]
  readonly outcomes: Map<string, 'stored' | MillraceError>
  publish(messages: readonly Message[]): void
  kinds(): string[]
}

class World {
  readonly clock = new ManualClock()
  readonly streams: MemoryStreams
  readonly random = new SeededRandom(7)

  constructor(partitions = 4) {
    this.streams = new MemoryStreams(this.clock, partitions)
  }

  start(id: string, membership: TestMembership, bounds: Partial<FrameLinkBounds> = {}): Process {
    const broker = this.streams.connect()
    const events: LinkEvent[] = []
    const outcomes = new Map<string, 'stored' | MillraceError>()
    const { clock, random } = this
    const link = new FrameLink({
      broker,
      partitions: broker.streams,
      letters: this.streams.letterStore(),
      membership: membership.join(id),
      clock,
      random,
      bounds: { retentionMs: 0, progressMs: 100, ...bounds },
      onEvent: (event) => void events.push(event),
    })
    return {
      link,
      broker,
      events,
      outcomes,
      publish: (messages) => {
        for (const { id: key } of messages) assert.ok(!outcomes.has(key))
        for (const each of messages) {
          link.publish(each, {
            stored: () => void outcomes.set(each.id, 'stored'),
            refused: (error) => void outcomes.set(each.id, error),
          })
        }
      },
      kinds: () => events.map(({ kind }) => kind),
    }
  }

  async close(...processes: readonly Process[]): Promise<void> {
    for (const { link } of processes) await this.until(link.close())
  }

  async until(work: Promise<unknown>): Promise<void> {
    let isDone = false
    const done = work.finally(() => (isDone = true))
    while (!isDone) await this.clock.advance(10)
    await done
  }
}

const ids = (messages: readonly Message[]): string[] => messages.map(({ id }) => id)

/** Messages of as many devices as there are, one after the other. */
function series(count: number, devices: number, first = 0): Message[] {
  return Array.from({ length: count }, (_, index) =>
    message({ device: (index % devices) + 1, data: String(first + index) }),
  )
}

test('a frame whose answer was lost is tried again under its id: stored once, told as stored', async () => {
  const world = new World()
  const a = world.start('a', new TestMembership())
  const collector = new Collector()
  a.link.consume(collector)
  await world.clock.advance(50)
  a.broker.lostAnswers = 3
  const published = series(10, 1)
  a.publish(published)
  await world.clock.advance(500)
  assert.deepEqual(ids(collector.messages), ids(published))
  assert.ok(published.every(({ id }) => a.outcomes.get(id) === 'stored'))
  assert.equal(a.link.figures().retries, 3)
  await world.close(a)
})

test('what the broker does not answer for ten seconds is refused, and all goes on when it is back', async () => {
  const world = new World()
  const a = world.start('a', new TestMembership())
  a.broker.connect(false)
  const early = series(3, 1)
  a.publish(early)
  await world.clock.advance(9900)
  assert.equal(a.outcomes.size, 0)
  await world.clock.advance(300)
  for (const { id } of early) {
    const outcome = a.outcomes.get(id)
    assert.ok(outcome !== undefined && outcome !== 'stored')
    assert.deepEqual([outcome.code, outcome.kind], ['link.BROKER_AWAY', 'retryable'])
  }
  const late = series(3, 1)
  a.publish(late)
  await world.clock.advance(3000)
  a.broker.connect(true)
  await world.clock.advance(50)
  assert.ok(late.every(({ id }) => a.outcomes.get(id) === 'stored'))
  assert.deepEqual(a.kinds(), ['broker-away', 'broker-back'])
  await world.close(a)
})

test('a full stream refuses, holds senders back, and takes frames again when it has room', async () => {
  const world = new World(1)
  world.streams.capacity = 1
  const a = world.start('a', new TestMembership())
  a.publish(series(1, 1))
  await world.clock.advance(10)
  const refused = series(4, 1)
  a.publish(refused)
  await world.clock.advance(10)
  for (const { id } of refused) assert.equal((a.outcomes.get(id) as MillraceError).code, 'link.BACKLOG_FULL')
  assert.equal(a.link.writable, false)
  let told = 0
  a.link.onWritable(() => told++)
  const collector = new Collector()
  a.link.consume(collector)
  await world.clock.advance(20)
  a.link.settle(collector.deliveries)
  await world.clock.advance(300)
  assert.deepEqual([told, a.link.writable], [1, true])
  const again = series(2, 1)
  a.publish(again)
  await world.clock.advance(10)
  assert.ok(again.every(({ id }) => a.outcomes.get(id) === 'stored'))
  assert.deepEqual(
    a.kinds().filter((kind) => kind === 'stream-full' || kind === 'stream-open'),
    ['stream-full', 'stream-open'],
  )
  await world.close(a)
})

test('issue-8 I: a full stream whose settled frames could not be removed is asked again, and takes frames', async () => {
  const world = new World(1)
  world.streams.capacity = 2
  const a = world.start('a', new TestMembership())
  const collector = new Collector()
  a.link.consume(collector)
  await world.clock.advance(50)
  a.broker.lostRemovals = 2
  const [one, two, late] = series(3, 1)
  assert.ok(one !== undefined && two !== undefined && late !== undefined)
  a.publish([one])
  await world.clock.advance(1)
  a.publish([two])
  await world.clock.advance(10)
  a.link.settle(collector.deliveries)
  await world.clock.advance(5000)
  assert.equal(a.broker.lostRemovals, 0)
  assert.deepEqual(world.streams.stream(0).frames, [])
  a.publish([late])
  await world.clock.advance(100)
  assert.equal(a.outcomes.get(late.id), 'stored')
  await world.close(a)
})

test('a message larger than a frame is refused, its neighbours are not', async () => {
  const world = new World(1)
  const a = world.start('a', new TestMembership())
  Object.assign(a.broker.limits, { maxFrameBytes: 20_000, closeAtBytes: 10_000 })
  const small = series(6, 1)
  // Fewer characters than the bound, and more bytes.
  const large = message({ device: 1, data: 'ü'.repeat(12_000) })
  a.publish([...small.slice(0, 3), large, ...small.slice(3)])
  await world.clock.advance(50)
  assert.equal((a.outcomes.get(large.id) as MillraceError).code, 'link.MESSAGE_TOO_LARGE')
  assert.ok(small.every(({ id }) => a.outcomes.get(id) === 'stored'))
  await world.close(a)
})

test('a second engine takes its share when what is being processed has settled, and nothing is delivered twice', async () => {
  const world = new World(8)
  const membership = new TestMembership()
  const a = world.start('a', membership)
  const first = new Collector()
  a.link.consume(first)
  const early = series(160, 16)
  a.publish(early)
  await world.clock.advance(200)
  assert.equal(first.deliveries.length, 160)
  const b = world.start('b', membership)
  const second = new Collector()
  b.link.consume(second)
  await world.clock.advance(500)
  assert.equal(b.link.figures().streams, 0, 'the owner still processes')
  a.link.settle(first.deliveries)
  await world.clock.advance(500)
  const shares = [a.link.figures().streams, b.link.figures().streams]
  const expected = ['a', 'b'].map(
    (id) =>
      Array.from({ length: 8 }, (_, index) => ownerOf(index, 8, ['a', 'b'])).filter((owner) => owner === id).length,
  )
  assert.deepEqual(shares, expected)
  assert.ok(shares.every((share) => share > 0))
  const late = series(160, 16, 160)
  b.publish(late)
  await world.clock.advance(200)
  assert.deepEqual(ids([...first.messages, ...second.messages]).sort(), ids([...early, ...late]).sort())
  for (const { message: each } of second.deliveries) {
    assert.equal(ownerOf(partitionOf(each.originator.id, 8), 8, ['a', 'b']), 'b')
  }
  await world.close(a, b)
})

test('a hand-over does not wait for ever: what was not settled in time, the next owner gets, the rest it does not', async () => {
  const world = new World(1)
  const membership = new TestMembership()
  const a = world.start('m', membership)
  const first = new Collector()
  a.link.consume(first)
  const published = series(10, 1)
  a.publish(published)
  await world.clock.advance(200)
  const other = ['n', 'o', 'p', 'q', 'r'].find((id) => ownerOf(0, 1, ['m', id]) === id) ?? assert.fail()
  const b = world.start(other, membership)
  const second = new Collector()
  b.link.consume(second)
  a.link.settle(first.deliveries.slice(0, 4))
  a.link.failed(first.deliveries[4] ?? assert.fail(), 1)
  await world.clock.advance(2000)
  assert.deepEqual(ids(second.messages), ids(published.slice(4)))
  assert.deepEqual(
    second.deliveries.map(({ attempt }) => attempt),
    [2, 1, 1, 1, 1, 1],
  )
  a.link.settle(first.deliveries)
  b.link.settle(second.deliveries)
  await world.clock.advance(100)
  assert.deepEqual([a.link.figures().settled, b.link.figures().settled], [4, 6])
  assert.equal(world.streams.stream(0).frames.length, 0)
  await world.close(a, b)
})

test('an owner that slept is fenced: it asks before it delivers, and what it settles counts for nothing', async () => {
  const world = new World(1)
  const [viewOfA, viewOfB] = [new TestMembership(), new TestMembership()]
  const a = world.start('a', viewOfA)
  const first = new Collector(5)
  a.link.consume(first)
  const published = series(10, 1)
  a.publish(published)
  await world.clock.advance(100)
  assert.equal(first.deliveries.length, 5)
  // B does not see A: A sleeps, as far as B can tell.
  const b = world.start('b', viewOfB)
  const second = new Collector()
  b.link.consume(second)
  await world.clock.advance(100)
  assert.deepEqual(ids(second.messages), ids(published))
  b.link.settle(second.deliveries.slice(0, 3))
  await world.clock.advance(100)
  a.link.settle(first.deliveries)
  first.limit = 100
  a.link.wake()
  await world.clock.advance(300)
  assert.equal(first.deliveries.length, 5, 'a fenced owner delivers nothing more')
  assert.ok(a.kinds().includes('stream-lost'))
  const record = decodeRecord(world.streams.stream(0).record?.body ?? assert.fail())
  assert.deepEqual([record.owner, record.epoch], ['b', 2])
  await b.link.flush()
  assert.equal(b.link.figures().outstanding, 7)
  assert.equal(world.streams.stream(0).frames.length, 1, 'A cannot end a frame that is B’s')
  await world.close(b, a)
})

test('two that do not see each other take a partition from one another at a walk', async () => {
  const world = new World(1)
  const a = world.start('a', new TestMembership())
  const b = world.start('b', new TestMembership())
  a.link.consume(new Collector())
  b.link.consume(new Collector())
  await world.clock.advance(10_000)
  const takeOvers = a.link.figures().takeOvers + b.link.figures().takeOvers
  assert.ok(takeOvers > 2 && takeOvers < 25, `${takeOvers} take-overs`)
  await world.close(a, b)
})

test('after a lost connection nothing is delivered a second time to the consumer that holds it', async () => {
  const world = new World(2)
  const a = world.start('a', new TestMembership())
  const collector = new Collector()
  a.link.consume(collector)
  const early = series(20, 4)
  a.publish(early)
  await world.clock.advance(100)
  a.link.settle(collector.deliveries.filter(({ message: { originator } }) => originator.id === early[0]?.originator.id))
  a.broker.connect(false)
  a.link.settle(collector.deliveries.slice(0, 10))
  await world.clock.advance(1000)
  a.broker.connect(true)
  await world.clock.advance(1000)
  const late = series(20, 4, 20)
  a.publish(late)
  await world.clock.advance(200)
  assert.deepEqual(ids(collector.messages).sort(), ids([...early, ...late]).sort())
  const held = world.streams.streams.flatMap(({ frames }) => frames)
  assert.ok(held.length >= 3, 'what is being processed stays in the stream')
  a.link.settle(collector.deliveries)
  await world.clock.advance(1500)
  assert.deepEqual(
    world.streams.streams.map(({ frames }) => frames.length),
    [0, 0],
  )
  await world.close(a)
})

test('nothing is delivered while the broker is away: another may own it by then', async () => {
  const world = new World(1)
  const a = world.start('a', new TestMembership())
  const collector = new Collector(2)
  a.link.consume(collector)
  a.publish(series(6, 1))
  await world.clock.advance(100)
  a.broker.connect(false)
  collector.limit = 10
  a.link.wake()
  await world.clock.advance(100)
  assert.equal(collector.deliveries.length, 2)
  a.broker.connect(true)
  await world.clock.advance(300)
  assert.equal(collector.deliveries.length, 6)
  await world.close(a)
})

test('a broker that lost its end and counts again from there: its new frames are not taken for settled ones', async () => {
  const world = new World(1)
  const a = world.start('a', new TestMembership())
  const collector = new Collector()
  a.link.consume(collector)
  for (let round = 0; round < 3; round++) {
    a.publish(series(5, 1, round * 5))
    await world.clock.advance(100)
  }
  a.link.settle(collector.deliveries)
  await world.clock.advance(1500)
  const stream = world.streams.stream(0)
  assert.equal(stream.frames.length, 0)
  a.broker.connect(false)
  stream.nextPosition -= 2
  await world.clock.advance(5000)
  a.broker.connect(true)
  const late = series(5, 1, 15)
  a.publish(late)
  await world.clock.advance(500)
  assert.deepEqual(ids(collector.messages.slice(15)), ids(late))
  await world.close(a)
})

test('of a queue that stands still only positions are kept, and it goes on in order when its consumer has room', async () => {
  const world = new World(1)
  const a = world.start('a', new TestMembership(), { maxMemoryMessages: 10, maxOpenFrames: 500 })
  const main = new Collector()
  const slow = new Collector(1)
  a.link.consume(slow, 'Slow')
  a.link.consume(main)
  const published: Message[] = []
  for (let round = 0; round < 40; round++) {
    const some = Array.from({ length: 6 }, (_, index) =>
      message({ data: `${round}.${index}`, queueName: index % 2 === 0 ? 'Slow' : undefined }),
    )
    published.push(...some)
    a.publish(some)
    await world.clock.advance(10)
  }
  assert.equal(main.deliveries.length, 120)
  assert.equal(slow.deliveries.length, 1)
  assert.ok(a.link.figures().parkedFrames > 30)
  for (let round = 0; round < 30; round++) {
    // New frames come while old ones are fetched: they must not get ahead.
    const next = message({ data: `late ${round}`, queueName: 'Slow' })
    published.push(next)
    a.publish([next])
    slow.limit += 4
    a.link.wake()
    await world.clock.advance(10)
  }
  slow.limit = 1000
  a.link.wake()
  await world.clock.advance(100)
  assert.deepEqual(ids(slow.messages), ids(published.filter(({ queueName }) => queueName === 'Slow')))
  a.link.settle([...main.deliveries, ...slow.deliveries])
  await world.clock.advance(1000)
  assert.equal(world.streams.stream(0).frames.length, 0)
  await world.close(a)
})

test('a frame that cannot be read is told and stays, with those behind it, which are delivered', async () => {
  const world = new World(1)
  const a = world.start('a', new TestMembership())
  a.publish(series(2, 1))
  await world.clock.advance(10)
  const stream = world.streams.stream(0)
  const body = stream.frames[0]?.body ?? assert.fail()
  body[body.length - 1] = (body[body.length - 1] ?? 0) ^ 1
  const readable = series(2, 1)
  a.publish(readable)
  const collector = new Collector()
  a.link.consume(collector)
  await world.clock.advance(100)
  assert.deepEqual(ids(collector.messages), ids(readable))
  assert.ok(a.kinds().includes('frame-unreadable'))
  a.link.settle(collector.deliveries)
  await world.clock.advance(1500)
  assert.equal(stream.frames.length, 2)
  const record = decodeRecord(stream.record?.body ?? assert.fail())
  assert.deepEqual([...record.open.keys()], [1000], 'the record does not call it settled')
  await world.close(a)
})

test('a dead letter is published again under its id, and removed', async () => {
  const world = new World(2)
  const a = world.start('a', new TestMembership())
  const collector = new Collector()
  a.link.consume(collector)
  const published = series(2, 1)
  a.publish(published)
  await world.clock.advance(100)
  const poison = collector.deliveries[0] ?? assert.fail()
  a.link.bury(poison, 'it threw', 1)
  a.link.bury(poison, 'it threw', 1)
  await world.clock.advance(50)
  const letters = await a.link.deadLetters.list({ limit: 10 })
  assert.deepEqual(
    letters.map(({ message: { id }, reason }) => [id, reason]),
    [[poison.message.id, 'it threw']],
  )
  await world.until(a.link.deadLetters.replay(letters[0]?.id ?? 0))
  await world.clock.advance(50)
  assert.equal(collector.deliveries[2]?.message.id, poison.message.id)
  assert.deepEqual([a.link.deadLetters.count, a.link.figures().buried], [0, 1])
  await world.close(a)
})

test('a stream that counts again from below is told, with the positions that it gave out before', async () => {
  const world = new World(1)
  const a = world.start('a', new TestMembership())
  for (const published of series(3, 1)) {
    a.publish([published])
    await world.clock.advance(50)
  }
  assert.deepEqual(a.kinds(), [])
  const stream = world.streams.stream(0)
  stream.frames = []
  stream.nextPosition -= 2
  a.publish(series(1, 1))
  await world.clock.advance(50)
  assert.deepEqual(a.events, [{ kind: 'stream-went-back', stream: 0, from: 1001, to: 1002 }])
  assert.equal(a.link.figures().streamDamages, 1)
  await world.close(a)
})
