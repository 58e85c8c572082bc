import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProcessingStrategyType, SubmitStrategyType } from '../../model/entities.ts'
import { NULL_UUID } from '../../model/entity-id.ts'
import { defineErrors } from '../../model/errors.ts'
import { ManualClock } from '../actor/testkit.ts'
import { message } from '../link/testkit.ts'
import { createQueues, type QueueDefinition, type Queues, type QueuesOptions } from './queues.ts'
import { MemoryLink } from './testkit.ts'
import type { Work } from './work.ts'

const TENANT = '10000000-0000-4000-8000-000000000001'

function queue(name: string, change: Partial<{ tenantId: string; submit: SubmitStrategyType; retries: number }> = {}) {
  const { tenantId = NULL_UUID, submit = 'BURST', retries = 1 } = change
  const type: ProcessingStrategyType = 'RETRY_FAILED_AND_TIMED_OUT'
  const pauses = { failurePercentage: 0, pauseBetweenRetries: 1, maxPauseBetweenRetries: 1 }
  return {
    tenantId,
    name,
    submitStrategy: { type: submit, batchSize: 10 },
    processingStrategy: { type, retries, ...pauses },
    packProcessingTimeout: 5000,
  } satisfies QueueDefinition
}

interface Opened {
  readonly clock: ManualClock
  readonly link: MemoryLink
  readonly queues: Queues
  readonly take: () => Work[]
  readonly outages: string[]
  readonly publish: (data: string, queueName?: string, device?: number) => void
}

function open(
  definitions: readonly QueueDefinition[],
  maxHeld = 1000,
  settings: QueuesOptions['settings'] = {},
): Opened {
  const clock = new ManualClock()
  const link = new MemoryLink()
  const works: Work[] = []
  const outages: string[] = []
  const queues = createQueues(
    {
      link,
      processor: { process: (pack) => void works.push(...pack) },
      clock,
      maxHeld,
      settings,
      onOutage: (queueName, failure) => outages.push(`${queueName}: ${failure?.message ?? 'over'}`),
    },
    definitions,
  )
  const publish = (data: string, queueName?: string, device = 1): void =>
    link.publish(message({ data, queueName, device }))
  return { clock, link, queues, take: () => works.splice(0), outages, publish }
}

const data = (works: readonly Work[]): string[] => works.map((work) => work.message.data)
const names = (queues: Queues): string[] => queues.figures().map(({ queueName }) => queueName)

test('each queue works by its own settings, and Main is there without being defined', async () => {
  const { clock, queues, take, publish } = open([queue('Slow', { submit: 'SEQUENTIAL' })])
  assert.deepEqual(names(queues), ['Slow', 'Main'])
  for (const queueName of ['Slow', undefined, 'Unknown']) for (const body of ['a', 'b']) publish(body, queueName)
  const works = take()
  assert.deepEqual(data(works), ['a', 'a', 'b', 'a', 'b'], 'one of Slow, all others of Main')
  works.forEach((work) => work.end())
  await clock.settle()
  assert.deepEqual(data(take()), ['b'])
  assert.deepEqual(
    queues.figures().map(({ queueName, received, inFlight }) => [queueName, received, inFlight]),
    [
      ['Slow', 2, 1],
      ['Main', 4, 0],
    ],
  )
})

test('issue-8 I: strict order is a queue’s own, where its record says so; else it is as the process is set', async () => {
  for (const isStrictByDefault of [false, true]) {
    const infos = {
      Strict: { strictOrder: true },
      Parallel: { strictOrder: false, other: 1 },
      Odd: { strictOrder: 'yes' },
    }
    const definitions = Object.entries(infos).map(([name, additionalInfo]) => ({ ...queue(name), additionalInfo }))
    const settings = isStrictByDefault ? { maxInFlightPerOriginator: 1 } : {}
    const { queues, take, publish } = open([queue('Silent'), ...definitions], 1000, settings)
    for (const queueName of ['Strict', 'Parallel', 'Odd', 'Silent'])
      for (const body of ['1', '2']) publish(body, queueName)
    const inFlight = Object.fromEntries(queues.figures().map((figures) => [figures.queueName, figures.inFlight]))
    const byDefault = isStrictByDefault ? 1 : 2
    assert.deepEqual(inFlight, { Silent: byDefault, Strict: 1, Parallel: 2, Odd: byDefault, Main: 0 })
    assert.equal(take().length, isStrictByDefault ? 5 : 7)
  }
})

test('a tenant’s queue is called by tenant and name, so two may have one of the same name', () => {
  const other = TENANT.replace('1000', '2000')
  const { queues, take, publish } = open([
    queue('Slow', { tenantId: TENANT, submit: 'SEQUENTIAL' }),
    queue('Slow', { tenantId: other, submit: 'SEQUENTIAL' }),
  ])
  assert.deepEqual(names(queues), [`${TENANT}.Slow`, `${other}.Slow`, 'Main'])
  publish('one', `${TENANT}.Slow`)
  publish('two', `${other}.Slow`)
  assert.deepEqual(data(take()), ['one', 'two'])
})

