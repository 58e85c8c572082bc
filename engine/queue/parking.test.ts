/** A tenant whose messages fail again and again, beside one whose messages do not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineErrors } from '../../model/errors.ts'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import { LinkErrors } from '../link/errors.ts'
import { message, SimulatedDisk } from '../link/testkit.ts'
import { openParking, type OpenParking } from '../parking/testkit.ts'
import type { ParkingOptions } from '../parking/parking.ts'
import { unhandledFailure } from '../rulechain/errors.ts'
import { createQueue, type Queue } from './queue.ts'
import type { QueueSettings } from './settings.ts'
import { MemoryLink } from './testkit.ts'
import type { Work } from './work.ts'

const HEALTHY = 'healthy tenant'
const { AWAY, FULL } = defineErrors('parking-test', {
  AWAY: { kind: 'retryable', isOutage: true, status: 503, text: 'store is away' },
  FULL: { kind: 'retryable', isOutage: true, isOwnLimit: true, status: 503, text: 'the chain is full' },
})

interface Opened extends OpenParking {
  readonly clock: ManualClock
  readonly disk: SimulatedDisk
  readonly link: MemoryLink
  readonly queue: Queue
  readonly works: Work[]
  /** How works end that nobody takes; undefined leaves them open. */
  process: (work: Work) => void
}

async function open(settings: Partial<QueueSettings> = {}, options: Partial<ParkingOptions> = {}): Promise<Opened> {
  const clock = new ManualClock()
  const disk = new SimulatedDisk(clock, new SeededRandom(1))
  const opening = openParking(disk, clock, options)
  await clock.advance(100)
  const parking = await opening
  const link = new MemoryLink()
  const works: Work[] = []
  const opened: Opened = {
    ...parking,
    clock,
    disk,
    link,
    works,
    process: (work) => void works.push(work),
    queue: createQueue({
      link,
      clock,
      parking: parking.parking,
      processor: { process: (pack) => pack.forEach((work) => opened.process(work)) },
      settings: { pauseBetweenRetriesMs: 1000, maxPauseBetweenRetriesMs: 30_000, retries: 10, ...settings },
    }),
  }
  return opened
}

const failing = (work: Work): void => work.end(work.message.tenantId === HEALTHY ? undefined : new Error('no'))
const texts = (works: readonly Work[]): string[] => works.map((work) => work.message.data)

test('issue-8 A: 1,000 devices of one tenant whose messages all fail leave room to another tenant, whose messages go at once', async () => {
  const opened = await open({ retries: Infinity })
  const { clock, link, queue } = opened
  opened.process = failing
  let sent = 0
  for (let round = 0; round < 40; round++) {
    for (let device = 1; device <= 1000; device++) link.publish(message({ device, data: 'bad' }))
    await clock.advance(250)
    const before = queue.figures().settled
    link.publish(message({ device: 5000, tenantId: HEALTHY, data: 'good' }))
    sent++
    await clock.settle()
    assert.equal(queue.figures().settled - before, 1, `round ${round}: the healthy message was not settled at once`)
    assert.ok(queue.figures().held <= 20_000 / 4 + 1000, `round ${round}: ${queue.figures().held} are held`)
  }
  const good = link.settled.filter(({ tenantId }) => tenantId === HEALTHY)
  assert.equal(good.length, sent)
  // None of the bad ones is lost: each is in memory, or parked.
  assert.equal(opened.parking.figures().messages + queue.figures().held, 40_000 + opened.parking.figures().inProcess)
})

