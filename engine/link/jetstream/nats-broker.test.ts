/** What only JetStream can do wrong: its bounds, its settings, and its absence. */
import assert from 'node:assert/strict'
import { jetstreamManager } from '@nats-io/jetstream'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { MillraceError } from '../../../model/errors.ts'
import type { Clock } from '../../../model/clock.ts'
import { systemClock, systemRandom } from '../../../model/system-clock.ts'
import {
  requireOwnServer,
  requireServer,
  startNats,
  startNatsCluster,
  type RunningServer,
} from '../../../test/support/servers/index.ts'
import { connectNats, type NatsLine } from '../../cluster/nats-connection.ts'
import { Collector, publishAll } from '../contract.ts'
import type { Delivery } from '../link.ts'
import { message } from '../testkit.ts'
import { openNatsBroker } from './nats-broker.ts'
import { checkDurability } from './nats-durability.ts'
import { newPrefix, openTestLink } from './nats-testkit.ts'

async function nats(context: TestContext): Promise<RunningServer | undefined> {
  if (!requireServer(context, 'nats')) return undefined
  const server = await startNats({ syncInterval: 'always' })
  context.after(() => server.stop())
  return server
}

const SMALL_BROKER = {
  clock: systemClock,
  random: systemRandom,
  streams: 2,
  maxBytesPerPartition: 1 << 20,
  retentionBytes: 0,
  maxLetters: 10,
  maxLetterBytes: 1 << 20,
  maxFrameBytes: 1 << 20,
  restMs: 10,
  ownFrameBytes: 1 << 20,
}

const hasCode =
  (code: string) =>
  (error: MillraceError): boolean =>
    error.code === code

test('a full stream holds devices back, and takes messages again when the engine has made room', async (context) => {
  const server = await nats(context)
  if (server === undefined) return
  const settings = {
    partitions: 1,
    streams: 1,
    maxBytesPerPartition: 1 << 20,
    bounds: { retentionMs: 0, retentionBytes: 0 },
  }
  const { link, close, events } = await openTestLink({ servers: server.url, prefix: newPrefix(), settings })
  const acknowledged: string[] = []
  const fill = async (): Promise<MillraceError> => {
    for (;;) {
      const next = message({ data: 'x'.repeat(50_000) })
      const error = await new Promise<MillraceError | undefined>((resolve) =>
        link.publish(next, { stored: () => resolve(undefined), refused: resolve }),
      )
      if (error !== undefined) return error
      acknowledged.push(next.id)
    }
  }
  const error = await fill()
  assert.deepEqual([error.code, error.kind, link.writable], ['link.BACKLOG_FULL', 'retryable', false])
  const writable = new Promise<void>((resolve) => void link.onWritable(resolve))
  const collector = new Collector()
  link.consume(collector)
  await collector.got(acknowledged.length)
  assert.deepEqual(
    collector.messages.map(({ id }) => id),
    acknowledged,
  )
  link.settle(collector.deliveries)
  await writable
  await publishAll(link, [message()])
  assert.ok(events.some(({ kind }) => kind === 'stream-open'))
  await close()
})

test('streams are asked for again when the servers are connected and do not answer in time', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const server = await startNats({ syncInterval: 'always' })
  context.after(() => server.stop())
  const line = await connectNats({ servers: server.url, name: 'test', clock: systemClock })
  context.after(() => line.close())
  server.pause()
  const opening = openNatsBroker({ ...SMALL_BROKER, line, prefix: newPrefix(), partitions: 2, replicas: 1 })
  // Longer than one question waits for its answer.
  await new Promise<void>((resolve) => void systemClock.after(4_000, resolve))
  server.resume()
  const broker = await opening
  assert.equal(broker.streams, 2)
  await broker.close()
})

test('a link that is closed listens to its connection no more', async (context) => {
  const server = await nats(context)
  if (server === undefined) return
  const inner = await connectNats({ servers: server.url, name: 'test', clock: systemClock })
  context.after(() => inner.close())
  const listeners = new Set<(connected: boolean) => void>()
  const line: NatsLine = {
    connection: inner.connection,
    connected: true,
    onConnection: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: () => inner.close(),
  }
  const { link, close } = await openTestLink({ servers: server.url, prefix: newPrefix(), settings: { line } })
  context.after(close)
  const collector = new Collector()
  link.consume(collector)
  await publishAll(link, [message()])
  await collector.got(1)
  assert.ok(listeners.size > 0)
  await link.close()
  assert.equal(listeners.size, 0)
})

test('frames that a queue without room left in the stream are fetched when it has room', async (context) => {
  const server = await nats(context)
  if (server === undefined) return
  const settings = { partitions: 1, streams: 1, bounds: { maxMemoryMessages: 20 } }
  const { link, close } = await openTestLink({ servers: server.url, prefix: newPrefix(), settings })
  const collector = new Collector(1)
  link.consume(collector)
  const published = Array.from({ length: 300 }, (_, index) => message({ data: String(index) }))
  for (let first = 0; first < 300; first += 10) await publishAll(link, published.slice(first, first + 10))
  collector.limit = 300
  link.wake()
  await collector.got(300)
  assert.deepEqual(
    collector.messages.map(({ data }) => data),
    published.map(({ data }) => data),
  )
  link.settle(collector.deliveries)
  await close()
})

