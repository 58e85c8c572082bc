import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../../../model/system-clock.ts'
import { PostgresConnection } from '../../postgres/connection.ts'
import { emptyDatabase, serverForFile } from '../../postgres/testkit.ts'
import { long, raw, write } from '../contract.ts'
import { openPostgresTimeSeries, type PostgresTimeSeries } from './store.ts'

const server = await serverForFile()
const skip = { skip: server === undefined, timeout: 120_000 }

interface World {
  readonly store: PostgresTimeSeries
  /** Another session, which may hold rows. */
  readonly other: PostgresConnection
  /** Resolves once a session waits for a row that another one holds. */
  readonly heldUp: () => Promise<void>
}

async function world(context: TestContext): Promise<World> {
  assert.ok(server !== undefined)
  const url = await emptyDatabase(server)
  const store = await openPostgresTimeSeries({ url, applicationName: 'test', clock: systemClock })
  const [other, looking] = [0, 1].map(() => new PostgresConnection({ url, applicationName: 'test' }))
  assert.ok(other !== undefined && looking !== undefined)
  context.after(async () => {
    await other.query({ text: 'rollback' })
    await Promise.all([other.close(), looking.close(), store.close()])
  })
  const heldUp = async () => {
    const ask = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    while ((await looking.query({ text: ask })).count === 0);
  }
  return { store, other, heldUp }
}

const all = { keys: ['k'], startTs: 0, endTs: 1e13, deleteLatest: true, rewriteLatest: false }

test('issue-8 2.5: a delete of history that takes long holds up no writes', skip, async (context) => {
  const { store, other, heldUp } = await world(context)
  const entity = randomUUID()
  // Of the same lane as the entity, and of all others.
  const neighbours = ['0000', '0001', '0002', '0003', entity.slice(-4)].map((end) => randomUUID().slice(0, -4) + end)
  await store.write([write(entity, [long('k', 1, 1), long('k', 2, 2)])])
  await other.queries([{ text: 'begin' }, { text: 'select 1 from ts_kv where ts = 1 for update' }])
  const deleted = store.delete({ ...all, entityId: entity })
  await heldUp()
  await store.write(neighbours.map((neighbour) => write(neighbour, [long('k', 1, 1)])))
  await store.write([write(entity, [long('k', 3, 3)])])
  await other.query({ text: 'rollback' })
  assert.deepEqual((await deleted).value.latestRemoved, [{ key: 'k', replacement: undefined }])
  assert.equal((await store.history(entity, raw(['k']))).value.size, 0)
  assert.deepEqual((await store.latest(entity, undefined)).value, [])
})

test('issue-8 2.5: an entity with a long history is deleted beside the writes too', skip, async (context) => {
  const { store, other, heldUp } = await world(context)
  const entity = randomUUID()
  const neighbour = randomUUID().slice(0, -4) + entity.slice(-4)
  await store.write([write(entity, [long('k', 1, 1), long('other', 2, 2)])])
  await other.queries([{ text: 'begin' }, { text: 'select 1 from ts_kv where ts = 1 for update' }])
  const deleted = store.deleteEntity(entity)
  await heldUp()
  await store.write([write(neighbour, [long('k', 1, 1)])])
  await other.query({ text: 'rollback' })
  await deleted
  assert.equal((await store.history(entity, raw(['k', 'other']))).value.size, 0)
  assert.deepEqual(await store.keys(entity), [])
})

test('a long history goes in pieces, to the last point and no further', skip, async (context) => {
  const { store, other } = await world(context)
  const entity = randomUUID()
  await store.write([write(entity, [long('k', 1, 1), long('k', 200_000, 1)])])
  await other.query({
    text: `insert into ts_kv (entity_id, key, ts, kind, long_v)
      select entity_id, key, series, kind, 0 from ts_kv, generate_series(2, 45000) series where ts = 1`,
  })
  await store.delete({ ...all, entityId: entity, endTs: 44_999, deleteLatest: false })
  const { value } = await store.history(entity, raw(['k'], { limit: 10, order: 'ASC' }))
  assert.deepEqual(
    value.get('k')?.map(({ ts }) => ts),
    [44_999, 45_000, 200_000],
  )
})
