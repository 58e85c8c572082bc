/** Processes whose commits take the same rows in different orders: PostgreSQL ends one of them as a deadlock, and it is tried again. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { DECLARED_TABLES } from '../../../services/entities/declared.ts'
import { insertTenant } from '../../../services/testkit.ts'
import { emptyDatabase, serverForFile } from '../../postgres/testkit.ts'
import type { Statement } from '../database.ts'
import { openPostgresEntityStore, type EntityStore } from '../entity-store.ts'

const server = await serverForFile()
const skip = { skip: server === undefined }
const settings = { applicationName: 'test', clock: { now: () => 1_700_000_000_000 } }
const TENANT = 't1'
/** So that of two that take the same rows in opposite orders the one still has most of them to take when the other is tried again. */
const BETWEEN_ROWS: Statement = { sql: 'select pg_sleep(0.005)', parameters: [], returnsRows: true }
/** Both connections keep the lock, beyond an undone transaction too: whoever has its first row goes on when the other has as well. */
const MEET = 77
const BOTH_HAVE_BEGUN: Statement = {
  sql: `do $$ begin
    perform pg_advisory_lock_shared(${MEET});
    while (select count(distinct pid) from pg_locks where locktype = 'advisory' and objid = ${MEET} and granted) < 2 loop
      perform pg_sleep(0.001);
    end loop;
  end $$`,
  parameters: [],
}

/** The connection that has it lets the one that stands still go on. */
const GO_ON = 78
const STANDS_STILL: Statement = {
  sql: `do $$ begin
    while not exists (select from pg_locks where locktype = 'advisory' and objid = ${GO_ON} and granted) loop
      perform pg_sleep(0.01);
    end loop;
  end $$`,
  parameters: [],
}

/** By default after a second. */
const SOON_FOUND = `do $$ begin execute format('alter database %I set deadlock_timeout = ''20ms''', current_database()); end $$`

async function processes(context: TestContext, count: number): Promise<readonly EntityStore[]> {
  assert.ok(server !== undefined)
  const url = await emptyDatabase(server)
  const open = () => openPostgresEntityStore({ ...settings, url, tables: DECLARED_TABLES })
  const before = await open()
  await before.write([{ sql: SOON_FOUND, parameters: [] }])
  await before.close()
  const [first, ...others] = await Promise.all(Array.from({ length: count }, open))
  assert.ok(first !== undefined)
  const all = [first, ...others]
  context.after(() => Promise.all(all.map((store) => store.close())))
  await first.write([insertTenant(first, TENANT, TENANT)])
  return all
}

const COLUMNS = [
  ...['created_time', 'version', 'acknowledged', 'cleared', 'start_ts', 'end_ts', 'ack_ts', 'clear_ts', 'assign_ts'],
  ...['propagate', 'propagate_to_owner', 'propagate_to_tenant'],
]

function alarm(id: string): Statement {
  const texts = `'${id}', '${TENANT}', 'device', 'DEVICE', '${id}', 'MAJOR', '{}', '[]'`
  return {
    sql: `insert into alarm (id, tenant_id, originator_id, originator_type, type, severity, details, propagate_relation_types, ${COLUMNS.join(', ')})
      values (${texts}, ${COLUMNS.map(() => '1').join(', ')})`,
    parameters: [],
  }
}

async function alarms(store: EntityStore, count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, (_, index) => `alarm ${String(index).padStart(3, '0')}`)
  await store.write(ids.map(alarm))
  return ids
}

const changed = (id: string): Statement => ({
  sql: `update alarm set version = version + 1 where id = '${id}'`,
  parameters: [],
})
const deleted = (id: string): Statement => ({ sql: `delete from alarm where id = '${id}'`, parameters: [] })
const slowly = (statements: readonly Statement[]) => statements.flatMap((statement) => [statement, BETWEEN_ROWS])
/** The same, but that they go on behind their first row together. */
function meeting(statements: readonly Statement[]): readonly Statement[] {
  return [...statements.slice(0, 1), BOTH_HAVE_BEGUN, ...slowly(statements.slice(1))]
}

