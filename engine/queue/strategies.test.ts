/** What each strategy makes of successes, failures and timeouts; `docs/internals/queues.md` has the same as a table. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProcessingStrategyType } from '../../model/entities.ts'
import { defineErrors } from '../../model/errors.ts'
import { ManualClock } from '../actor/testkit.ts'
import { message } from '../link/testkit.ts'
import { createQueue, type Queue } from './queue.ts'
import { DEFAULT_QUEUE_SETTINGS, settingsOf, type QueueSettings } from './settings.ts'
import { MemoryLink } from './testkit.ts'
import type { Work } from './work.ts'

interface Opened {
  readonly clock: ManualClock
  readonly link: MemoryLink
  readonly queue: Queue
  /** Takes the started works, oldest first. */
  readonly take: () => Work[]
  readonly publish: (data: string, device?: number, tenantId?: string) => void
}

function open(settings: Partial<QueueSettings>): Opened {
  const clock = new ManualClock()
  const link = new MemoryLink()
  const works: Work[] = []
  const processor = { process: (pack: readonly Work[]) => void works.push(...pack) }
  const all = { retries: 1, pauseBetweenRetriesMs: 1000, processingTimeoutMs: 5000, ...settings }
  const queue = createQueue({ link, processor, clock, settings: all })
  const publish = (data: string, device = 1, tenantId = 't'): void => link.publish(message({ data, device, tenantId }))
  return { clock, link, queue, take: () => works.splice(0), publish }
}

const data = (works: readonly Work[]): string[] => works.map((work) => work.message.data)

/** What one pack of a success, a failure and a message that hangs comes to. */
async function outcomes(processing: ProcessingStrategyType) {
  const { clock, link, queue, take } = open({ processing })
  const publishAtOnce = ['good', 'bad', 'slow'].map((body, device) => message({ data: body, device }))
  // All three in one pack: they wait until the consumer has room.
  queue.apply({ processing, submit: 'SEQUENTIAL', retries: 1, pauseBetweenRetriesMs: 1000, processingTimeoutMs: 5000 })
  publishAtOnce.forEach((each) => link.publish(each))
  queue.apply({ processing, retries: 1, pauseBetweenRetriesMs: 1000, processingTimeoutMs: 5000 })
  await clock.settle()
  const runs: string[] = []
  const cancelled: string[] = []
  for (let step = 0; step < 60; step++) {
    for (const work of take()) {
      runs.push(work.message.data)
      if (work.message.data === 'good') work.end()
      if (work.message.data === 'bad') work.end(new Error('bad'))
      if (work.message.data === 'slow') {
        clock.after(6000, () => {
          if (work.isCancelled) cancelled.push('slow')
          work.end()
        })
      }
    }
    await clock.advance(500)
  }
  const count = (name: string): number => runs.filter((run) => run === name).length
  const figures = queue.figures()
  assert.equal(figures.held, 0)
  return {
    runs: `good ${count('good')}, bad ${count('bad')}, slow ${count('slow')}`,
    settled: link.settled.map((each) => each.data).sort(),
    buried: link.buried.map(({ delivery }) => delivery.message.data).sort(),
    skipped: figures.skipped,
    cancelled: cancelled.length > 0,
  }
}

const TABLE: Record<ProcessingStrategyType, Awaited<ReturnType<typeof outcomes>>> = {
  SKIP_ALL_FAILURES: {
    runs: 'good 1, bad 1, slow 1',
    settled: ['bad', 'good', 'slow'],
    buried: [],
    skipped: 2,
    cancelled: false,
  },
  SKIP_ALL_FAILURES_AND_TIMED_OUT: {
    runs: 'good 1, bad 1, slow 1',
    settled: ['bad', 'good', 'slow'],
    buried: [],
    skipped: 2,
    cancelled: true,
  },
  RETRY_ALL: {
    runs: 'good 2, bad 2, slow 2',
    settled: ['good'],
    buried: ['bad', 'slow'],
    skipped: 0,
    cancelled: true,
  },
  RETRY_FAILED: {
    runs: 'good 1, bad 2, slow 1',
    settled: ['good'],
    buried: ['bad', 'slow'],
    skipped: 0,
    cancelled: true,
  },
  RETRY_TIMED_OUT: {
    runs: 'good 1, bad 1, slow 2',
    settled: ['good'],
    buried: ['bad', 'slow'],
    skipped: 0,
    cancelled: true,
  },
  RETRY_FAILED_AND_TIMED_OUT: {
    runs: 'good 1, bad 2, slow 2',
    settled: ['good'],
    buried: ['bad', 'slow'],
    skipped: 0,
    cancelled: true,
  },
}

