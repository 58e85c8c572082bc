/**
 * A process that serves REST is ended by SIGKILL at every durable step of its changes: entity, audit row and message to the rule engine are
 * all there or none is, for whoever opens the store after it. On SQLite, on PostgreSQL where a server is at hand: a step that one is killed at
 * while it works, the other is killed at when it has answered.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, test } from 'node:test'
import { threadArguments } from '../../model/thread-arguments.ts'
import { DECLARED_TABLES } from '../../services/entities/declared.ts'
import { assertAllOrNone } from '../../services/kills/kill-changes.ts'
import { openTestPlatform, testSecrets } from '../../services/testkit.ts'
import { VAULT_KEY_BYTES } from '../../services/vault/vault.ts'
import { openEntityStore, openPostgresEntityStore, type EntityStore } from '../../storage/entities/entity-store.ts'
import { emptyDatabase, serverForFile } from '../../storage/postgres/testkit.ts'

const SCRIPT = path.join(import.meta.dirname, 'rest-kill-process.ts')
/** Six calls, each with one durable step at least. */
const FEWEST_STEPS = 6
const clock = { now: () => 1_700_000_000_000 }
const key = randomBytes(VAULT_KEY_BYTES)
const secrets = testSecrets(key)
const server = await serverForFile()

interface Place {
  readonly file?: string
  readonly url?: string
}

/** Whether the process was killed. */
async function runUntil(place: Place, step: number, when: 'during' | 'after'): Promise<boolean> {
  const asked = { ...place, name: `killed ${when} ${step}`, step, when, key: key.toString('base64') }
  const argv = [...threadArguments(), SCRIPT, JSON.stringify(asked)]
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  assert.ok(signal === 'SIGKILL' || code === 0, `${when} ${step}: ${signal ?? code}`)
  return signal === 'SIGKILL'
}

/** In turn while the database is at it and as soon as it has answered; `first` says which comes first. */
async function killAtEveryStep(first: 0 | 1, place: Place, open: () => Promise<EntityStore>): Promise<void> {
  let [step, isKilled] = [0, true]
  while (isKilled) {
    step++
    isKilled = await runUntil(place, step, (step + first) % 2 === 1 ? 'during' : 'after')
    const platform = await openTestPlatform({ start: false, secrets, openEntities: open })
    await assertAllOrNone(platform.entities, platform)
    await platform.close()
  }
  assert.ok(step > FEWEST_STEPS, `${step - 1} steps`)
}

describe('SIGKILL at every durable step of REST changes', { concurrency: true, timeout: 600_000 }, () => {
  test('SQLite', async (context) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'millrace-rest-kills-'))
    context.after(() => rm(folder, { recursive: true, force: true }))
    const file = path.join(folder, 'entities.db')
    const open = () => openEntityStore({ file, durability: 'process-death', clock, tables: DECLARED_TABLES })
    await killAtEveryStep(0, { file }, open)
  })

  test('PostgreSQL', { skip: server === undefined ? 'no PostgreSQL is at hand' : false }, async () => {
    if (server === undefined) return
    const url = await emptyDatabase(server)
    await killAtEveryStep(1, { url }, () =>
      openPostgresEntityStore({ url, applicationName: 'test', clock, tables: DECLARED_TABLES }),
    )
  })
})
