import assert from 'node:assert/strict'
import { DECLARED_TABLES } from '../entities/declared.ts'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { Message } from '../../model/message.ts'
import { openPostgresEntityStore, type EntityStore } from '../../storage/entities/entity-store.ts'
import { PostgresConnection } from '../../storage/postgres/connection.ts'
import { emptyDatabase, serverForFile } from '../../storage/postgres/testkit.ts'
import { until } from '../../test/support/until.ts'
import { OutboxPublisher } from './outbox.ts'
import { TestClock, TestLink } from '../testkit.ts'

const server = await serverForFile()
const skip = { skip: server === undefined }

/** One process: its own connections, link and clock on the shared table. */
interface Process {
  readonly entities: EntityStore
  readonly link: TestLink
  readonly clock: TestClock
  readonly publisher: OutboxPublisher
}

async function processes(context: TestContext, count: number) {
  assert.ok(server !== undefined)
  const settings = { url: await emptyDatabase(server), applicationName: 'test' }
  const connection = new PostgresConnection(settings)
  context.after(() => connection.close())
  const all: Process[] = []
  for (let index = 0; index < count; index++) {
    const clock = new TestClock()
    const entities = await openPostgresEntityStore({ ...settings, clock, tables: DECLARED_TABLES })
    const link = new TestLink()
    const publisher = new OutboxPublisher(entities, link, clock, (text) => assert.fail(text))
    context.after(async () => {
      await publisher.close()
      await entities.close()
    })
    all.push({ entities, link, clock, publisher })
  }
  /** The time is over in which only those who added the entries may publish them. */
  const expire = () => connection.query({ text: 'update outbox set claimed_until = 0' })
  /** Until when the entry is somebody's that is nobody's first. */
  const leastLease = async (): Promise<number> => {
    const text = 'select min(claimed_until) as least from outbox'
    return (await connection.query<{ least: number }>({ text })).rows[0]?.least ?? 0
  }
  return { all, expire, leastLease }
}

async function add({ entities }: Process, count: number): Promise<{ id: number; message: Message }[]> {
  const messages = Array.from(
    { length: count },
    (_, index) =>
      new Message({
        id: randomUUID(),
        ts: 1,
        type: 'ENTITY_CREATED',
        tenantId: randomUUID(),
        originator: { entityType: 'DEVICE', id: randomUUID() },
        metadata: {},
        data: String(index),
      }),
  )
  const written = await entities.write(messages.map((message) => entities.outbox.add(message)))
  return messages.map((message, index) => ({ id: entities.outbox.addedId(written, index), message }))
}

function published(...all: readonly Process[]): string[] {
  return all.flatMap(({ link }) => link.messages.map(({ data }) => data))
}

test(
  'who added an entry has its time from then on, however long the transaction waited before',
  skip,
  async (context) => {
    const { all } = await processes(context, 1)
    const [{ entities } = assert.fail()] = all
    const WAITED_MS = 200
    const message = new Message({
      ...{ id: randomUUID(), ts: 1, type: 'ENTITY_CREATED', tenantId: randomUUID(), metadata: {}, data: '' },
      originator: { entityType: 'DEVICE', id: randomUUID() },
    })
    const { results } = await entities.write([
      { sql: `select pg_sleep(${WAITED_MS / 1000})`, parameters: [] },
      entities.outbox.add(message),
      {
        // `now()` is when the transaction began.
        sql: 'select claimed_until - (extract(epoch from now()) * 1000)::bigint as lease from outbox',
        ...{ parameters: [], returnsRows: true },
      },
    ])
    const [{ lease } = assert.fail()] = (results[2]?.rows ?? []) as readonly { readonly lease: number }[]
    assert.ok(lease >= 10_000 + WAITED_MS - 1, String(lease))
  },
)

test('what its process does not publish in time another one does', skip, async (context) => {
  const { all, expire } = await processes(context, 2)
  const [dead, living] = all
  assert.ok(dead !== undefined && living !== undefined)
  await add(dead, 3)
  await living.publisher.start()
  assert.deepEqual(published(living), [], 'taken before its time')
  await expire()
  living.clock.runTimers()
  await until(async () => (await living.entities.outbox.size()) === 0)
  assert.deepEqual(published(living), ['0', '1', '2'])
})

test('processes that look at the same time take each entry once', skip, async (context) => {
  const { all, expire } = await processes(context, 3)
  const [first] = all
  assert.ok(first !== undefined)
  for (const { publisher } of all) await publisher.start()
  await add(first, 2_500)
  await expire()
  for (const { clock } of all) clock.runTimers()
  await until(async () => (await first.entities.outbox.size()) === 0)
  assert.deepEqual(
    published(...all)
      .map(Number)
      .sort((a, b) => a - b),
    Array.from({ length: 2_500 }, (_, index) => index),
  )
})

test('what waits in memory stays its process’s, however long the link is away', skip, async (context) => {
  const { all, leastLease } = await processes(context, 1)
  const [mine] = all
  assert.ok(mine !== undefined)
  await mine.publisher.start()
  mine.link.writable = false
  for (const entry of await add(mine, 2)) mine.publisher.committed(entry)
  const before = await leastLease()
  mine.clock.runTimers()
  await until(async () => (await leastLease()) > before)
})

test('what waits in memory for the link is not published twice, nor by another process', skip, async (context) => {
  const { all, expire } = await processes(context, 2)
  const [mine, other] = all
  assert.ok(mine !== undefined && other !== undefined)
  for (const { publisher } of all) await publisher.start()
  mine.link.writable = false
  for (const entry of await add(mine, 2)) mine.publisher.committed(entry)
  await expire()
  mine.clock.runTimers()
  await until(async () => (await other.entities.outbox.claim(0, 10)).length === 0)
  other.clock.runTimers()
  mine.link.becomeWritable()
  await until(async () => (await mine.entities.outbox.size()) === 0)
  assert.deepEqual([published(mine), published(other)], [['0', '1'], []])
})
