import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { CompiledQuery } from 'kysely'
import { entityId } from '../../model/entity-id.ts'
import type { EventRecord } from '../../model/event.ts'
import { emptyDatabase, serverForFile } from '../postgres/testkit.ts'
import { PostgresConnection } from '../postgres/connection.ts'
import { AUDIT_LOG_TABLE, AuditLogRepository } from './audit-log.ts'
import type { EntityDatabase } from './database.ts'
import { openPostgresEntityStore, openEntityStore } from './entity-store.ts'
import { EVENT_TABLES, EventRepository } from './events.ts'
import { migrateTables } from './sqlite/migrations.ts'
import { openFile } from './sqlite/testkit.ts'
import type { EntityTable } from './tables/entity-table.ts'

const TABLES: readonly EntityTable[] = [AUDIT_LOG_TABLE, ...EVENT_TABLES]
/** As they were before their last version. */
const BEFORE = TABLES.map((table): EntityTable => ({ ...table, version: table.version - 1 }))
const NEWEST = { page: 0, pageSize: 10, sortProperty: 'createdTime', sortOrder: 'DESC' } as const
const clock = { now: () => 1 }
const server = await serverForFile()

function eventOf(id: string, { error, createdTime = 5, tenantId = 'tenant' }: Partial<EventOptions> = {}): EventRecord {
  const entity = entityId('RULE_NODE', 'node')
  const body = { type: 'IN', error }
  return { id, createdTime, tenantId, entity, type: 'DEBUG_RULE_NODE', server: 'one', body }
}

interface EventOptions extends Pick<EventRecord, 'createdTime' | 'tenantId'> {
  readonly error: string
}

const EVENTS = { type: 'DEBUG_RULE_NODE', tenantId: 'tenant', entityId: 'node', startTime: 0, endTime: 10 } as const
const FAILED = { column: 'body_error', isSet: true } as const

test('tables of a folder of before get the new indexes in the place of the old, and their rows stay', async (context) => {
  const { file, database } = await openFile(context)
  await migrateTables(database, file, 1, BEFORE)
  await new EventRepository(database).add([eventOf('a'), eventOf('b', { error: 'failed' })])
  await database.close()
  const indexes = (): readonly unknown[] => {
    const opened = new DatabaseSync(file, { readOnly: true })
    const names = opened.prepare(`select name from sqlite_master where type = 'index'`).all()
    opened.close()
    return names.map(({ name }) => name)
  }
  const replaced = ['audit_log_tenant_id_created_time', 'rule_node_debug_event_entity_id_created_time']
  for (const index of replaced) assert.ok(indexes().includes(index), index)
  const store = await openEntityStore({ file, durability: 'process-death', clock, tables: TABLES })
  context.after(() => store.close())
  assert.equal((await store.events.page({ ...EVENTS, where: [] }, NEWEST)).totalElements, 2)
  assert.equal((await store.events.page({ ...EVENTS, where: [FAILED] }, NEWEST)).totalElements, 1)
  for (const index of replaced) assert.ok(!indexes().includes(index), index)
  assert.ok(indexes().includes('audit_log_tenant_id_created_time_id_action_type'))
})

test('the same in PostgreSQL', { skip: server === undefined }, async () => {
  if (server === undefined) return
  const url = await emptyDatabase(server)
  const options = { url, applicationName: 'test', clock }
  const before = await openPostgresEntityStore({ ...options, tables: BEFORE })
  await before.events.add([eventOf('a'), eventOf('b', { error: 'failed' })])
  await before.close()
  const store = await openPostgresEntityStore({ ...options, tables: TABLES })
  assert.equal((await store.events.page({ ...EVENTS, where: [] }, NEWEST)).totalElements, 2)
  assert.equal((await store.events.page({ ...EVENTS, where: [FAILED] }, NEWEST)).totalElements, 1)
  await store.close()
  const connection = new PostgresConnection({ url, applicationName: 'test' })
  const text = `select indexname from pg_indexes where tablename in ('audit_log', 'rule_node_debug_event')`
  const { rows } = await connection.query<{ indexname: string }>({ text })
  await connection.close()
  const names = rows.map(({ indexname }) => indexname)
  for (const gone of ['audit_log_tenant_id_created_time', 'rule_node_debug_event_entity_id_created_time'])
    assert.ok(!names.includes(gone), gone)
  assert.ok(names.includes('audit_log_tenant_id_created_time_id_action_type'))
})

