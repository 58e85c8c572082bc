/** A tenant whose messages succeed, and slower than they come, beside one whose messages take no time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineErrors } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import { message, SimulatedDisk } from '../link/testkit.ts'
import { openParking, type OpenParking } from '../parking/testkit.ts'
import type { ParkingOptions } from '../parking/parking.ts'
import { Lane } from './lane.ts'
import { Outages } from './outages.ts'
import { createQueue, type Queue } from './queue.ts'
import type { QueueSettings } from './settings.ts'
import type { Task } from './task.ts'
import { MemoryLink } from './testkit.ts'
import type { Work } from './work.ts'

const HEALTHY = 'healthy tenant'
const SLOW = 'slow tenant'
const SLOW_DEVICES = 20
const STEP_MS = 50

const { AWAY, OWN_LIMIT } = defineErrors('crowding-test', {
  AWAY: { kind: 'retryable', isOutage: true, status: 503, text: 'store is away' },
  OWN_LIMIT: { kind: 'retryable', isOutage: true, isOwnLimit: true, status: 503, text: 'its chain is full' },
})

interface Opened extends OpenParking {
  readonly clock: ManualClock
  readonly link: MemoryLink
  readonly queue: Queue
  process: (work: Work) => void
}

/** `processes` may be changed later; `stored` is in the link before the queue is there: it comes as one batch. */
async function open(
  settings: Partial<QueueSettings>,
  options: Partial<ParkingOptions> = {},
  processes: (work: Work) => void = (work) => work.end(),
  stored: readonly Message[] = [],
): Promise<Opened> {
  const clock = new ManualClock()
  const opening = openParking(new SimulatedDisk(clock, new SeededRandom(1)), clock, options)
  await clock.advance(100)
  const parking = await opening
  const link = new MemoryLink()
  for (const each of stored) link.publish(each)
  const processing = { process: processes }
  const queue = createQueue({
    link,
    clock,
    parking: parking.parking,
    processor: { process: (pack) => pack.forEach((work) => processing.process(work)) },
    settings: { pauseBetweenRetriesMs: 1000, maxPauseBetweenRetriesMs: 30_000, ...settings },
  })
  return Object.assign(processing, parking, { clock, link, queue })
}

/** A node that takes one message of an originator at a time, each for `callMs`. */
class SlowNode {
  /** In the order in which calls ended well. */
  readonly done = new Map<string, string[]>()
  calls = 0
  private readonly clock: ManualClock
  private readonly callMs: number
  private readonly lines = new Map<string, Work[]>()

  constructor(clock: ManualClock, callMs: number) {
    this.clock = clock
    this.callMs = callMs
  }

  take(work: Work): void {
    const { id } = work.message.originator
    const line = this.lines.get(id)
    if (line !== undefined) line.push(work)
    else {
      this.lines.set(id, [work])
      this.next(id)
    }
  }

  private next(id: string): void {
    const line = this.lines.get(id) ?? []
    while (line[0]?.isCancelled === true) line.shift()
    const [first] = line
    if (first === undefined) {
      this.lines.delete(id)
      return
    }
    this.calls++
    this.clock.after(this.callMs, () => {
      line.shift()
      if (!first.isCancelled) {
        const done = this.done.get(id) ?? []
        this.done.set(id, done)
        if (!done.includes(first.message.data)) done.push(first.message.data)
        first.end()
      }
      this.next(id)
    })
  }
}

const slow = (number: number) =>
  message({ device: number % SLOW_DEVICES, tenantId: SLOW, data: `${Math.floor(number / SLOW_DEVICES)}` })

