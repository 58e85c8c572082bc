import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMillraceError } from '../../model/errors.ts'
import { PostgresConnection } from './connection.ts'
import { PostgresCustomTables, schemaOf, type TableTarget } from './custom-tables.ts'
import { emptyDatabase, serverForFile } from './testkit.ts'

const server = await serverForFile()
const TENANT = '11111111-1111-4111-8111-111111111111'
const OTHER = '22222222-2222-4222-8222-222222222222'
const READINGS: TableTarget = { tenantId: TENANT, name: 'Readings', columns: ['device', 'celsius'], ttlSeconds: 0 }

if (server !== undefined) {
  const url = await emptyDatabase(server)
  const admin = new PostgresConnection({ url, applicationName: 'administrator' })
  const tables = new PostgresCustomTables({ url, answerWithinMs: 1000, connections: 2 })
  const [own, others] = [schemaOf(TENANT), schemaOf(OTHER)]
  for (const text of [
    `create schema ${own}`,
    `create schema ${others}`,
    `create table ${own}.cs_tb_readings (device text primary key, celsius double precision, expires_at timestamptz)`,
    `create table ${others}.cs_tb_secret (device text primary key)`,
    `create table ${own}.other (device text primary key)`,
    'create table public.cs_tb_core (device text primary key)',
    `create table ${own}.cs_tb_keyless (device text)`,
    `create table ${own}.cs_tb_typed (id uuid, n numeric, at bigint, j jsonb, t text, primary key (id, n))`,
  ]) {
    await admin.query({ text })
  }
  test.after(async () => {
    await tables.close()
    await admin.close()
  })
  const rowsOf = async (table: string) =>
    (await admin.query({ text: `select * from ${own}.${table} order by 1, 2` })).rows

  test('rows are put by primary key: a message that comes twice is one row, and the last of a key counts', async () => {
    const table = await tables.open(READINGS)
    assert.deepEqual(await tables.write(table, [['a', '1'], ['b', '2'], ['a', '3.5']]), [undefined, undefined, undefined]) // prettier-ignore
    assert.deepEqual(await tables.write(table, [['b', null]]), [undefined])
    assert.deepEqual(await rowsOf('cs_tb_readings'), [
      { device: 'a', celsius: 3.5, expires_at: null },
      { device: 'b', celsius: null, expires_at: null },
    ])
  })

  test('each column has its own type; a row that does not fit fails alone', async () => {
    const table = await tables.open({ ...READINGS, name: 'typed', columns: ['id', 'n', 'at', 'j', 't'] })
    const outcomes = await tables.write(table, [
      [TENANT, '1', '1700000000000', '{"a":[1]}', "it's; drop table --"],
      ['no id', '1', '1', '{}', 'x'],
      [TENANT, '1.0', '2', 'null', 'the same key, as the server sees it'],
      [null, '1', '1', '{}', 'x'],
      [TENANT, '2', '99999999999999999999', '{}', 'x'],
    ])
    assert.deepEqual(
      outcomes.map((error) => (isMillraceError(error) ? error.kind : error)),
      [undefined, 'invalid', undefined, 'invalid', 'invalid'],
    )
    assert.match(outcomes[1]?.message ?? '', /cs_tb_typed refuses the row: .*uuid/)
    const [row, ...more] = await rowsOf('cs_tb_typed')
    assert.deepEqual(more, [])
    assert.deepEqual(row, { id: TENANT, n: 1, at: 2, j: null, t: 'the same key, as the server sees it' })
  })

  test('a tenant reaches only its own tables, whatever it names', async () => {
    for (const name of [
      'secret',
      'core',
      'other',
      `../${others}`,
      `${others}.cs_tb_secret`,
      'a"b',
      'a b',
      '',
      'x'.repeat(58),
    ]) {
      await assert.rejects(
        tables.open({ ...READINGS, name, columns: ['device'] }),
        (error) => isMillraceError(error) && /NO_TABLE|NAME_INVALID/.test(error.code),
        name,
      )
    }
    assert.equal(
      (await tables.open({ ...READINGS, tenantId: OTHER, name: 'secret', columns: ['device'] })).shown,
      `${others}.cs_tb_secret`,
    )
    for (const column of ['celsius) values (1); drop schema public cascade; --', 'a"', 'pg_sleep(1)', '1a']) {
      await assert.rejects(tables.open({ ...READINGS, columns: ['device', column] }), /no name of a column/)
    }
  })

  test('a table that can not keep rows once, or not those columns, is refused', async () => {
    const refused: readonly (readonly [Partial<TableTarget>, RegExp])[] = [
      [{ name: 'keyless', columns: ['device'] }, /no primary key/],
      [{ columns: ['celsius'] }, /'device' of the primary key/],
      [{ columns: ['device', 'kelvin'] }, /no column 'kelvin'/],
      [{ columns: ['device', 'Device'] }, /'device' is named twice/],
      [{ columns: [] }, /0 columns/],
      [{ columns: ['device', 'expires_at'], ttlSeconds: 5 }, /'expires_at' is named twice/],
      [{ name: 'typed', columns: ['id', 'n'], ttlSeconds: 5 }, /no column 'expires_at'/],
    ]
    for (const [change, reason] of refused) await assert.rejects(tables.open({ ...READINGS, ...change }), reason)
  })

  test('rows with a time to live go when it is over, and no others', async () => {
    const table = await tables.open({ ...READINGS, ttlSeconds: 3600 })
    await tables.write(table, [['short', '1'], ['long', '2']]) // prettier-ignore
    await admin.query({
      text: `update ${own}.cs_tb_readings set expires_at = now() - interval '1 s' where device = 'short'`,
    })
    assert.equal(await tables.removeExpired(), false)
    const left = await rowsOf('cs_tb_readings')
    assert.deepEqual(
      left.map((row) => (row as { device: string }).device),
      ['a', 'b', 'long'],
    )
  })

  test('a table that is locked rejects, leaves other tables be, and takes rows again afterwards', async () => {
    const table = await tables.open(READINGS)
    const holder = new PostgresConnection({ url, applicationName: 'holder' })
    await holder.query({ text: 'begin' })
    await holder.query({ text: `lock table ${own}.cs_tb_readings` })
    const locked = tables.write(table, [['locked', '1']])
    const other = await tables.open({ ...READINGS, tenantId: OTHER, name: 'secret', columns: ['device'] })
    assert.deepEqual(await tables.write(other, [['free']]), [undefined])
    await assert.rejects(locked, (error) => isMillraceError(error) && error.kind === 'retryable')
    await holder.query({ text: 'rollback' })
    await holder.close()
    assert.deepEqual(await tables.write(table, [['locked', '1']]), [undefined])
  })
}
