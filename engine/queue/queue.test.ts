import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineErrors } from '../../model/errors.ts'
import { ManualClock } from '../actor/testkit.ts'
import { message } from '../link/testkit.ts'
import { createQueue, type Queue } from './queue.ts'
import type { QueueSettings } from './settings.ts'
import { MemoryLink } from './testkit.ts'
import type { Work } from './work.ts'

interface Opened {
  readonly clock: ManualClock
  readonly link: MemoryLink
  readonly queue: Queue
  /** Works that were started and not taken yet. */
  readonly works: Work[]
  readonly packs: number[]
  /** What the queue told of outages. */
  readonly outages: string[]
  /** Takes the started works, oldest first, as `device:data` with their try. */
  readonly take: () => Work[]
  readonly publish: (device: number, data: string) => void
}

function open(settings: Partial<QueueSettings> = {}): Opened {
  const clock = new ManualClock()
  const link = new MemoryLink()
  const works: Work[] = []
  const packs: number[] = []
  const outages: string[] = []
  const processor = {
    process: (pack: readonly Work[]) => {
      packs.push(pack.length)
      works.push(...pack)
    },
  }
  const queue = createQueue({
    link,
    processor,
    clock,
    settings: { pauseBetweenRetriesMs: 1000, retries: 2, ...settings },
    onOutage: (failure) => outages.push(failure?.message ?? 'over'),
  })
  return {
    clock,
    link,
    queue,
    works,
    packs,
    outages,
    take: () => works.splice(0),
    publish: (device, data) => link.publish(message({ device, data })),
  }
}

const data = (works: readonly Work[]): string[] => works.map((work) => work.message.data)

test('a message is settled when its last branch ends, and not before', async () => {
  const { clock, link, take, publish } = open()
  publish(1, 'a')
  const [work] = take()
  work?.branch(2)
  work?.end()
  work?.end()
  await clock.settle()
  assert.equal(link.settled.length, 0)
  work?.end()
  await clock.settle()
  assert.deepEqual(
    link.settled.map((settled) => settled.data),
    ['a'],
  )
})

test('ending more branches than were opened is a programming error', () => {
  const { take, publish } = open()
  publish(1, 'a')
  const [work] = take()
  work?.end()
  assert.throws(() => work?.end(), /more branches ended/)
  assert.throws(() => work?.branch(1), /settled message/)
})

test('a failed message is tried again at the head of its lane while other devices go on', async () => {
  const { clock, link, take, publish } = open()
  publish(1, 'one')
  const [first] = take()
  first?.end(new Error('store is down'))
  publish(1, 'two')
  publish(2, 'other')
  await clock.settle()
  const others = take()
  assert.deepEqual(data(others), ['other'])
  others.forEach((work) => work.end())
  assert.deepEqual(
    link.failures.map(({ message: { data: body }, attempt }) => [body, attempt]),
    [['one', 1]],
  )
  await clock.advance(900)
  assert.deepEqual(take(), [])
  await clock.advance(200)
  const [again, ...none] = take()
  assert.equal(again?.message.data, 'one')
  assert.equal(again?.attempt, 2)
  assert.deepEqual(none, [])
  again?.end()
  await clock.settle()
  assert.deepEqual(data(take()), ['two'])
  assert.deepEqual(
    link.settled.map((settled) => settled.data),
    ['other', 'one'],
  )
})

test('messages of one device are in process side by side, in order, up to the bound', async () => {
  const { clock, take, publish, queue } = open({ maxInFlightPerOriginator: 2 })
  for (const body of ['1', '2', '3', '4']) publish(1, body)
  const [first, second, ...none] = take()
  assert.deepEqual([first?.message.data, second?.message.data, none.length], ['1', '2', 0])
  assert.equal(queue.figures().inFlight, 2)
  second?.end()
  await clock.settle()
  assert.deepEqual(data(take()), ['3'])
})

test('failed messages of one device are tried one by one, the oldest first, before its next one starts', async () => {
  const { clock, take, publish } = open()
  for (const body of ['1', '2', '3']) publish(1, body)
  const [one, two, three] = take()
  publish(1, '4')
  assert.deepEqual(data(take()), ['4'], 'side by side while healthy')
  three?.end(new Error('no'))
  one?.end(new Error('no'))
  publish(1, '5')
  await clock.advance(2000)
  assert.deepEqual(take(), [], 'two and four are still in process')
  two?.end()
  await clock.advance(2000)
  assert.deepEqual(take(), [], 'four is still in process')
})