test('a tenant whose messages succeed slower than they come holds up no other, and loses nothing, nor its order', async () => {
  const opened = await open({ maxHeld: 2000 })
  const { clock, link, queue, parking } = opened
  const node = new SlowNode(clock, 300)
  opened.process = (work) => (work.message.tenantId === SLOW ? node.take(work) : work.end())
  let sent = 0
  let healthy = 0
  let longestMs = 0
  let mostHeld = 0
  for (let ms = 0; ms < 30_000; ms += STEP_MS) {
    for (let count = 0; count < 20; count++) link.publish(slow(sent++))
    link.publish(message({ device: 5000, tenantId: HEALTHY, data: `${healthy++}` }))
    for (
      let waitedMs = 0;
      link.settled.filter(({ tenantId }) => tenantId === HEALTHY).length < healthy;
      waitedMs += 10
    ) {
      longestMs = Math.max(longestMs, waitedMs)
      assert.ok(waitedMs < 20_000, 'the healthy message waits for ever')
      await clock.advance(10)
    }
    await clock.advance(STEP_MS)
    mostHeld = Math.max(mostHeld, queue.figures().held)
  }
  assert.ok(longestMs <= 50, `a healthy message waited ${longestMs} ms`)
  assert.ok(mostHeld <= 2000, `${mostHeld} were held`)
  assert.ok(parking.figures().parked > 0)
  const wanted = sent / SLOW_DEVICES
  const all = (): boolean => [...node.done.values()].every((done) => done.length === wanted)
  for (let seconds = 0; !all() && seconds < 400; seconds++) await clock.advance(1000)
  for (const done of node.done.values())
    assert.deepEqual(
      done,
      Array.from({ length: wanted }, (_, n) => `${n}`),
    )
  await clock.advance(1000)
  assert.deepEqual([link.buried.length, opened.letters.letters.length, parking.figures().messages], [0, 0, 0])
  assert.deepEqual([queue.figures().held, queue.figures().failed - queue.figures().retried >= 0], [0, true])
  // What was in process when its lane was parked is done twice: one call for each time, not each message.
  assert.ok(node.calls < sent * 1.1, `${node.calls} calls for ${sent} messages`)
})

const of = (tenantId: string, device: number, data = 'x') => message({ device, tenantId, data })

test('a healthy message goes at once beside any number of tenants whose messages stay, and what they hold is bounded', async () => {
  for (const hostile of [1, 2, 7]) {
    const opened = await open({ maxHeld: 1000 })
    const { clock, link, queue } = opened
    opened.process = (work) => (work.message.tenantId === HEALTHY ? work.end() : undefined)
    link.publish(of(HEALTHY, 5000))
    for (let round = 0; round < 300; round++) {
      for (let count = 0; count < 7; count++) link.publish(of(`hostile ${count % hostile}`, (round + count) % 100))
      await clock.advance(10)
      const before = link.settled.filter(({ tenantId }) => tenantId === HEALTHY).length
      link.publish(of(HEALTHY, 5000))
      await clock.settle()
      const after = link.settled.filter(({ tenantId }) => tenantId === HEALTHY).length
      assert.equal(after - before, 1, `${hostile} hostile, round ${round}: ${queue.figures().held} are held`)
    }
  }
})

test('nobody is set aside where nobody would gain by it: one tenant alone, equals, an outage of all, or a tenant that may park no more', async () => {
  const fill = async (opened: Opened, tenants: readonly string[]): Promise<void> => {
    for (let count = 0; count < 1500; count++) opened.link.publish(of(tenants[count % tenants.length] ?? '', count))
    await opened.clock.advance(1000)
  }
  const hangs = (work: Work): void => (work.message.tenantId === HEALTHY ? work.end() : undefined)
  const alone = await open({ maxHeld: 1000 })
  alone.process = hangs
  await fill(alone, [SLOW])
  assert.deepEqual([alone.parking.figures().parked, alone.queue.figures().held], [0, 1000])
  const equals = await open({ maxHeld: 1000 })
  equals.process = hangs
  await fill(equals, ['one', 'two', 'three'])
  assert.deepEqual([equals.parking.figures().parked, equals.queue.figures().held], [0, 1000])
  const outage = await open({ maxHeld: 1000 })
  outage.link.publish(of(HEALTHY, 5000))
  outage.process = (work) => work.end(AWAY())
  await fill(outage, [SLOW])
  assert.deepEqual([outage.parking.figures().parked, outage.queue.figures().held], [0, 1000])
  const full = await open({ maxHeld: 1000 }, { bounds: { maxBytes: 1 << 20, maxTenantBytes: 20_000 } })
  full.process = hangs
  full.link.publish(of(HEALTHY, 5000))
  await fill(full, [SLOW])
  assert.deepEqual([full.letters.letters.length, full.parking.shares.full.size], [0, 1])
})

test('what is fast is parked without being begun twice; what is slow is begun twice once', async () => {
  const opened = await open({ maxHeld: 400 })
  const { clock, link } = opened
  const begun = new Map<string, number>()
  opened.process = (work) => {
    const { tenantId, data } = work.message
    begun.set(data, (begun.get(data) ?? 0) + 1)
    if (tenantId === HEALTHY) work.end()
    else clock.after(data.startsWith('fast') ? 100 : 2000, () => work.end())
  }
  link.publish(of(HEALTHY, 5000, 'healthy'))
  for (let count = 0; count < 350; count++) link.publish(of(SLOW, count % 2, `${count % 2 ? 'fast' : 'slow'} ${count}`))
  for (let seconds = 0; seconds < 60; seconds++) await clock.advance(1000)
  assert.equal(link.settled.length, 351)
  for (const [data, times] of begun) if (data.startsWith('fast')) assert.equal(times, 1, data)
  assert.ok([...begun.values()].every((times) => times <= 2))
  assert.ok(opened.parking.figures().parked > 0)
})

