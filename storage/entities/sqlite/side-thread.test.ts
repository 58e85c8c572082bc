import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { CompiledQuery } from 'kysely'
import { entityStoreOver } from '../entity-store.ts'
import { openFile } from './testkit.ts'

const insertion = (name: string) => ({
  sql: 'insert into setting (name, value) values (?, ?)',
  parameters: [name, 'x'],
})

test('issue-8 11: a long read holds up no commit and no other read', async (context) => {
  const { database } = await openFile(context)
  const order: string[] = []
  const counting = CompiledQuery.raw(
    `with recursive number(n) as (select 1 union all select n + 1 from number where n < 3000000)
      select count(lower(n)) as total from number`,
  )
  const scan = database.scan(counting).then((rows) => {
    order.push('scan')
    return rows
  })
  // The side thread answers once it runs: from here on the long read is under way.
  await database.write([insertion('a')])
  order.push('commit')
  await database.read(CompiledQuery.raw('select 1'))
  order.push('read')
  assert.deepEqual(await scan, [{ total: 3_000_000 }])
  assert.deepEqual(order, ['commit', 'read', 'scan'])
})

test('issue-8 11: pages are read beside the commits', async (context) => {
  const { database } = await openFile(context)
  const reads = context.mock.method(database, 'read')
  const scans = context.mock.method(database, 'scan')
  const store = entityStoreOver(database)
  // Behind the end, so that the rows do not tell how many there are.
  const page = await store.queues.page('nobody', { pageSize: 10, page: 1, textSearch: 'é' })
  assert.deepEqual([page.totalElements, reads.mock.callCount(), scans.mock.callCount()], [0, 0, 2])
})

test('a long read sees every commit acknowledged before it, and other letters than ASCII', async (context) => {
  const { database } = await openFile(context)
  for (let index = 0; index < 100; index++) {
    await database.write([insertion(`É${index}`)])
    const rows = await database.scan(
      CompiledQuery.raw("select count(*) as total from setting where lower(name) like lower('é%')"),
    )
    assert.deepEqual(rows, [{ total: index + 1 }])
  }
  await assert.rejects(database.scan(CompiledQuery.raw('delete from setting returning name')), {
    code: 'entities.FAILED',
  })
})

test('a copy is whole, has every commit acknowledged before, and replaces no file', async (context) => {
  const { folder, database } = await openFile(context)
  await Promise.all(Array.from({ length: 100 }, (_, index) => database.write([insertion(`s${index}`)])))
  const file = join(folder, 'copy.sqlite')
  const [, written] = await Promise.all([database.copyTo(file), database.write([insertion('meanwhile')])])
  assert.ok(written.sequence > 0)
  const copy = new DatabaseSync(file, { readOnly: true })
  context.after(() => copy.close())
  const names = copy.prepare("select name from setting where name != 'meanwhile'").all()
  assert.equal(names.length, 100)
  assert.deepEqual(
    copy
      .prepare('pragma integrity_check')
      .all()
      .map((row) => row['integrity_check']),
    ['ok'],
  )
  await assert.rejects(database.copyTo(file), { code: 'entities.FAILED' })
})

test('a side thread that was never asked for does not run, and a closed one is asked in vain', async (context) => {
  const { folder, database } = await openFile(context)
  await database.close()
  await assert.rejects(database.scan(CompiledQuery.raw('select 1')), { code: 'entities.CLOSED' })
  await assert.rejects(database.copyTo(join(folder, 'late.sqlite')), { code: 'entities.CLOSED' })
})
