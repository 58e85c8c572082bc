import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionPool, Consumer } from '@platformatic/kafka'
import { ManualClock } from '../../../model/manual-clock.ts'
import { KafkaFetches } from './kafka-fetches.ts'

test('a broker is silent for as long as it is heard, and not while there is no room for what it says', async (context) => {
  const consumer = new Consumer({ clientId: 'c', groupId: 'g', bootstrapBrokers: ['127.0.0.1:1'] })
  const pool = new ConnectionPool('c')
  context.after(() => Promise.all([consumer.close(true), pool.close()]))
  const answers: (() => void)[] = []
  const fetch = (_options: unknown, answer: (error: Error) => void): void =>
    void answers.push(() => answer(new Error('away')))
  Object.defineProperty(consumer, 'fetch', { value: fetch, configurable: true, writable: true })
  const clock = new ManualClock()
  const room = {
    ...{ isOver: true, isWaitedFor: false, enter: () => true },
    ...{ onRoom: () => undefined, replace: () => undefined, leave: () => undefined },
  }
  let silent = 0
  const fetches = new KafkaFetches(room, clock, () => silent++)
  fetches.bindConsumer(consumer, pool)
  const ask = () => consumer.fetch({ node: 1, topics: [] }, () => undefined)
  ask()
  await clock.advance(600_000)
  assert.equal(silent, 0)
  room.isOver = false
  await clock.advance(29_000)
  answers.shift()?.()
  ask()
  await clock.advance(39_000)
  assert.equal(silent, 0)
  await clock.advance(2000)
  assert.equal(silent, 1)
  ask()
  fetches.close()
  await clock.advance(60_000)
  assert.equal(silent, 1)
})