test('the lanes of a tenant that drain out of parking share its places', async () => {
  const opened = await open({ triesBeforeParking: 1, retries: Infinity, maxHeld: 20_000 }, { maxInProcess: 200 })
  const { clock, link, queue, parking } = opened
  opened.process = (work) => work.end(new Error('no'))
  for (let count = 0; count < 4000; count++) link.publish(of(SLOW, count % 20))
  await clock.advance(500)
  assert.equal(parking.figures().messages, 4000)
  let inProcess = 0
  opened.process = (work) => {
    inProcess = Math.max(inProcess, queue.figures().held)
    clock.after(50, () => work.end())
  }
  for (let seconds = 0; seconds < 120 && link.settled.length > 0 && parking.figures().messages > 0; seconds++)
    await clock.advance(1000)
  assert.equal(parking.figures().messages, 0)
  assert.ok(inProcess <= 120, `${inProcess} were in process`)
})

test('a lane of large messages drains out of parking by their size', async () => {
  const opened = await open({ triesBeforeParking: 1, retries: Infinity, maxHeld: 2000 }, { maxInProcess: 5000 })
  const { clock, link, parking } = opened
  opened.process = (work) => work.end(new Error('no'))
  for (let count = 0; count < 60; count++) link.publish(of(SLOW, 1, 'x'.repeat(20_480)))
  await clock.advance(500)
  assert.equal(parking.figures().messages, 60)
  let inProcess = 0
  opened.process = (work) => {
    inProcess = Math.max(inProcess, parking.figures().inProcess)
    clock.after(50, () => work.end())
  }
  for (let seconds = 0; seconds < 60; seconds++) await clock.advance(1000)
  assert.deepEqual([parking.figures().messages, link.settled.length], [0, 60])
  // Of 250 places a tenant has half, and a lane a quarter of that; each takes six.
  assert.equal(inProcess, 5)
})

const hangs = (work: Work): void => (work.message.tenantId === HEALTHY ? work.end() : undefined)

test('one batch that would fill the queue makes room too, whether by its messages or by their size', async () => {
  const many = Array.from({ length: 1000 }, (_, device) => of(SLOW, device))
  const large = Array.from({ length: 100 }, (_, device) => of(SLOW, device, 'x'.repeat(1 << 16)))
  for (const batch of [many, large]) {
    const { link, clock, queue, parking } = await open({ maxHeld: 1000 }, { maxInProcess: 8 }, hangs, [
      of(HEALTHY, 5000),
      ...batch,
    ])
    await clock.advance(1000)
    link.publish(of(HEALTHY, 5000))
    await clock.settle()
    const healthy = link.settled.filter(({ tenantId }) => tenantId === HEALTHY).length
    assert.ok(parking.figures().inProcess <= 4, `${parking.figures().inProcess} are tried out of parking`)
    assert.equal(healthy, 2, `${queue.figures().held} are held, ${parking.figures().messages} are parked`)
  }
})

test('a queue that was crowded a moment ago makes room at once when it is so again', async () => {
  const opened = await open({ maxHeld: 1000 })
  const { link, clock, queue, parking } = opened
  const begun: Work[] = []
  opened.process = (work) => void (work.message.tenantId === HEALTHY ? work.end() : begun.push(work))
  link.publish(of(HEALTHY, 5000))
  for (let count = 0; count < 800; count++) link.publish(of(SLOW, count))
  await clock.settle()
  for (const work of begun.splice(0)) work.end()
  await clock.advance(5)
  assert.equal(queue.figures().held, 0)
  for (let count = 0; count < 1000; count++) link.publish(of(SLOW, 10_000 + count))
  await clock.advance(500)
  link.publish(of(HEALTHY, 5000))
  await clock.settle()
  const healthy = link.settled.filter(({ tenantId }) => tenantId === HEALTHY).length
  assert.equal(healthy, 2, `${queue.figures().held} are held, ${parking.figures().messages} are parked`)
})

test('a lane that meets its own limit after an outage of all is in that outage no more', () => {
  const outages = new Outages(() => undefined)
  const lane = new Lane<Task>('device')
  outages.met(lane, AWAY())
  assert.equal(outages.isCommon, true)
  outages.met(lane, OWN_LIMIT())
  assert.equal(outages.isCommon, false)
  outages.over(lane)
  assert.equal(outages.isCommon, false)
})

