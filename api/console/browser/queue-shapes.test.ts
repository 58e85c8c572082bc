import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROCESSING_STRATEGIES, SUBMIT_STRATEGIES } from '../../../model/entities.ts'
import { NULL_UUID } from '../../../model/entity-id.ts'
import { linkQueueName } from '../../../model/queue-name.ts'
import { checkQueue } from '../../../services/queues/queue-rules.ts'
import {
  NEW_QUEUE,
  PROCESSES,
  SUBMITS,
  costOf,
  failureText,
  isOfSystem,
  nameOf,
  plainName,
  qualifiedName,
  waitingByQueue,
} from './queue-shapes.js'

const TENANT = '3fa85f64-5717-4562-b3fc-2c963f66afa6'

test('every strategy that the server has is offered, with a name and a cost', () => {
  for (const [ways, types] of [
    [SUBMITS, SUBMIT_STRATEGIES],
    [PROCESSES, PROCESSING_STRATEGIES],
  ] as const) {
    assert.deepEqual(ways.map(([type]) => type).toSorted(), [...types].toSorted())
    for (const type of types) {
      assert.notEqual(nameOf(ways, type), type)
      assert.notEqual(costOf(ways, type), '')
    }
  }
})

test('a queue is named as the messages name it that wait apart', () => {
  for (const tenantId of [NULL_UUID, TENANT]) {
    const queue = { name: 'Slow', tenantId: { entityType: 'TENANT', id: tenantId } }
    assert.equal(qualifiedName(queue), linkQueueName({ tenantId, name: 'Slow' }))
    assert.equal(plainName(qualifiedName(queue)), 'Slow')
    assert.equal(isOfSystem(queue), tenantId === NULL_UUID)
  }
})

test('a new queue is one that the server takes', () => {
  const made = { ...NEW_QUEUE, name: 'Slow', topic: 'slow', tenantId: TENANT }
  const submitStrategy = { ...made.submitStrategy, type: 'BURST' } as const
  const processingStrategy = { ...made.processingStrategy, type: 'RETRY_FAILED_AND_TIMED_OUT' } as const
  assert.doesNotThrow(() =>
    checkQueue({
      ...made,
      id: '',
      createdTime: 0,
      version: 1,
      additionalInfo: null,
      submitStrategy,
      processingStrategy,
    }),
  )
})

test('what becomes of a failure is said with its pauses', () => {
  const again = { type: 'RETRY_FAILED', retries: 0, pauseBetweenRetries: 5, maxPauseBetweenRetries: 5 }
  assert.equal(failureText(again), 'try again what failed, without end, after 5 s')
  assert.match(failureText({ ...again, retries: 3, maxPauseBetweenRetries: 9 }), /, 3 times, after 5 to 9 s$/)
  assert.equal(failureText({ type: 'SKIP_ALL_FAILURES' }), 'skip what failed')
})

test('what waits is added up by queue', () => {
  const lanes = [
    { queueName: 'Main', messages: 2 },
    { queueName: 'Main', messages: 3 },
    { queueName: `${TENANT}.Main`, messages: 7 },
  ]
  assert.deepEqual(Object.fromEntries(waitingByQueue(lanes)), {
    ['Main']: { lanes: 2, messages: 5 },
    [`${TENANT}.Main`]: { lanes: 1, messages: 7 },
  })
})
