import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionPool, Consumer, MessagesStream } from '@platformatic/kafka'
import { AddressGuard } from '../address-guard.ts'
import { guardConnections, guardMetadata } from './kafka-guard.ts'

test('a broker that is said to be at a port which is none fails the call, not the process', async (context) => {
  const pool = new ConnectionPool('c')
  context.after(() => pool.close())
  guardConnections(pool, new AddressGuard(['127.0.0.1']), false)
  for (const port of [70_000, 0, -1]) {
    const answered = new Promise((resolve, reject) => {
      pool.get({ host: '127.0.0.1', port }, (error) => {
        if (error === null || error === undefined) resolve(undefined)
        else reject(error)
      })
    })
    await assert.rejects(answered, new RegExp(`at port ${port}$`))
  }
  assert.deepEqual([...pool], [])
})

test('a partition that is newer than what is known of the cluster ends the membership, not the process', async (context) => {
  const consumer = new Consumer<Buffer, Buffer, Buffer, Buffer>({
    ...{ clientId: 'c', groupId: 'g', bootstrapBrokers: ['127.0.0.1:1'] },
  })
  context.after(() => consumer.close(true))
  const put = (name: string, value: unknown) => Object.defineProperty(consumer, name, { value, configurable: true })
  const answering = (answer: unknown) => (_options: unknown, callback: (error: null, answer: unknown) => void) =>
    void setImmediate(() => callback(null, answer))
  const metadata = { brokers: new Map(), topics: new Map([['t', { id: 't', partitions: [{ leader: 1 }] }]]) }
  // As it comes out of the client's cache.
  put('metadata', (_options: unknown, callback: (error: null, answer: unknown) => void) => callback(null, metadata))
  put('listOffsets', answering(new Map([['t', [0n]]])))
  put('listCommittedOffsets', answering(new Map([['t', [0n]]])))
  put('fetch', answering({ responses: [] }))
  put('assignments', [{ topic: 't', partitions: [0] }])
  const failure = new Promise((resolve) => guardMetadata(consumer, resolve))
  const stream = new MessagesStream(consumer, { topics: ['t'], mode: 'committed', highWaterMark: 1 })
  context.after(() => void stream.destroy())
  stream.on('error', () => undefined).on('readable', () => void stream.read())
  setImmediate(() => put('assignments', [{ topic: 't', partitions: [0, 1] }]))
  assert.match(String(await failure), /makes no sense/)
})
