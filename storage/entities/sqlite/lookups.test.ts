import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { CompiledQuery } from 'kysely'
import { customers } from '../../../services/entities/customer.ts'
import { rowsOf } from '../../../services/entities/rows.ts'
import { entityStoreOver } from '../entity-store.ts'
import { USER_CREDENTIALS } from '../users.ts'
import { Lookups } from './lookups.ts'
import { migrateTables } from './migrations.ts'
import { openFile } from './testkit.ts'

async function openTables(context: TestContext) {
  const { file, database } = await openFile(context)
  await migrateTables(database, file, 1, [USER_CREDENTIALS, customers.storedAs])
  return { file, database }
}

const valueOf = (name: string) => CompiledQuery.raw('select value from setting where name = ?', [name])
const put = (name: string, value: string) => ({
  sql: 'insert into setting (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
  parameters: [name, value],
})

test('a row is looked up on the caller’s thread, as of the last commit that was acknowledged', async (context) => {
  const { database } = await openTables(context)
  const reads = context.mock.method(database, 'read')
  for (let round = 0; round < 50; round++) {
    await database.write([put('a', String(round))])
    assert.deepEqual(
      database.lookUp(valueOf('a'))?.map((row) => ({ ...(row as object) })),
      [{ value: String(round) }],
    )
  }
  assert.deepEqual(database.lookUp(valueOf('nobody')), [])
  assert.equal(reads.mock.callCount(), 0)
})

test('integers come as they do from the SQLite thread', async (context) => {
  const { database } = await openTables(context)
  const query = CompiledQuery.raw('select 9007199254740991 as exact, 9007199254740993 as large, 0.5 as half')
  const { rows } = await database.read(query)
  assert.deepEqual({ ...(database.lookUp(query)?.[0] as object) }, { ...(rows[0] as object) })
  assert.deepEqual({ ...(rows[0] as object) }, { exact: 9007199254740991, large: 9007199254740993n, half: 0.5 })
})

test('what cannot be looked up is left to the thread: another’s lock, a wrong text, a closed store', async (context) => {
  const { file, database } = await openTables(context)
  assert.equal(database.lookUp(CompiledQuery.raw('select nothing from nowhere')), undefined)
  const lookups = new Lookups(file)
  context.after(() => lookups.close())
  assert.equal(lookups.rows('select 1 as one', [])?.length, 1)
  lookups.close()
  lookups.close()
  assert.equal(lookups.rows('select 1 as one', []), undefined)
  await database.close()
  assert.equal(database.lookUp(valueOf('a')), undefined)
  // With nobody else there, the log goes with the last connection: none was left open.
  const alone = new DatabaseSync(file)
  alone.exec('pragma locking_mode = exclusive; begin exclusive; commit')
  const locked = new Lookups(file)
  context.after(() => locked.close())
  assert.equal(locked.rows('select count(*) as settings from setting', []), undefined)
  alone.close()
})

test('an entity and a user are found by id without the SQLite thread', async (context) => {
  const { database } = await openTables(context)
  const store = entityStoreOver(database)
  const user = {
    ...{ id: '11111111-2222-4333-8444-555555555555', createdTime: 1, version: 1, tenantId: null, customerId: null },
    ...{
      email: 'a@b.org',
      authority: 'SYS_ADMIN' as const,
      firstName: null,
      lastName: null,
      phone: null,
      additionalInfo: null,
    },
  } as const
  await store.write(store.users.insert(user, { passwordHash: 'x', tokensValidFrom: 0 }))
  const reads = context.mock.method(database, 'read')
  assert.equal((await store.users.find(user.id))?.email, 'a@b.org')
  assert.equal(await store.users.find('99999999-2222-4333-8444-555555555555'), undefined)
  const customer = { column: 'id', is: user.id }
  assert.equal(await rowsOf(customers, store).find([customer]), undefined)
  assert.equal(reads.mock.callCount(), 0)
  // By anything else it may look at many rows.
  assert.equal(await rowsOf(customers, store).find([{ column: 'title', is: 'Nobody' }]), undefined)
  assert.equal(reads.mock.callCount(), 1)
})
