/** A PostgreSQL server for a test file, and empty databases on it. */
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { canRunPostgres, type PostgresOptions } from '../../test/support/servers/postgres.ts'
import { requireServer, startPostgres, type RunningServer } from '../../test/support/servers/index.ts'
import { PostgresConnection } from './connection.ts'

/** Ended after the file's tests. Undefined where none can be had: then a skipped test says so, or fails where it must be real. */
export async function serverForFile(options: PostgresOptions = {}): Promise<RunningServer | undefined> {
  if (process.env['TEST_POSTGRES_URL'] === undefined && !canRunPostgres()) {
    void test('against a real PostgreSQL', (context) => void requireServer(context, 'postgres'))
    return undefined
  }
  const server = await startPostgres(options)
  after(() => server.stop())
  return server
}

/** The URL of a new, empty database on the server. */
export async function emptyDatabase(server: RunningServer): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const connection = new PostgresConnection({ url: server.url, applicationName: 'test' })
  await connection.query({ text: `create database ${name}` })
  await connection.close()
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return url.href
}