test('a lane goes on in the order of the log after its failures', async () => {
  const { clock, link, take, publish } = open()
  for (const body of ['1', '2', '3']) publish(1, body)
  const works = take()
  works[2]?.end(new Error('no'))
  works[0]?.end(new Error('no'))
  works[1]?.end()
  publish(1, '4')
  const order: string[] = []
  for (let step = 0; step < 10; step++) {
    await clock.advance(500)
    for (const work of take()) {
      order.push(work.message.data)
      work.end()
    }
  }
  assert.deepEqual(order, ['1', '3', '4'])
  assert.equal(link.settled.length, 4)
})

test('after the last try the message is buried with its reason and the lane goes on', async () => {
  const { clock, link, take, publish, queue } = open({ retries: 2 })
  publish(1, 'poison')
  publish(1, 'next')
  const [poison, next] = take()
  next?.end()
  poison?.end(new Error('reason 1'))
  const tries: number[] = []
  for (let step = 0; step < 20; step++) {
    await clock.advance(500)
    for (const work of take()) {
      tries.push(work.attempt)
      work.end(new Error(`reason ${work.attempt}`))
    }
  }
  assert.deepEqual(tries, [2, 3])
  assert.deepEqual(
    link.buried.map(({ delivery, reason }) => [delivery.message.data, delivery.attempt, reason]),
    [['poison', 3, 'reason 3']],
  )
  publish(1, 'after')
  assert.deepEqual(data(take()), ['after'])
  assert.equal(queue.figures().held, 1)
})

test('an error that says that trying again is no use buries the message at once, and the lane goes on', async () => {
  const errors = defineErrors('queue-test', {
    BAD: { kind: 'invalid', status: 400, text: 'bad value' },
    AWAY: { kind: 'retryable', status: 503, text: 'store is away' },
  })
  const { clock, link, take, publish } = open({ maxInFlightPerOriginator: 1 })
  publish(1, 'bad')
  publish(1, 'good')
  take()[0]?.end(errors.BAD())
  await clock.settle()
  assert.deepEqual(
    link.buried.map((buried) => buried.reason),
    ['bad value'],
  )
  const [good] = take()
  assert.equal(good?.message.data, 'good')
  good?.end(errors.AWAY())
  await clock.settle()
  assert.equal(link.buried.length, 1, 'a retryable error is tried again')
})

test('while a store is away its messages keep their tries, however many wait, and go on when it is back', async () => {
  const { AWAY } = defineErrors('queue-test', {
    AWAY: { kind: 'retryable', isOutage: true, status: 503, text: 'store is away' },
  })
  const { clock, link, queue, take, publish, outages } = open({
    retries: 2,
    maxHeld: 10,
    maxInFlightPerOriginator: 2,
    pauseBetweenRetriesMs: 1000,
    maxPauseBetweenRetriesMs: 8000,
  })
  for (let count = 0; count < 20; count++) publish(1, String(count))
  let starts = 0
  const awayUntilMs = clock.monotonic() + 600_000
  while (clock.monotonic() < awayUntilMs) {
    for (const work of take()) {
      starts++
      assert.equal(work.attempt, 1)
      work.end(AWAY())
    }
    await clock.advance(100)
  }
  assert.ok(starts > 50 && starts < 200, `${starts} tries in ten minutes`)
  assert.deepEqual([link.buried.length, link.failures.length, queue.figures().held], [0, 0, 10])
  assert.deepEqual(outages, ['store is away'])
  for (let step = 0; step < 400 && link.settled.length < 20; step++) {
    take().forEach((work) => work.end())
    await clock.advance(100)
  }
  assert.deepEqual(
    link.settled.map((settled) => Number(settled.data)),
    Array.from({ length: 20 }, (_, index) => index),
  )
  assert.deepEqual(outages, ['store is away', 'over'])
})

test('the pauses of an outage double with the time it lasts, not with the number of messages that met it', async () => {
  const { AWAY } = defineErrors('queue-test', {
    AWAY: { kind: 'retryable', isOutage: true, status: 503, text: 'store is away' },
  })
  const { clock, take, publish } = open({ pauseBetweenRetriesMs: 1000, maxPauseBetweenRetriesMs: 30_000 })
  for (let count = 0; count < 20; count++) publish(1, String(count))
  const pauses: number[] = []
  for (let tries = 0; tries < 5; tries++) {
    const started = clock.monotonic()
    let works: Work[]
    while ((works = take()).length === 0) await clock.advance(10)
    pauses.push(Math.round((clock.monotonic() - started) / 1000))
    for (const work of works) work.end(AWAY())
  }
  assert.deepEqual(pauses, [0, 1, 2, 4, 8])
})