test('issue-8 A: messages of one tenant that hang fill the queue for no longer than the time for that, under each strategy', async () => {
  for (const processing of ['RETRY_FAILED_AND_TIMED_OUT', 'SKIP_ALL_FAILURES', 'RETRY_ALL'] as const) {
    const opened = await open({ processing, crowdingTimeoutMs: 4000 })
    const { clock, link, queue, parking } = opened
    let hanging = 0
    opened.process = (work) => {
      if (work.message.tenantId === HEALTHY) work.end()
      else hanging++
    }
    for (let count = 0; count < 20_000; count++) link.publish(message({ device: count % 1000, data: 'hangs' }))
    link.publish(message({ device: 5000, tenantId: HEALTHY, data: 'good' }))
    assert.deepEqual([hanging, link.undelivered], [20_000, 1])
    await clock.advance(3900)
    assert.equal(queue.figures().settled, 0)
    await clock.advance(1500)
    assert.ok(
      link.settled.some(({ tenantId }) => tenantId === HEALTHY),
      `${processing}: the healthy message waits`,
    )
    // Each has its try still: none was skipped, buried or counted as failed by its strategy.
    assert.deepEqual([parking.figures().messages, link.buried.length, queue.figures().skipped], [20_000, 0, 0])
    const [lane] = parking.list({ tenantId: undefined, offset: 0, limit: 1 }).lanes
    assert.match(lane?.why ?? '', /more than its share/)
  }
})

test('issue-8 A: a queue that less room has made full gives hanging messages back too', async () => {
  const opened = await open({ maxHeld: 1000, crowdingTimeoutMs: 4000 })
  const { clock, link, queue, parking } = opened
  for (let device = 0; device < 500; device++) link.publish(message({ device, data: 'hangs' }))
  queue.apply({ maxHeld: 400, crowdingTimeoutMs: 4000 })
  await clock.advance(5500)
  assert.equal(parking.figures().messages, 500)
})

test('a slow message of a tenant within its share keeps its time while the queue is full; so does what is tried out of a parked lane', async () => {
  const opened = await open({ maxHeld: 100, tenantShare: 0.5, crowdingTimeoutMs: 1000 })
  const { clock, link, works, parking, queue } = opened
  for (let device = 0; device < 20; device++) link.publish(message({ device, tenantId: HEALTHY, data: 'slow' }))
  for (let device = 100; device < 180; device++) link.publish(message({ device, data: 'hangs' }))
  await clock.advance(1500)
  const slow = works.splice(0).filter(({ message: { tenantId } }) => tenantId === HEALTHY)
  assert.deepEqual([slow.length, slow.every(({ isCancelled }) => !isCancelled)], [20, true])
  assert.equal(parking.figures().messages, 80)
  for (const work of slow) work.end()
  await clock.advance(5000)
  const tried = works.splice(0)
  assert.ok(tried.length > 0)
  for (let device = 200; device < 260; device++) link.publish(message({ device, tenantId: 'third', data: 'x' }))
  await clock.advance(3000)
  for (const work of tried) work.end()
  await clock.advance(1000)
  assert.equal(queue.figures().settled >= 20 + tried.length, true)
})

test('a lane that failed three times is parked whole, its successors behind it, and the link is told that it is durable', async () => {
  const opened = await open()
  const { clock, link, works, parking } = opened
  for (const data of ['1', '2', '3']) link.publish(message({ device: 1, data }))
  for (const work of works.splice(0)) work.end(work.message.data === '1' ? new Error('no') : undefined)
  for (const data of ['4', '5']) link.publish(message({ device: 1, data }))
  for (let tries = 2; tries <= 3; tries++) {
    await clock.advance(2100)
    const taken = works.splice(0)
    assert.deepEqual([texts(taken), taken[0]?.attempt], [['1'], tries])
    taken[0]?.end(new Error('no'))
  }
  assert.equal(link.settled.length, 2, 'settled before it was durable')
  await clock.advance(100)
  assert.deepEqual(
    link.settled.map(({ data }) => data),
    ['2', '3', '1', '4', '5'],
  )
  const page = parking.list({ tenantId: undefined, offset: 0, limit: 10 })
  assert.deepEqual(
    page.lanes.map(({ messages, tries, why, state }) => ({ messages, tries, why, state })),
    [{ messages: 3, tries: 3, why: 'no', state: 'waiting' }],
  )
  assert.deepEqual(opened.queue.figures().held, 0)
})