for (const name of ['SQLite', 'PostgreSQL'] as const)
  test(
    `old rows of every tenant go, so many at a time: ${name}`,
    { skip: name === 'PostgreSQL' && !server },
    async () => {
      const store =
        name === 'PostgreSQL' && server !== undefined
          ? await openPostgresEntityStore({
              ...{ url: await emptyDatabase(server), applicationName: 'test', clock, tables: TABLES },
            })
          : await openEntityStore({ file: ':memory:', durability: 'process-death', clock, tables: TABLES })
      try {
        assert.equal(await store.events.removeOlder('DEBUG_RULE_NODE', 3, 10), 0)
        const rows = ['a', 'b', 'c'].flatMap((tenantId) =>
          [1, 2, 3, 4].map((createdTime) => eventOf(`${tenantId}${createdTime}`, { createdTime, tenantId })),
        )
        // Nothing of this one is old.
        await store.events.add([...rows, eventOf('d', { createdTime: 9, tenantId: 'd' })])
        const left = async () => {
          const counts = await store.events.countByTenant('DEBUG_RULE_NODE', undefined)
          return Object.fromEntries(counts.map(({ tenantId, rows: count }) => [tenantId, count]))
        }
        assert.equal(await store.events.removeOlder('DEBUG_RULE_NODE', 3, 5), 5)
        assert.deepEqual(await left(), { a: 2, b: 2, c: 3, d: 1 })
        assert.equal(await store.events.removeOlder('DEBUG_RULE_NODE', 3, 5), 1)
        assert.deepEqual(await left(), { a: 2, b: 2, c: 2, d: 1 })
        assert.equal(await store.events.removeOldest('DEBUG_RULE_NODE', 'a', 1), 1)
        const kept = await store.events.page({ ...EVENTS, tenantId: 'a', where: [] }, NEWEST)
        assert.deepEqual(
          kept.data.map(({ id }) => id),
          ['a4'],
        )
      } finally {
        await store.close()
      }
    },
  )

test('lists of the audit log and of events are counted in an index alone, and the first skips to a far page there', async (context) => {
  const { file, database } = await openFile(context)
  await migrateTables(database, file, 1, TABLES)
  const asked: CompiledQuery[] = []
  const noting = {
    ...{ builder: database.builder, isShared: false, foldFunction: 'lower' },
    read: (query) => database.read(query),
    write: (statements) => database.write(statements),
    close: () => database.close(),
    scan: (query) => {
      asked.push(query)
      return database.scan(query)
    },
  } satisfies EntityDatabase
  /** Of each statement, how it looks up the rows of the list itself: the last looks up those of the page. */
  const lookups = async (): Promise<readonly string[]> => {
    const found: string[] = []
    for (const { sql, parameters } of asked.splice(0)) {
      const { rows } = await database.read<{ detail: string }>(
        CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]),
      )
      const [first] = rows.filter(({ detail }) => /(SEARCH|SCAN) (audit_log|rule_node_debug_event)/.test(detail))
      found.push(first?.detail ?? '')
    }
    return found
  }
  const all = { tenantId: 'tenant', startTime: 0, endTime: 10, actionTypes: [] }
  const audit = new AuditLogRepository(noting)
  const events = new EventRepository(noting)
  const far = { ...NEWEST, page: 3 }
  await audit.page(all, far)
  await audit.page({ ...all, actionTypes: ['LOGIN', 'LOGOUT'] }, far)
  await audit.page({ ...all, userId: 'user' }, far)
  await audit.page({ ...all, customerId: 'customer' }, far)
  const ofAudit = await lookups()
  // A page that has no row, behind others, does not tell how many there are: each is counted too.
  assert.equal(ofAudit.length, 8)
  for (const detail of ofAudit) assert.match(detail, /USING COVERING INDEX/)
  const where = [{ column: 'entity_type', is: 'RULE_NODE' }] as const
  await events.page({ ...EVENTS, where }, far)
  await events.page({ ...EVENTS, where: [...where, { column: 'body_type', is: 'IN' }] }, far)
  const ofEvents = await lookups()
  assert.equal(ofEvents.length, 4)
  for (const counted of [ofEvents[1], ofEvents[3]]) assert.match(counted ?? '', /USING COVERING INDEX/)
  await events.page({ ...EVENTS, where: [...where, FAILED] }, far)
  for (const detail of await lookups()) assert.match(detail, /entity_id_created_time_id /)
})