test('a queue that is defined no more ends what it holds, retries too; then the rest is Main’s, in order', async () => {
  const { clock, link, queues, take, publish } = open([queue('Gone', { submit: 'SEQUENTIAL' })], 400)
  for (let count = 0; count < 150; count++) publish(String(count), 'Gone')
  const settled: string[] = []
  const finish = (works: readonly Work[]): void => {
    for (const work of works) {
      const fails = work.message.data === '0' && work.attempt === 1
      if (!fails) settled.push(work.message.data)
      work.end(fails ? new Error('failed') : undefined)
    }
  }
  queues.apply([])
  assert.deepEqual(
    queues.figures().map(({ queueName, isRetiring }) => [queueName, isRetiring]),
    [
      ['Gone', true],
      ['Main', false],
    ],
  )
  publish('late', 'Gone')
  for (let step = 0; step < 400 && settled.length < 151; step++) {
    finish(take())
    await clock.advance(10)
  }
  assert.deepEqual(settled, [...Array.from({ length: 150 }, (_, index) => String(index)), 'late'])
  assert.deepEqual(names(queues), ['Main'])
  assert.equal(link.settled.length, 151)
  assert.deepEqual([queues.totals().settled, queues.totals().failed], [151, 1], 'what is gone still counts')
})

test('a queue that retried without end does not keep its end waiting for ever', async () => {
  const { clock, link, queues, take, publish } = open([queue('Gone', { retries: 0 })])
  publish('poison', 'Gone')
  for (let step = 0; step < 60; step++) {
    take().forEach((work) => work.end(new Error('failed')))
    await clock.advance(1000)
  }
  assert.equal(link.buried.length, 0)
  queues.apply([])
  for (let step = 0; step < 5; step++) {
    take().forEach((work) => work.end(new Error('failed')))
    await clock.advance(1000)
  }
  assert.equal(link.buried.length, 1)
  assert.deepEqual(names(queues), ['Main'])
})

test('a queue that comes back before it is gone goes on', async () => {
  const { clock, queues, take, publish } = open([queue('Back', { submit: 'SEQUENTIAL' })])
  publish('one', 'Back')
  queues.apply([])
  queues.apply([queue('Back', { submit: 'SEQUENTIAL' })])
  publish('two', 'Back')
  take()[0]?.end()
  await clock.settle()
  assert.deepEqual(data(take()), ['two'])
  assert.deepEqual(names(queues), ['Back', 'Main'])
  assert.equal(queues.figures()[0]?.received, 2)
})

test('a new queue takes what waits for it in the link', async () => {
  const { clock, link, queues, take, publish } = open([], 4)
  for (let count = 0; count < 6; count++) publish(String(count), count < 4 ? undefined : 'New')
  assert.equal(link.undelivered, 2)
  queues.apply([queue('New')])
  await clock.settle()
  assert.deepEqual(data(take()), ['0', '1', '2', '3', '4', '5'])
  assert.deepEqual(
    queues.figures().map(({ queueName, held }) => [queueName, held]),
    [
      ['Main', 4],
      ['New', 2],
    ],
  )
})

test('queues share the room of one: many hold less each', () => {
  const many = Array.from({ length: 10 }, (_, index) => queue(`Q${index}`))
  const { queues, publish } = open(many, 2000)
  for (let count = 0; count < 300; count++) publish('x', 'Q3', count)
  assert.equal(queues.figures().find(({ queueName }) => queueName === 'Q3')?.held, 200)
})

test('close waits for what is in process in every queue, and takes nothing more', async () => {
  const { clock, link, queues, take, publish } = open([queue('Other')])
  publish('one')
  publish('two', 'Other')
  const works = take()
  const closed = queues.close()
  assert.equal(queues.close(), closed)
  queues.apply([queue('Late')])
  publish('three')
  assert.deepEqual([take().length, names(queues).length], [0, 2])
  works.forEach((work) => work.end())
  await clock.settle()
  await closed
  assert.equal(link.settled.length, 2)
})

test('an outage is told with the queue that it holds up', async () => {
  const { clock, take, publish, outages } = open([queue('Held')])
  publish('x', 'Held')
  const { AWAY } = defineErrors('queues-test', {
    AWAY: { kind: 'retryable', isOutage: true, status: 503, text: 'away' },
  })
  take()[0]?.end(AWAY())
  await clock.advance(2000)
  take()[0]?.end()
  await clock.settle()
  assert.deepEqual(outages, ['Held: away', 'Held: over'])
})