test('a parked lane is tried head first; once that succeeds the others follow in order, and the lane is the queue’s again', async () => {
  const opened = await open({ triesBeforeParking: 1, maxInFlightPerOriginator: 2 })
  const { clock, link, works, parking } = opened
  for (const data of ['1', '2', '3', '4']) link.publish(message({ device: 1, data }))
  works.splice(0).forEach((work) => work.end(new Error('no')))
  await clock.advance(100)
  assert.equal(parking.figures().messages, 4)
  link.publish(message({ device: 1, data: '5' }))
  await clock.advance(100)
  assert.equal(parking.figures().messages, 5, 'what comes is put behind')
  assert.equal(works.length, 0)
  await clock.advance(1000)
  const [head, ...none] = works.splice(0)
  assert.deepEqual([head?.message.data, head?.attempt, none.length], ['1', 2, 0])
  head?.end()
  await clock.advance(100)
  const seen = ['1']
  while (works.length > 0) {
    const [work] = works.splice(0, 1)
    seen.push(work?.message.data ?? '')
    work?.end()
    await clock.advance(20)
  }
  assert.deepEqual(seen, ['1', '2', '3', '4', '5'])
  await clock.advance(100)
  assert.deepEqual([parking.figures().lanes, parking.figures().messages, parking.figures().bytes], [0, 0, 0])
  link.publish(message({ device: 1, data: '6' }))
  await clock.settle()
  assert.deepEqual(texts(works), ['6'], 'the lane is free')
  assert.equal(link.settled.length, 5)
})

test('what fails again while it drains goes back whole; its tries are those of the message', async () => {
  const opened = await open({ triesBeforeParking: 1 })
  const { clock, link, works, parking } = opened
  for (const data of ['1', '2', '3']) link.publish(message({ device: 1, data }))
  works.splice(0).forEach((work) => work.end(new Error('no')))
  await clock.advance(1200)
  works.splice(0).forEach((work) => work.end())
  await clock.advance(100)
  const [second, third] = works.splice(0)
  assert.deepEqual([second?.message.data, second?.attempt, third?.message.data], ['2', 2, '3'])
  link.publish(message({ device: 1, data: '4' }))
  await clock.settle()
  assert.deepEqual(texts(works.splice(0)), ['4'], 'all are handed out: what comes goes behind them')
  third?.end()
  second?.end(new Error('again'))
  await clock.advance(100)
  assert.equal(parking.figures().lanes, 1)
})

test('after its last try a parked message is a dead letter, and the next one is tried at once', async () => {
  const opened = await open({ triesBeforeParking: 1, retries: 1 })
  const { clock, link, works, letters } = opened
  for (const data of ['1', '2']) link.publish(message({ device: 1, data }))
  works.splice(0).forEach((work) => work.end(new Error('no')))
  await clock.advance(1200)
  works.splice(0).forEach((work) => work.end(new Error('still no')))
  await clock.advance(100)
  assert.deepEqual(
    letters.letters.map(({ message: { data }, attempts, reason }) => ({ data, attempts, reason })),
    [{ data: '1', attempts: 2, reason: 'still no' }],
  )
  const [second] = works.splice(0)
  assert.equal(second?.message.data, '2')
  second?.end()
  await clock.advance(100)
  assert.equal(opened.parking.figures().lanes, 0)
})

test('an outage parks nothing, however often and however much; a limit of the tenant’s own does, beyond its share', async () => {
  const opened = await open({ maxHeld: 100 })
  const { clock, link, parking, queue } = opened
  opened.process = (work) => work.end(AWAY())
  for (let device = 1; device <= 60; device++) link.publish(message({ device, data: 'x' }))
  for (let count = 0; count < 30; count++) link.publish(message({ device: 1, data: 'behind' }))
  await clock.advance(600_000)
  assert.deepEqual([parking.figures().parked, queue.figures().held], [0, 90])
  opened.process = (work) => work.end(FULL())
  await clock.advance(60_000)
  assert.ok(parking.figures().lanes >= 35, `${parking.figures().lanes} lanes are parked`)
  assert.ok(queue.figures().held <= 25)
})