test('what waits behind a batch leaves with its lane, and is not begun for it', async () => {
  const { link, clock } = await open({ maxHeld: 400, submit: 'BATCH', batchSize: 10 }, {}, hangs)
  link.publish(of(HEALTHY, 5000))
  for (let count = 0; count < 340; count++) link.publish(of(SLOW, count % 20))
  link.publish(of(HEALTHY, 5000))
  for (let waitedMs = 0; link.settled.length < 2; waitedMs += 25) {
    assert.ok(waitedMs < 1000, 'the healthy message waits behind all batches')
    await clock.advance(25)
  }
})

test('nothing is watched of lanes that are no more, and other settings begin nothing of a lane that leaves', async () => {
  const opened = await open({ maxHeld: 100, submit: 'BATCH', batchSize: 10 }, {}, () => undefined)
  const { link, clock, queue, parking } = opened
  await clock.advance(1000)
  const timers = clock.pendingTimers
  const begun: Work[] = []
  opened.process = (work) => void begun.push(work)
  link.publish(of(HEALTHY, 5000))
  for (let count = 0; count < 90; count++) link.publish(of(SLOW, count % 20))
  queue.apply({ maxHeld: 100, submit: 'SEQUENTIAL' })
  opened.process = (work) => work.end()
  for (const work of begun) work.end()
  for (let seconds = 0; seconds < 60; seconds++) await clock.advance(1000)
  assert.deepEqual([queue.figures().held, parking.figures().messages], [0, 0])
  assert.equal(clock.pendingTimers, timers)

  const other = await open({ maxHeld: 100, maxInFlightPerOriginator: 1 })
  const times = new Map<string, number>()
  other.process = (work) => {
    const { tenantId, data } = work.message
    times.set(data, (times.get(data) ?? 0) + 1)
    if (tenantId === HEALTHY) work.end()
    else other.clock.after(300, () => work.end())
  }
  other.link.publish(of(HEALTHY, 5000))
  for (let count = 0; count < 80; count++) other.link.publish(of(SLOW, count % 2, `${count}`))
  other.queue.apply({ maxHeld: 100, maxInFlightPerOriginator: 256 })
  for (let seconds = 0; seconds < 60; seconds++) await other.clock.advance(1000)
  assert.equal(other.link.settled.length, 81)
  assert.deepEqual(
    [...times].filter(([, count]) => count > 1).map(([data]) => data),
    ['0', '1'],
  )
})

test('what is tried out of parking fills no queue, however many tenants it is of, nor takes all the places', async () => {
  const opened = await open({ maxHeld: 1000, retries: Infinity }, { maxInProcess: 5000 }, hangs)
  const { link, clock, queue, parking } = opened
  const healthy = (): number => link.settled.filter(({ tenantId }) => tenantId === HEALTHY).length
  for (let round = 1; round <= 150; round++) {
    link.publish(of(HEALTHY, 5000))
    for (let count = 0; count < 20; count++) link.publish(of(`slow ${count % 2}`, round * 20 + count, 'x'.repeat(5000)))
    await clock.advance(50)
    assert.equal(healthy(), round, `${queue.figures().held} are held, ${parking.figures().inProcess} out of parking`)
  }
  assert.ok(parking.figures().inProcess > 20)
  // One whose message failed once too often is tried again beside those whose messages stay for ever.
  let tries = 0
  opened.process = (work) => {
    if (work.message.tenantId === 'third') work.end(++tries < 4 ? new Error('not yet') : undefined)
    else hangs(work)
  }
  link.publish(of('third', 7000))
  for (let seconds = 0; seconds < 20; seconds++) await clock.advance(1000)
  assert.deepEqual([tries, link.settled.some(({ tenantId }) => tenantId === 'third')], [4, true])
})

test('messages that wait for a busy store make room for a tenant that was never heard, once something of it waits', async () => {
  const waiting: Work[] = []
  const { clock, link, queue, parking } = await open({ maxHeld: 100, crowdingTimeoutMs: 1000 }, {}, (work) => {
    if (work.message.tenantId === SLOW) waiting.push(work)
    else work.end()
  })
  for (let number = 0; number < 300; number++) link.publish(slow(number))
  const pass = async (seconds: number): Promise<void> => {
    for (let ms = 0; ms < seconds * 1000; ms += 100) {
      for (const work of waiting) work.postpone(clock.monotonic())
      await clock.advance(100)
    }
  }
  await pass(5)
  assert.deepEqual([waiting.length, parking.figures().parked], [100, 0], 'nobody else needs the room')
  link.publish(message({ device: 5000, tenantId: HEALTHY, data: 'first' }))
  await pass(3)
  assert.ok(link.settled.some(({ tenantId }) => tenantId === HEALTHY))
  assert.equal(queue.figures().buried, 0)
})