test('tries of a former run count', async () => {
  const { link, take } = open({ retries: 2 })
  link.put(message({ data: 'old' }), 3)
  const [work] = take()
  assert.equal(work?.attempt, 3)
  work?.end(new Error('again'))
  assert.equal(link.buried.length, 1)
})

test('pauses double up to their maximum', async () => {
  const { clock, take, publish } = open({ retries: 5, pauseBetweenRetriesMs: 100, maxPauseBetweenRetriesMs: 300 })
  publish(1, 'x')
  const times: number[] = []
  for (let tries = 0; tries < 5; tries++) {
    const start = clock.monotonic()
    let work: Work | undefined
    while ((work = take()[0]) === undefined) await clock.advance(2)
    times.push(clock.monotonic() - start)
    work.end(new Error('no'))
  }
  const expected = [0, 100, 200, 300, 300]
  times.forEach((time, index) => assert.ok(Math.abs(time - (expected[index] ?? 0)) <= 18, times.join(' ')))
})

test('a message that does not end in time has failed, and its late end is ignored', async () => {
  const { clock, link, take, publish, queue } = open({ processingTimeoutMs: 5000 })
  publish(1, 'slow')
  publish(2, 'quick')
  const [slow, quick] = take()
  quick?.end()
  await clock.advance(5100)
  assert.equal(queue.figures().timedOut, 1)
  slow?.branch(3)
  slow?.end()
  slow?.end(new Error('late'))
  await clock.advance(1100)
  const [again] = take()
  assert.equal(again?.attempt, 2)
  again?.end()
  await clock.settle()
  assert.deepEqual(
    link.settled.map((settled) => settled.data),
    ['quick', 'slow'],
  )
})

test('it takes no more than it may hold, and asks for more as messages are settled', async () => {
  const { clock, link, take, publish, queue } = open({ maxHeld: 5 })
  for (let count = 0; count < 12; count++) publish(count, String(count))
  assert.equal(queue.figures().held, 5)
  assert.equal(link.undelivered, 7)
  for (let round = 0; round < 3; round++) {
    take().forEach((work) => work.end())
    await clock.settle()
    assert.ok(queue.figures().held <= 5)
  }
  assert.equal(link.settled.length, 12)
})

test('large messages take the room of many, and give it back', async () => {
  const { clock, link, take, publish, queue } = open({ maxHeld: 10 })
  for (let count = 0; count < 6; count++) publish(count, 'x'.repeat(4 * 4096))
  assert.deepEqual([queue.figures().held, link.undelivered], [2, 4])
  for (let round = 0; round < 3; round++) {
    take().forEach((work) => work.end())
    await clock.settle()
  }
  assert.deepEqual([queue.figures().held, link.settled.length], [0, 6])
  for (let count = 0; count < 12; count++) publish(count, 'small')
  assert.equal(queue.figures().held, 10)
})

test('a lane whose few large messages fill half of the room is brought to its end without pauses', async () => {
  const { clock, link, take, publish } = open({ maxHeld: 10, retries: 3, pauseBetweenRetriesMs: 60_000 })
  publish(1, 'poison')
  take()[0]?.end(new Error('no'))
  await clock.settle()
  publish(1, 'x'.repeat(6 * 4096))
  for (let tries = 0; tries < 3; tries++) {
    take().forEach((work) => work.end(new Error('no')))
    await clock.settle()
    await clock.advance(16)
  }
  assert.equal(link.buried.length, 1)
})

test('a lane that fills half of the room is brought to its end without pauses', async () => {
  const { clock, link, take, publish } = open({ maxHeld: 10, retries: 3, pauseBetweenRetriesMs: 60_000 })
  publish(1, 'poison')
  take()[0]?.end(new Error('no'))
  for (let count = 0; count < 8; count++) publish(1, 'behind')
  for (let step = 0; step < 4; step++) {
    await clock.advance(20)
    take().forEach((work) => (work.message.data === 'poison' ? work.end(new Error('no')) : work.end()))
  }
  assert.equal(link.buried.length, 1)
})

