/** The tries that the log of runs tells apart. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineErrors } from '../../../model/errors.ts'
import { Message } from '../../../model/message.ts'
import { ParkedDelivery } from '../../../engine/parking/parked-lane.ts'
import type { Work } from '../../../engine/queue/work.ts'
import { processorMs } from '../processor-time.ts'
import { noteTry, tryOf } from './tries.ts'

const Failures = defineErrors('test', {
  AWAY: { kind: 'retryable', status: 503, text: 'away', isOutage: true },
  BROKEN: { kind: 'retryable', status: 500, text: 'broken' },
})

function messageOf(id: string): Message {
  const originator = { entityType: 'DEVICE', id: 'device' } as const
  return new Message({
    id,
    ts: 0,
    type: 'POST_TELEMETRY_REQUEST',
    tenantId: 'tenant',
    originator,
    metadata: {},
    data: '{}',
  })
}

/** Runs it once; it ends with the error, or is taken back without an end. */
function run(
  message: Message,
  attempt: number,
  error?: Error | 'taken back',
  more: { readonly delivery?: unknown } = {},
): readonly [delivery: string, attempt: number] {
  const work: Work = {
    ...more,
    message,
    attempt,
    isCancelled: false,
    executions: 0,
    branch: () => undefined,
    postpone: () => undefined,
    end: () => undefined,
  }
  noteTry(work)
  const { epoch, attempt: noted } = tryOf(message.id)
  if (error !== 'taken back') work.end(error)
  return [epoch.slice(epoch.indexOf('.')), noted]
}

test('a try that met an outage is counted, though the queue does not', () => {
  const message = messageOf('waits')
  assert.deepEqual(run(message, 1, Failures.AWAY()), ['.1', 1])
  assert.deepEqual(run(message, 1, Failures.AWAY()), ['.1', 2])
  assert.deepEqual(run(message, 1, Failures.BROKEN()), ['.1', 3])
  assert.deepEqual(run(message, 2), ['.1', 4])
})

test('a try that the queue hands out again for no reason is the same try', () => {
  const message = messageOf('doubled')
  assert.deepEqual(run(message, 1), ['.1', 1])
  assert.deepEqual(run(message, 1), ['.1', 1])
})

test('a new delivery is another message object of the same id', () => {
  run(messageOf('moved'), 1, Failures.AWAY())
  assert.deepEqual(run(messageOf('moved'), 1), ['.2', 1])
})

/** As the queue tells it from what comes from the link: by what it is. */
const OUT_OF_THE_STORE: { readonly delivery: unknown } = { delivery: Object.create(ParkedDelivery.prototype) }

test('a message that was taken back or failed and is tried again out of the store of parked lanes has no new delivery', () => {
  run(messageOf('parked'), 1, 'taken back')
  assert.deepEqual(run(messageOf('parked'), 1, Failures.BROKEN(), OUT_OF_THE_STORE), ['.1', 2])
  assert.deepEqual(run(messageOf('parked'), 2, undefined, OUT_OF_THE_STORE), ['.1', 3])
})

test('a message that failed, waited and was parked meanwhile has its second try out of the store, and no new delivery', () => {
  run(messageOf('failed'), 1, Failures.BROKEN())
  assert.deepEqual(run(messageOf('failed'), 2, undefined, OUT_OF_THE_STORE), ['.1', 2])
})

test('the first tries out of the store of parked lanes are numbered, and no other', () => {
  const [first, second] = [messageOf('parked first'), messageOf('parked second')]
  const startOf = ({ id }: Message): number => tryOf(id).storeStart
  run(first, 1, 'taken back')
  run(second, 1, 'taken back')
  assert.deepEqual([startOf(first), startOf(second)], [0, 0])
  run(first, 1, Failures.BROKEN(), OUT_OF_THE_STORE)
  run(second, 1, Failures.BROKEN(), OUT_OF_THE_STORE)
  const numbers = [startOf(first), startOf(second)]
  assert.equal((numbers[1] ?? 0) - (numbers[0] ?? 0), 1)
  run(first, 2, undefined, OUT_OF_THE_STORE)
  assert.equal(startOf(first), numbers[0])
})

test('a message that succeeded and is tried again out of the store of parked lanes is delivered twice', () => {
  run(messageOf('parked in vain'), 1)
  assert.deepEqual(run(messageOf('parked in vain'), 1, undefined, OUT_OF_THE_STORE), ['.2', 1])
})

test('a message is known behind 100,000 others, and so many more take no longer than the first', () => {
  const waiting = messageOf('waits for long')
  run(waiting, 1, Failures.AWAY())
  const first = timeOf(0)
  assert.deepEqual(run(waiting, 1, Failures.AWAY()), ['.1', 2])
  timeOf(1)
  const later = [timeOf(2), timeOf(3)]
  assert.ok(Math.min(...later) < 4 * first, `${later.join(', ')} ms for ${MANY} messages, and ${first} ms at first`)
})

const MANY = 100_000

function timeOf(round: number): number {
  const began = processorMs()
  for (let index = 0; index < MANY; index++) run(messageOf(`${round} ${index}`), 1)
  return processorMs() - began
}
