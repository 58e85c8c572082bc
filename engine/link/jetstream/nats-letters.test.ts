import assert from 'node:assert/strict'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { test, type TestContext } from 'node:test'
import { ManualClock } from '../../actor/testkit.ts'
import { systemClock } from '../../../model/system-clock.ts'
import { requireServer, startNats } from '../../../test/support/servers/index.ts'
import { connectNats, type NatsLine } from '../../cluster/nats-connection.ts'
import { BlockWriter } from '../block-writer.ts'
import type { LetterStore } from '../dead-letters.ts'
import type { LinkEvent } from '../events.ts'
import { message } from '../testkit.ts'
import { openNatsLetters } from './nats-letters.ts'
import { natsNames } from './nats-names.ts'
import { prepareStreams } from './nats-streams.ts'
import { newPrefix } from './nats-testkit.ts'

const MAX_LETTERS = 10

interface Opened {
  readonly connection: NatsLine['connection']
  readonly store: LetterStore
  readonly events: LinkEvent[]
  readonly put: (sequence: number, tenantId: string, data?: string) => Promise<void>
  readonly list: (tenantId?: string, after?: number, limit?: number) => Promise<(readonly [number, string, string])[]>
}

function letterOf(sequence: number, tenantId: string, data = String(sequence)): ReturnType<typeof message> {
  const letter = message({ tenantId, data })
  letter.sequence = sequence
  return letter
}

/** `before`: letters of a version that had one subject for all. */
async function open(
  context: TestContext,
  before: readonly (readonly [number, string])[],
  { maxLetters = MAX_LETTERS, maxBytes = 16 << 20 } = {},
): Promise<Opened | undefined> {
  if (!requireServer(context, 'nats')) return undefined
  const server = await startNats({ syncInterval: 'always' })
  context.after(() => server.stop())
  const line = await connectNats({ servers: server.url, name: 'test', clock: systemClock })
  context.after(() => line.close())
  const prefix = newPrefix()
  const names = natsNames(prefix)
  const manager = await jetstreamManager(line.connection)
  if (before.length > 0) {
    await manager.streams.add({ name: names.letters, subjects: [`${prefix}.letter`], allow_direct: true, max_msgs: 10 })
    for (const [sequence, tenantId] of before) {
      const block = new BlockWriter(1)
      block.message(letterOf(sequence, tenantId))
      block.deadLetter('no luck', 1)
      await jetstream(line.connection).publish(`${prefix}.letter`, block.finish())
    }
  }
  await prepareStreams(manager, names, {
    prefix,
    partitions: 1,
    streams: 1,
    replicas: 1,
    maxBytesPerPartition: 1 << 20,
    retentionBytes: 0,
    maxLetters,
    maxLetterBytes: maxBytes,
    now: 1,
  })
  const events: LinkEvent[] = []
  const onEvent = (event: LinkEvent): void => void events.push(event)
  const store = await openNatsLetters({ line, prefix, clock: new ManualClock(), maxLetters, maxBytes, onEvent })
  return {
    store,
    events,
    connection: line.connection,
    put: (sequence, tenantId, data) =>
      store.put({ message: letterOf(sequence, tenantId, data), reason: 'no luck', attempts: 1 }),
    list: async (tenantId, after, limit = 100) =>
      (await store.list({ tenantId, after, limit })).map(
        ({ id, message: { data, tenantId: whose } }) => [id, data, whose] as const,
      ),
  }
}

test('issue-8 2.11: JetStream lists the letters of a tenant, those of before among them, page by page', async (context) => {
  const opened = await open(context, [
    [1, 'other'],
    [2, 'a.*'],
  ])
  if (opened === undefined) return
  const { put, list, store } = opened
  await put(3, 'other')
  await put(4, 'a.*')
  await put(5, 'a')
  const mine = [
    [2, '2', 'a.*'],
    [4, '4', 'a.*'],
  ]
  assert.deepEqual(await list('a.*'), mine)
  assert.deepEqual(await list('a.*', 0, 1), mine.slice(0, 1))
  assert.deepEqual(await list('a.*', 2, 1), mine.slice(1))
  assert.deepEqual(await list('a'), [[5, '5', 'a']])
  assert.deepEqual(await list('*'), [])
  assert.deepEqual(await list('>'), [])
  assert.equal((await list()).length, 5)
  assert.equal(await store.remove(2), true)
  assert.deepEqual(await list('a.*'), mine.slice(1))
})

test('issue-8 2.10: JetStream drops the oldest letters of the tenant that holds the most, and nobody else’s', async (context) => {
  const opened = await open(context, [])
  if (opened === undefined) return
  const { put, list, store, events } = opened
  for (const sequence of [1, 2, 3]) await put(sequence, 'quiet')
  for (let sequence = 4; sequence <= 60; sequence++) await put(sequence, 'noisy')
  const data = (rows: readonly (readonly [number, string, string])[]): string[] => rows.map(([, text]) => text)
  assert.deepEqual(data(await list('quiet')), ['1', '2', '3'])
  assert.deepEqual(data(await list('noisy')), ['54', '55', '56', '57', '58', '59', '60'])
  assert.equal(store.count, MAX_LETTERS)
  const counts = events.map((event) => (event.kind === 'dead-letters-dropped' ? event.count : Number.NaN))
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    50,
  )
})

test('issue-8 2.10: JetStream shares the bytes of letters out by tenant, also where large ones come side by side', async (context) => {
  const opened = await open(context, [], { maxLetters: 10_000, maxBytes: 1 << 20 })
  if (opened === undefined) return
  const { put, list, events } = opened
  for (const sequence of [1, 2, 3]) await put(sequence, 'quiet')
  const large = 'x'.repeat(20_000)
  for (let sequence = 4; sequence <= 50; sequence++) await put(sequence, 'noisy', `${sequence} ${large}`)
  await Promise.all(Array.from({ length: 50 }, (_, index) => put(51 + index, 'noisy', `${51 + index} ${large}`)))
  const first = (rows: readonly (readonly [number, string, string])[]): number[] =>
    rows.map(([, text]) => Number(text.split(' ')[0]))
  assert.deepEqual(first(await list('quiet')), [1, 2, 3])
  const noisy = first(await list('noisy'))
  assert.ok(noisy.length >= 25 && noisy.length <= 45, `${noisy.length} letters are kept`)
  const dropped = events.reduce((sum, event) => sum + (event.kind === 'dead-letters-dropped' ? event.count : 0), 0)
  assert.equal(dropped, 97 - noisy.length)
})

test('issue-8 2.10: JetStream says once that what tenants have can not be looked at, stores on, and catches up', async (context) => {
  const opened = await open(context, [])
  if (opened === undefined) return
  const { put, list, store, events, connection } = opened
  const ask = connection.request.bind(connection)
  const asking = context.mock.method(connection, 'request', (...[subject, ...more]: Parameters<typeof ask>) =>
    subject.includes('STREAM.INFO') ? Promise.reject(new Error('not now')) : ask(subject, ...more),
  )
  for (let sequence = 1; sequence <= 30; sequence++) await put(sequence, 'noisy')
  assert.deepEqual(events, [{ kind: 'dead-letter-shares-unknown', reason: 'the broker does not answer: not now' }])
  assert.equal((await list('noisy')).at(-1)?.[0], 30)
  asking.mock.restore()
  await put(31, 'noisy')
  assert.equal(store.count, MAX_LETTERS)
  assert.deepEqual(
    events.slice(1).map(({ kind }) => kind),
    ['dead-letters-dropped'],
  )
})
