import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { DECLARED_TABLES } from '../../../services/entities/declared.ts'
import { PostgresConnection } from '../../postgres/connection.ts'
import { emptyDatabase, serverForFile } from '../../postgres/testkit.ts'
import { attribute } from '../contract-testkit.ts'
import { openPostgresEntityStore } from '../entity-store.ts'
import { TableStatistics } from './table-statistics.ts'

const server = await serverForFile({ settings: { autovacuum: 'off' } })

test(
  'a search after much was written is planned for what is there, whatever the housekeeping of the server does',
  { skip: server === undefined },
  async (context) => {
    assert.ok(server !== undefined)
    const url = await emptyDatabase(server)
    const clock = { time: 0, now: () => clock.time }
    const store = await openPostgresEntityStore({ url, applicationName: 'test', clock, tables: DECLARED_TABLES })
    const connection = new PostgresConnection({ url, applicationName: 'test' })
    context.after(() => Promise.all([store.close(), connection.close()]))
    const write = async (count: number) => {
      await store.write([
        store.attributes.save(Array.from({ length: count }, (_, number) => attribute(randomUUID(), 'k', number, 0))),
      ])
      await store.queries.attributesOf([randomUUID()])
    }
    const known = async () => {
      const text = `select reltuples::bigint as count from pg_class where relname = 'attribute'`
      return (await connection.query<{ count: number }>({ text })).rows[0]?.count
    }
    await write(100)
    assert.equal(await known(), -1, 'a small table needs none')
    await write(5_000)
    assert.equal(await known(), -1, 'it does not look each time')
    clock.time += 1_000
    await write(5_000)
    assert.equal(await known(), 10_100)
    clock.time += 10_000
    await write(100)
    assert.equal(await known(), 10_100, 'not for little')
    clock.time += 1_000
    await write(10_000)
    assert.equal(await known(), 20_200)
  },
)

test('searches of one turn look once, and go on where looking fails', async () => {
  let looks = 0
  const query = async () => {
    looks++
    await new Promise((resolve) => setImmediate(resolve))
    throw new Error('no server')
  }
  const statistics = new TableStatistics({ tables: ['device'], clock: { now: () => 5 }, query })
  await Promise.all([statistics.refresh(), statistics.refresh()])
  await statistics.refresh()
  assert.equal(looks, 1)
})