for (const processing of Object.keys(TABLE) as ProcessingStrategyType[]) {
  test(`${processing}: a success, a failure and a timeout come to what the table says`, async () => {
    assert.deepEqual(await outcomes(processing), TABLE[processing])
  })
}

test('BURST: everything starts at once', () => {
  const { take, publish } = open({ submit: 'BURST' })
  for (let device = 0; device < 5; device++) publish(String(device), device)
  assert.equal(take().length, 5)
})

test('BATCH: so many start, and the next batch when all of them have ended, failed ones too', async () => {
  const { clock, queue, take, publish } = open({ submit: 'BATCH', batchSize: 2 })
  for (let device = 0; device < 5; device++) publish(String(device), device)
  // The first came alone, and was a batch alone.
  const [zero] = take()
  zero?.end()
  await clock.settle()
  const [one, two, ...none] = take()
  assert.deepEqual([one?.message.data, two?.message.data, none.length], ['1', '2', 0])
  one?.end()
  await clock.settle()
  assert.deepEqual(take(), [])
  two?.end(new Error('failed'))
  await clock.settle()
  assert.deepEqual(data(take()), ['3', '4'])
  assert.equal(queue.figures().inFlight, 2)
})

test('SEQUENTIAL_BY_ORIGINATOR: one of each device, and a failure holds only its own device', async () => {
  const { clock, take, publish } = open({ submit: 'SEQUENTIAL_BY_ORIGINATOR' })
  for (const body of ['a', 'b']) for (const device of [1, 2]) publish(`${body}${device}`, device)
  const [first, second, ...none] = take()
  assert.deepEqual([first?.message.data, second?.message.data, none.length], ['a1', 'a2', 0])
  first?.end(new Error('failed'))
  second?.end()
  await clock.settle()
  assert.deepEqual(data(take()), ['b2'])
  await clock.advance(1100)
  const [again, ...nobody] = take()
  assert.deepEqual([again?.message.data, nobody.length], ['a1', 0])
  again?.end()
  await clock.settle()
  assert.deepEqual(data(take()), ['b1'])
})

test('SEQUENTIAL_BY_TENANT: one of each tenant, and a failure holds only its own tenant', async () => {
  const { clock, take, publish } = open({ submit: 'SEQUENTIAL_BY_TENANT' })
  for (const device of [1, 2]) for (const tenantId of ['x', 'y']) publish(`${tenantId}${device}`, device, tenantId)
  const [first, second, ...none] = take()
  assert.deepEqual([first?.message.data, second?.message.data, none.length], ['x1', 'y1', 0])
  first?.end(new Error('failed'))
  second?.end()
  await clock.settle()
  assert.deepEqual(data(take()), ['y2'])
})

test('SEQUENTIAL: one at a time, in the order of the log, whatever fails', async () => {
  const { clock, take, publish, link } = open({ submit: 'SEQUENTIAL', retries: 3 })
  for (let device = 0; device < 6; device++) publish(String(device), device)
  const order: string[] = []
  for (let step = 0; step < 60; step++) {
    const works = take()
    assert.ok(works.length <= 1)
    for (const work of works) {
      order.push(work.message.data)
      work.end(work.message.data === '2' && work.attempt < 3 ? new Error('failed') : undefined)
    }
    await clock.advance(500)
  }
  assert.deepEqual(order, ['0', '1', '2', '2', '2', '3', '4', '5'])
  assert.equal(link.settled.length, 6)
})

test('a message that never started is not given up by a timeout of those before it, also where failures are skipped', async () => {
  const { clock, take, publish, queue, link } = open({ submit: 'SEQUENTIAL', processing: 'SKIP_ALL_FAILURES' })
  publish('hangs')
  publish('behind')
  take()
  await clock.advance(5100)
  const [behind] = take()
  assert.equal(behind?.message.data, 'behind')
  behind?.end()
  await clock.settle()
  assert.equal(link.settled.length, 2)
  assert.deepEqual([queue.figures().skipped, queue.figures().settled], [1, 1])
})

test('an outage is no failure: also where failures are skipped its messages wait, and are not lost', async () => {
  const { AWAY } = defineErrors('strategies-test', {
    AWAY: { kind: 'retryable', isOutage: true, status: 503, text: 'store is away' },
  })
  const { clock, take, publish, link, queue } = open({
    processing: 'SKIP_ALL_FAILURES',
    maxPauseBetweenRetriesMs: 1000,
  })
  publish('kept')
  for (let tries = 0; tries < 5; tries++) {
    const [work] = take()
    assert.equal(work?.attempt, 1)
    work?.end(AWAY())
    await clock.advance(1100)
  }
  take()[0]?.end()
  await clock.settle()
  assert.deepEqual([link.settled.length, queue.figures().skipped], [1, 0])
})