test('issue-8 I: lanes that wait for room in a full log are parked, which makes that room', async () => {
  const opened = await open({ maxHeld: 100, processing: 'SKIP_ALL_FAILURES' })
  const { clock, link, parking } = opened
  const refusal = LinkErrors.BACKLOG_FULL({ bytes: 1, limit: 1 })
  opened.process = (work) => work.end(unhandledFailure('chain', 'checkpoint', refusal))
  // No tenant is beyond its share, and together they fill the room: nothing could settle, so the log would never have room again.
  for (let tenant = 1; tenant <= 200; tenant++) link.publish(message({ tenantId: `t${tenant}`, device: tenant }))
  await clock.advance(30_000)
  assert.deepEqual([link.undelivered, parking.figures().messages, link.buried.length], [0, 200, 0])
  assert.equal(link.settled.length, 200)
  opened.process = (work) => work.end()
  await clock.advance(60_000)
  assert.deepEqual([parking.figures().lanes, opened.queue.figures().skipped], [0, 0])
})

test('a store of parked messages that refuses loses nothing: the link is not told, and hears of it once the store is back', async () => {
  const opened = await open({ triesBeforeParking: 1 })
  const { clock, link, works, parking, disk } = opened
  disk.faults.failedWrite = 1
  link.publish(message({ device: 1, data: '1' }))
  works.splice(0).forEach((work) => work.end(new Error('no')))
  link.publish(message({ device: 1, data: '2' }))
  await clock.advance(20_000)
  assert.deepEqual([link.settled.length, parking.figures().messages, opened.queue.figures().held], [0, 0, 2])
  disk.faults.failedWrite = 0
  await clock.advance(10_000)
  assert.equal(link.settled.length, 2)
  assert.deepEqual(texts(works), ['1'])
})

test('retry now and to the dead letters', async () => {
  const opened = await open({
    retries: Infinity,
    pauseBetweenRetriesMs: 3_600_000,
    maxPauseBetweenRetriesMs: 3_600_000,
    triesBeforeParking: 1,
  })
  const { clock, link, works, parking, letters } = opened
  for (const data of ['1', '2']) link.publish(message({ device: 1, data }))
  works.splice(0).forEach((work) => work.end(new Error('no')))
  await clock.advance(100)
  const [lane] = parking.list({ tenantId: undefined, offset: 0, limit: 10 }).lanes
  assert.ok(lane !== undefined)
  assert.equal(parking.retryNow(lane.id, 'a stranger'), false)
  assert.equal(parking.retryNow(lane.id, lane.tenantId), true)
  await clock.advance(100)
  assert.deepEqual(texts(works), ['1'])
  assert.equal(parking.giveUp(lane.id, undefined), true)
  works.splice(0).forEach((work) => work.end(new Error('no')))
  await clock.advance(200)
  assert.deepEqual(
    letters.letters.map(({ message: { data } }) => data),
    ['1', '2'],
  )
  assert.equal(parking.figures().lanes, 0)
})

test('a tenant whose share is full is named, alone, and until there is room again', async () => {
  const heard: string[][] = []
  const opened = await open(
    { triesBeforeParking: 1, retries: Infinity },
    { bounds: { maxBytes: 1 << 20, maxTenantBytes: 20_000 }, onFull: (full) => void heard.push([...full]) },
  )
  const { clock, link, parking } = opened
  opened.process = failing
  const sample = message({ device: 1 })
  for (let count = 0; count < 40; count++) link.publish(message({ device: 1 + (count % 4), data: 'x'.repeat(500) }))
  link.publish(message({ device: 9, tenantId: 'another', data: 'x' }))
  await clock.advance(200)
  assert.deepEqual(heard, [[sample.tenantId]])
  for (const lane of parking.list({ tenantId: undefined, offset: 0, limit: 10 }).lanes)
    parking.giveUp(lane.id, undefined)
  await clock.advance(1000)
  assert.deepEqual(heard, [[sample.tenantId], []])
})

test('issue-8 I: in strict order a failed message is retried before any of its successors starts', async () => {
  for (const [isStrict, expected] of [
    [true, ['1', '1', '2', '3']],
    [false, ['1', '2', '3', '1']],
  ] as const) {
    const { clock, link, works } = await open(isStrict ? { maxInFlightPerOriginator: 1 } : {})
    const begun: string[] = []
    for (const data of ['1', '2', '3']) link.publish(message({ device: 1, data }))
    for (let round = 0; round < 4; round++) {
      for (const work of works.splice(0)) {
        begun.push(work.message.data)
        work.end(work.message.data === '1' && work.attempt === 1 ? new Error('no') : undefined)
      }
      await clock.advance(1500)
    }
    assert.deepEqual(begun, expected, isStrict ? 'strict' : 'side by side')
  }
})