test('a processor that throws fails the pack, and each message has one outcome', async () => {
  const clock = new ManualClock()
  const link = new MemoryLink()
  let calls = 0
  const processor = {
    process: (pack: readonly Work[]) => {
      if (calls++ > 0) return pack.forEach((work) => work.end())
      pack[0]?.end()
      throw new Error('a bug')
    },
  }
  link.publish(message({ device: 1 }))
  link.publish(message({ device: 2 }))
  createQueue({ link, processor, clock })
  await clock.advance(5000)
  assert.equal(link.settled.length, 2)
  assert.deepEqual(
    link.failures.map(({ message: { sequence } }) => sequence),
    [2],
  )
})

test('close takes nothing more, waits for what is in process, and settles it', async () => {
  const { clock, link, queue, take, publish } = open()
  publish(1, 'in process')
  const [work] = take()
  const closed = queue.close()
  assert.equal(queue.close(), closed)
  publish(1, 'late')
  assert.deepEqual(take(), [])
  let isClosed = false
  void closed.then(() => (isClosed = true))
  await clock.settle()
  assert.equal(isClosed, false)
  work?.end()
  await clock.settle()
  assert.equal(isClosed, true)
  assert.equal(link.settled.length, 1)
  assert.equal(clock.pendingTimers, 0)
})

test('a lane that was let go before its pause ended does not disturb the one that follows it', async () => {
  const { clock, take, publish } = open({
    maxHeld: 10,
    maxInFlightPerOriginator: 1,
    pauseBetweenRetriesMs: 1000,
    retries: 5,
  })
  publish(1, 'first')
  take()[0]?.end(new Error('no'))
  for (let count = 0; count < 6; count++) publish(1, 'crowd')
  for (let round = 0; round < 8; round++) {
    take().forEach((work) => work.end())
    await clock.settle()
  }
  await clock.advance(500)
  publish(1, 'second')
  take()[0]?.end(new Error('no'))
  // The pause of the first one would have ended here.
  await clock.advance(600)
  publish(1, 'third')
  assert.deepEqual(take(), [], 'the lane waits for its retry')
  await clock.advance(500)
  assert.deepEqual(data(take()), ['second'])
})

test('what the link has given to another process is not begun, and not tried again', async () => {
  const { clock, link, queue, take } = open({ maxInFlightPerOriginator: 1 })
  let isGone = false
  const put = (device: number, text: string): void => {
    link.put(message({ device, data: text }), 1)
    const delivery = link.delivered.at(-1)
    assert.ok(delivery !== undefined)
    Object.defineProperty(delivery, 'isGone', { get: () => isGone })
  }
  for (const text of ['a', 'b', 'c']) put(1, text)
  put(2, 'd')
  await clock.settle()
  const [a, d] = take()
  a?.end(new Error('no'))
  isGone = true
  d?.end()
  await clock.advance(5000)
  assert.deepEqual(data(take()), [])
  assert.deepEqual([queue.figures().held, queue.figures().failingLanes], [0, 0])
  isGone = false
  put(1, 'e')
  await clock.settle()
  assert.deepEqual(data(take()), ['e'], 'the lane is free')
})

test('issue-8 I: a queue that is to retire while its lanes change retries a bounded number of times', async () => {
  const { clock, link, queue, take, publish } = open({ submit: 'BURST' })
  publish(1, 'a')
  queue.apply({ submit: 'SEQUENTIAL_BY_TENANT', retries: Infinity, pauseBetweenRetriesMs: 1000 })
  let isGone = false
  void queue.retire().then((gone) => (isGone = gone))
  for (let tries = 0; tries < 20 && !isGone; tries++) {
    for (const work of take()) work.end(new Error('no'))
    await clock.advance(30_000)
  }
  assert.ok(isGone, 'it is still there')
  assert.equal(link.buried.length, 1)
})

test('backfill that fails does not hold up what the device sends now, nor its order', async () => {
  const { clock, link, take } = open()
  const late = (text: string) => message({ device: 1, data: text, metadata: { backfill: 'true' } })
  link.publish(late('late 1'))
  link.publish(late('late 2'))
  link.publish(message({ device: 1, data: 'now 1' }))
  for (const work of take()) if (work.message.data === 'late 1') work.end(new Error('down'))
  link.publish(message({ device: 1, data: 'now 2' }))
  await clock.settle()
  assert.deepEqual(data(take()), ['now 2'])
})