test('settled frames make room for further ones, also behind one that is not settled', async (context) => {
  const server = await nats(context)
  if (server === undefined) return
  const settings = { partitions: 1, streams: 1, bounds: { maxOpenFrames: 20, retentionMs: 0 } }
  const prefix = newPrefix()
  const { link, line, close } = await openTestLink({ servers: server.url, prefix, settings })
  let received = 0
  const held: Delivery[] = []
  link.consume({
    room: () => 1000,
    deliver: (batch) => {
      received += batch.length
      if (held.length === 0) held.push(...batch.slice(0, 1))
      link.settle(batch.filter((delivery) => delivery !== held[0]))
    },
  })
  // Each is a frame of its own.
  for (let count = 0; count < 100; count++) await publishAll(link, [message()])
  const until = async (isDone: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await isDone())) await new Promise<void>((resolve) => void systemClock.after(50, resolve))
  }
  await until(() => received === 100)
  link.settle(held)
  const manager = await jetstreamManager(line.connection)
  await until(async () => (await manager.streams.info(`${prefix}_S0`)).state.messages === 0)
  await close()
})

test('large frames come through a pull’s bound on bytes', async (context) => {
  const server = await nats(context)
  if (server === undefined) return
  const settings = { partitions: 1, streams: 1 }
  const { link, close } = await openTestLink({ servers: server.url, prefix: newPrefix(), settings })
  const published = Array.from({ length: 24 }, () => message({ data: 'y'.repeat(1_500_000) }))
  for (let first = 0; first < 24; first += 8) await publishAll(link, published.slice(first, first + 8))
  const collector = new Collector()
  link.consume(collector)
  await collector.got(24)
  link.settle(collector.deliveries)
  await close()
})

test('another count of partitions than the stored one is refused, with the way out', async (context) => {
  const server = await nats(context)
  if (server === undefined) return
  const prefix = newPrefix()
  const first = await openTestLink({ servers: server.url, prefix, settings: { partitions: 4, streams: 2 } })
  await first.close()
  await assert.rejects(
    openTestLink({ servers: server.url, prefix, settings: { partitions: 5, streams: 2 } }),
    (error: Error) => /made with 4 partitions, the settings say 5/.test(error.message),
  )
})

test('a stream that was made again counts from above', async (context) => {
  const server = await nats(context)
  if (server === undefined) return
  const prefix = newPrefix()
  const settings = { partitions: 1, streams: 1 }
  const first = await openTestLink({ servers: server.url, prefix, settings })
  const before = message()
  await publishAll(first.link, [before])
  await (await jetstreamManager(first.line.connection)).streams.delete(`${prefix}_S0`)
  await first.crash()
  const second = await openTestLink({ servers: server.url, prefix, settings })
  const later = message()
  await publishAll(second.link, [later])
  assert.ok(later.sequence > before.sequence && Number.isSafeInteger(later.sequence))
  await second.close()
})

test('NATS that is away at the start is waited for, and then named in one sentence', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const server = await startNats()
  context.after(() => server.stop())
  await server.kill()
  const servers = server.url.replace('//', '//user:secret@')
  await assert.rejects(
    connectNats({ servers, name: 'test', clock: systemClock, connectWaitMs: 600 }),
    (error: MillraceError) =>
      hasCode('nats.UNREACHABLE')(error) &&
      error.message.includes(new URL(server.url).host) &&
      !error.message.includes('secret'),
  )
  const waiting = connectNats({ servers: server.url, name: 'test', clock: systemClock, connectWaitMs: 60_000 })
  await server.restart()
  const line = await waiting
  assert.equal(line.connected, true)
  await line.close()
})

test('D5: what an acknowledgement is worth is read from the servers’ monitoring, and strict refuses too little', async () => {
  const answers = [true, false]
  const server = createServer((_, response) => {
    response.end(JSON.stringify({ config: { sync_interval: 120e9, sync_always: answers.shift() } }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const monitors = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const synced = await checkDurability({ replicas: 1, monitors, isStrict: true })
  assert.deepEqual([synced.level, synced.isWarning], ['power-cut', false])
  await assert.rejects(checkDurability({ replicas: 1, monitors, isStrict: true }), hasCode('link.NOT_DURABLE'))
  server.close()
  const unknown = await checkDurability({ replicas: 1 })
  assert.deepEqual([unknown.level, unknown.isWarning], ['process-death', true])
  assert.equal((await checkDurability({ replicas: 3, isStrict: true })).level, 'one-machine')
  assert.equal((await checkDurability({ replicas: 1, isSynced: true, isStrict: true })).level, 'power-cut')
})

test('processes that start together on an empty cluster of three make its streams once', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const cluster = await startNatsCluster(3, { syncInterval: 'always' })
  context.after(() => cluster.stop())
  const prefix = newPrefix()
  const open = async (): Promise<number> => {
    const line = await connectNats({ servers: cluster.url, name: 'test', clock: systemClock })
    try {
      const broker = await openNatsBroker({ ...SMALL_BROKER, line, prefix, partitions: 10, replicas: 3 })
      await broker.close()
      return broker.streams
    } finally {
      await line.close()
    }
  }
  assert.deepEqual(await Promise.all(Array.from({ length: 8 }, open)), Array<number>(8).fill(2))
})

test('a cluster with fewer servers than copies is asked again for a while, then said to have too few', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const cluster = await startNatsCluster(3)
  context.after(() => cluster.stop())
  const line = await connectNats({ servers: cluster.url, name: 'test', clock: systemClock })
  context.after(() => line.close())
  let seconds = 0
  let waits = 0
  const clock: Clock = {
    now: () => systemClock.now(),
    soon: (run) => systemClock.soon(run),
    monotonic: () => (seconds += 10) * 1000,
    after: (_ms, callback) => {
      waits++
      return systemClock.after(10, callback)
    },
  }
  await assert.rejects(
    openNatsBroker({ ...SMALL_BROKER, clock, line, prefix: newPrefix(), partitions: 10, replicas: 5 }),
    { code: 'link.BROKER_AWAY', message: /copies on 5 servers, so many are not there/ },
  )
  assert.equal(waits, 2)
})