async function rowsOf(of: EntityStore, sql: string): Promise<readonly unknown[]> {
  const { results } = await of.write([{ sql, parameters: [], returnsRows: true }])
  return results[0]?.rows ?? []
}

/** The server counts them when the connection that had them is idle. */
async function deadlocks(all: readonly EntityStore[]): Promise<number> {
  let count = 0
  for (const store of all) {
    await rowsOf(store, 'select pg_stat_force_next_flush()')
    const [met] = await rowsOf(store, 'select deadlocks from pg_stat_database where datname = current_database()')
    count = (met as { deadlocks: number }).deadlocks
  }
  return count
}

test(
  'a deletion of many alarms and changes of them in another process both pass, whichever PostgreSQL ends as a deadlock',
  skip,
  async (context) => {
    const [deletes, changes] = await processes(context, 2)
    assert.ok(deletes !== undefined && changes !== undefined)
    const ids = await alarms(deletes, 40)
    await Promise.all([
      deletes.write(meeting(ids.slice(0, 20).map(deleted))),
      changes.write(meeting([...ids.slice(0, 20).toReversed(), ...ids.slice(20)].map(changed))),
    ])
    const left = await rowsOf(deletes, 'select version, count(*) as n from alarm group by version')
    assert.deepEqual(left, [{ version: 2, n: 20 }])
    const met = await deadlocks([deletes, changes])
    assert.ok(met >= 1, `void: ${met} deadlocks`)
  },
)

test('many processes that meet again and again each come through', skip, async (context) => {
  const all = await processes(context, 4)
  const [first] = all
  assert.ok(first !== undefined)
  const ids = await alarms(first, 8)
  const ROUNDS = 6
  await Promise.all(
    all.map(async (store, process) => {
      const order = process % 2 === 0 ? ids : ids.toReversed()
      for (let round = 0; round < ROUNDS; round++) await store.write(slowly(order.map(changed)))
    }),
  )
  assert.deepEqual(await rowsOf(first, 'select distinct version from alarm'), [{ version: 1 + all.length * ROUNDS }])
  context.diagnostic(`${await deadlocks(all)} deadlocks`)
})

test('large commits that are tried again alone wait for each other, and all come through', skip, async (context) => {
  const all = await processes(context, 6)
  const [first] = all
  assert.ok(first !== undefined)
  const ids = await alarms(first, 10)
  const LONG: Statement = { sql: 'select pg_sleep(0.06)', parameters: [], returnsRows: true }
  await Promise.all(
    all.map((store, process) => {
      const order = process % 2 === 0 ? ids : ids.toReversed()
      return store.write(order.flatMap((id) => [changed(id), LONG]))
    }),
  )
  assert.deepEqual(await rowsOf(first, 'select distinct version from alarm'), [{ version: 1 + all.length }])
  const met = await deadlocks(all)
  assert.ok(met >= 3, `void: ${met} deadlocks`)
})

test('a retry does not hold everybody up where another process stands still in a commit', skip, async (context) => {
  const [first, second, still, other] = await processes(context, 4)
  assert.ok(first !== undefined && second !== undefined && still !== undefined && other !== undefined)
  const ids = await alarms(first, 20)
  let isStanding = true
  const standing = still.write([STANDS_STILL]).then(() => (isStanding = false))
  await Promise.all([
    first.write(meeting(ids.map(changed))),
    second.write(meeting(ids.toReversed().map(changed))),
    (async () => {
      for (let round = 0; round < 20; round++) await other.write(slowly([alarm(`of others ${round}`)]))
    })(),
  ])
  assert.ok(isStanding, 'they waited for it')
  await rowsOf(other, `select pg_advisory_lock(${GO_ON})`)
  await standing
  assert.deepEqual(
    await rowsOf(first, `select distinct version from alarm where id = any(array['${ids.join("','")}'])`),
    [{ version: 3 }],
  )
  const met = await deadlocks([first, second])
  assert.ok(met >= 1, `void: ${met} deadlocks`)
})