test('retries without end: the message is tried for as long as it fails, and is never a dead letter', async () => {
  const settings = settingsOf({
    submitStrategy: { type: 'BURST', batchSize: 100 },
    processingStrategy: {
      type: 'RETRY_FAILED_AND_TIMED_OUT',
      retries: 0,
      failurePercentage: 0,
      pauseBetweenRetries: 5,
      maxPauseBetweenRetries: 5,
    },
    packProcessingTimeout: 2000,
  })
  assert.deepEqual(
    [settings.retries, settings.pauseBetweenRetriesMs, settings.processingTimeoutMs],
    [Infinity, 5000, 2000],
  )
  const { clock, take, publish, link } = open({ ...settings, maxHeld: 10 })
  for (let count = 0; count < 8; count++) publish('poison')
  let tries = 0
  for (let step = 0; step < 300; step++) {
    for (const work of take()) {
      tries++
      work.end(new Error('failed'))
    }
    await clock.advance(1000)
  }
  assert.equal(link.buried.length + link.settled.length, 0)
  // One lane that fills the room keeps its pauses: 8 first tries, then one in 5 s.
  assert.ok(tries > 50 && tries <= 8 + 60, `${tries} tries in 300 s`)
})

test('retries without end: a message that keeps the link full becomes a dead letter before nobody can send any more', async () => {
  const { clock, take, publish, link } = open({ retries: Infinity, maxPauseBetweenRetriesMs: 1000 })
  publish('poison')
  const failFor = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      take().forEach((work) => work.end(new Error('failed')))
      await clock.advance(1100)
    }
  }
  link.writable = false
  await failFor(8)
  assert.equal(link.buried.length, 0, 'it has not had many tries yet')
  link.writable = true
  await failFor(20)
  link.writable = false
  await failFor(2)
  link.writable = true
  await failFor(2)
  assert.equal(link.buried.length, 0, 'a short pause of the senders is no need')
  link.writable = false
  await failFor(3)
  assert.equal(link.buried.length, 1)
})

test('where more of a pack fails than the failure percentage allows, nothing of it is tried again', async () => {
  for (const [failing, isTriedAgain] of [
    [2, true],
    [3, false],
  ] as const) {
    const { clock, link, queue, take } = open({ submit: 'SEQUENTIAL', retries: 1 })
    for (let device = 0; device < 4; device++) link.publish(message({ device, data: String(device) }))
    take()[0]?.end()
    queue.apply({ retries: 1, failurePercentage: 70, pauseBetweenRetriesMs: 1000 })
    await clock.settle()
    const pack = take()
    assert.equal(pack.length, 3)
    pack.forEach((work, index) => work.end(index < failing ? new Error('failed') : undefined))
    await clock.advance(1100)
    assert.equal(take().length, isTriedAgain ? failing : 0)
    assert.equal(link.buried.length, isTriedAgain ? 0 : failing)
  }
})

test('other settings hold for what is held: lanes by tenant become lanes by device without a message lost or run twice', async () => {
  const { clock, take, publish, queue, link } = open({ submit: 'SEQUENTIAL_BY_TENANT' })
  for (let device = 0; device < 4; device++) for (const body of ['a', 'b']) publish(`${body}${device}`, device)
  const [running] = take()
  queue.apply({ submit: 'SEQUENTIAL_BY_ORIGINATOR' })
  await clock.settle()
  assert.deepEqual(take(), [], 'the old lanes end first')
  running?.end()
  const order: string[] = []
  for (let step = 0; step < 10; step++) {
    await clock.advance(10)
    for (const work of take()) {
      order.push(work.message.data)
      work.end()
    }
  }
  assert.deepEqual(order, ['b0', 'a1', 'a2', 'a3', 'b1', 'b2', 'b3'])
  assert.equal(link.settled.length, 8)
})

test('the default is to try again what failed or timed out, and to keep as dead letter what never succeeds', () => {
  assert.deepEqual(
    [DEFAULT_QUEUE_SETTINGS.submit, DEFAULT_QUEUE_SETTINGS.processing, DEFAULT_QUEUE_SETTINGS.retries],
    ['BURST', 'RETRY_FAILED_AND_TIMED_OUT', 10],
  )
})
