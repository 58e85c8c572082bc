import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PostgresConnection } from './connection.ts'
import { migratePostgres } from './migrations.ts'
import { emptyDatabase, serverForFile } from './testkit.ts'

const server = await serverForFile()

test(
  'indexes over many rows may take longer than other statements may, each and all together',
  { skip: server === undefined },
  async (context) => {
    assert.ok(server !== undefined)
    const url = await emptyDatabase(server)
    const connection = new PostgresConnection({ url, applicationName: 'test', answerWithinMs: 3_000 })
    context.after(() => connection.close())
    // Longer than the client waits, which gives the server a second more.
    const statements = ['select pg_sleep(4.2)']
    await migratePostgres(connection, { name: 'slow', migrations: [{ version: 1, statements }] }, 0)
    const { rows } = await connection.query({ text: `select version from schema_version where component = 'slow'` })
    assert.deepEqual(rows, [{ version: 1 }])
    // Those of later transactions have their limit again.
    assert.deepEqual((await connection.query({ text: 'show statement_timeout' })).rows, [{ statement_timeout: '3s' }])
  },
)