test('issue-8 A: however long the text is that a chain throws, little of it is kept with a lane and with a letter', async () => {
  const opened = await open({ retries: 4, triesBeforeParking: 2 })
  const { clock, link, parking, letters } = opened
  opened.process = (work) => work.end(new Error('x'.repeat(1 << 20)))
  link.publish(message({ device: 1, data: 'bad' }))
  await clock.advance(2000)
  const [lane] = parking.list({ tenantId: undefined, offset: 0, limit: 10 }).lanes
  assert.equal(lane?.why.length, 500)
  await clock.advance(60_000)
  assert.deepEqual(
    letters.letters.map(({ reason }) => reason.length),
    [1000],
  )
})

test('issue-8 A: a queue that was to retire while its lanes changed, and is wanted again, has its parked lanes', async () => {
  const opened = await open({ submit: 'BURST' })
  const { clock, link, works, queue, parking } = opened
  link.publish(message({ device: 1, data: '1' }))
  queue.apply({ submit: 'SEQUENTIAL_BY_TENANT' })
  void queue.retire()
  queue.apply({ submit: 'BURST', pauseBetweenRetriesMs: 1000 })
  for (let tries = 1; tries <= 3; tries++) {
    works.splice(0).forEach((work) => work.end(new Error('no')))
    await clock.advance(3000)
  }
  assert.equal(parking.figures().parked, 1)
  await clock.advance(10_000)
  works.splice(0).forEach((work) => work.end())
  await clock.advance(100)
  assert.deepEqual([parking.figures().lanes, queue.figures().settled], [0, 1])
})

test('backfill is parked by itself, under the name of its device, and what is sent now goes on', async () => {
  const opened = await open({ retries: Infinity })
  const { clock, link, parking } = opened
  const late = (data: string) => message({ device: 1, data, metadata: { backfill: 'true' } })
  const done: string[] = []
  opened.process = (work) => {
    if (!work.message.isBackfill) done.push(work.message.data)
    work.end(work.message.isBackfill ? new Error('no') : undefined)
  }
  link.publish(late('late 1'))
  for (let seconds = 0; seconds < 60; seconds++) await clock.advance(1000)
  link.publish(late('late 2'))
  const now = message({ device: 1, data: 'now' })
  link.publish(now)
  await clock.advance(1000)
  assert.deepEqual(done, ['now'])
  const { lanes } = parking.list({ tenantId: undefined, offset: 0, limit: 9 })
  assert.deepEqual(
    lanes.map(({ originatorType, originatorId, messages }) => [originatorType, originatorId, messages]),
    [['DEVICE', now.originator.id, 2]],
  )
})

test('what was parked before a crash and comes late from the link is not run again, however far its lane is by then', async () => {
  const before = await open({ triesBeforeParking: 1 })
  before.process = failing
  before.link.publish(message({ device: 1, data: 'a' }))
  before.link.publish(message({ device: 1, data: 'b' }))
  await before.clock.advance(500)
  const [a, b] = before.link.settled
  assert.ok(a !== undefined && b !== undefined)
  const { clock } = before
  before.queue.close().catch(assert.fail)
  const opening = openParking(before.disk, clock)
  await clock.advance(100)
  const { parking } = await opening
  const link = new MemoryLink()
  const works: Work[] = []
  const begin = (pack: readonly Work[]): void => void works.push(...pack)
  createQueue({ link, clock, parking, processor: { process: begin } })
  // Both sequences are the link's: it delivers what it did not know to be settled, in the order of its log.
  await clock.advance(2000)
  assert.deepEqual(texts(works), ['a'])
  works.shift()?.end()
  await clock.advance(10)
  assert.deepEqual(texts(works), ['b'])
  link.put(a, 1)
  await clock.advance(10)
  link.put(b, 1)
  await clock.advance(10)
  assert.deepEqual([texts(works), link.settled.length], [['b'], 2])
  works.shift()?.end()
  await clock.advance(10)
  assert.deepEqual([works.length, parking.figures().messages], [0, 0])
})
