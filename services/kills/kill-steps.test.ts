/**
 * A process that dies at any durable step of a change: the entity, the audit row and the message to the rule engine are all there or none is; an
 * import of a file goes on. On SQLite, on PostgreSQL where a server is at hand.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { threadArguments } from '../../model/thread-arguments.ts'
import { openEntityStore, openPostgresEntityStore, type EntityStore } from '../../storage/entities/entity-store.ts'
import { emptyDatabase, serverForFile } from '../../storage/postgres/testkit.ts'
import { DECLARED_TABLES } from '../entities/declared.ts'
import { devices } from '../entities/device.ts'
import type { FilePiece, FilePosition } from '../import/importer.ts'
import { assertAllOrNone, CHANGES } from './kill-changes.ts'
import { atEveryStep, type KilledStore } from './kill-steps.ts'
import { openTestPlatform, testSecrets, type TestPlatform } from '../testkit.ts'
import { VAULT_KEY_BYTES } from '../vault/vault.ts'

const clock = { now: () => 1_700_000_000_000 }
const server = await serverForFile()
const key = randomBytes(VAULT_KEY_BYTES)
const secrets = testSecrets(key)
const fileOf = (folder: string): string => path.join(folder, 'entities.db')

function testKills(open: () => Promise<EntityStore>, place: () => { file?: string; url?: string }): void {
  let store: EntityStore
  before(async () => {
    store = await open()
  })
  after(() => store.close())

  /** A process over the store; its outbox is left, so that every message is there to be looked at. */
  const start = (entities: EntityStore): Promise<TestPlatform> =>
    openTestPlatform({
      start: false,
      secrets,
      openEntities: () => Promise.resolve({ ...entities, close: () => Promise.resolve() }),
    })

  for (const [what, change] of Object.entries(CHANGES))
    test(what, async () => {
      const steps = await atEveryStep(store, async (killed, { step, when }) => {
        const platform = await start(store)
        const dying = await startDying(killed)
        await change(dying, `${what} ${step} ${when}`).catch(() => undefined)
        await dying.close()
        await assertAllOrNone(store, platform)
        await platform.close()
      })
      assert.ok(steps >= 2, `${steps} steps`)
    })

  async function startDying(killed: KilledStore): Promise<TestPlatform> {
    const platform = await openTestPlatform({
      start: false,
      secrets,
      openEntities: () => Promise.resolve(killed.store),
    })
    killed.arm()
    return platform
  }

  test('SIGKILL to a process at a durable step leaves all of the change or nothing', async () => {
    const what = 'an asset with attributes, assigned to a customer'
    let killed = 0
    for (const [step, when] of [
      [1, 'after'],
      [2, 'during'],
      [4, 'during'],
      [99, 'after'],
    ] as const) {
      const name = `killed ${step} ${when}`
      const asked = { ...place(), change: what, name, step, when, key: key.toString('base64') }
      const script = path.join(import.meta.dirname, 'kill-crash.ts')
      const child = spawn(process.execPath, [...threadArguments(), script, JSON.stringify(asked)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      child.stdout.resume()
      const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
      assert.equal(signal, step === 99 ? null : 'SIGKILL', name)
      if (signal !== null) killed++
      const platform = await start(store)
      await assertAllOrNone(store, platform)
      await platform.close()
    }
    assert.equal(killed, 3)
  })

  test('an import of a file goes on: each line is there once, and what is told of it is right', async () => {
    const pieces = piecesOf(3, 4)
    let run = 0
    await atEveryStep(store, async (killed) => {
      const prefix = `import ${++run}`
      const dying = await startDying(killed)
      const errorFile = new Set<number>()
      await importAll(dying, prefix, pieces, errorFile).catch(() => undefined)
      await dying.close()
      const platform = await start(store)
      const told = await importAll(platform, prefix, pieces, errorFile)
      assert.deepEqual([told.created, told.updated, told.errors], [9, 0, 3], `${prefix}`)
      assert.deepEqual(
        [...errorFile].toSorted((a, b) => a - b),
        [2, 6, 10],
      )
      const found = await platform.services.declared
        .of(devices)
        .page(platform.tenantId, {}, { pageSize: 100, page: 0, textSearch: prefix })
      assert.deepEqual(
        found.data.map(({ record }) => [record.name, record.version]).toSorted(),
        [1, 3, 4, 5, 7, 8, 9, 11, 12].map((line) => [`${prefix} line ${line}`, 1]).toSorted(),
      )
      await assertAllOrNone(store, platform)
      await platform.close()
    })
  })
}

type Pieces = readonly {
  readonly from: number
  readonly to: number
  readonly firstLine: number
  readonly count: number
}[]

function piecesOf(pieces: number, lines: number): Pieces {
  return Array.from({ length: pieces }, (_, index) => ({
    ...{ from: index * 10, to: (index + 1) * 10 },
    ...{ firstLine: index * lines + 1, count: lines },
  }))
}

/** As the command does it: asks where it is, and goes on there. Lines 2, 6 and 10 have no name. */
async function importAll(
  { services, tenant }: TestPlatform,
  name: string,
  pieces: Pieces,
  errorFile: Set<number>,
): Promise<FilePosition> {
  const write = (lines: readonly string[]) => {
    for (const line of lines) errorFile.add(Number(/^Line (\d+)/.exec(line)?.[1]))
  }
  let position = await services.fileImport.position(tenant, name)
  write(position.errorsList)
  for (const { from, to, firstLine, count } of pieces) {
    if (to <= position.position) continue
    const lines = Array.from({ length: count }, (_, index) => firstLine + index)
    const file = lines.map((line) => `${line % 4 === 2 ? '' : `${name} line ${line}`},1`).join('\n')
    const columns = [{ type: 'NAME' }, { type: 'SERVER_ATTRIBUTE', key: 'k' }]
    const of: Pick<FilePiece, 'type' | 'delimiter' | 'update'> = { type: 'DEVICE', delimiter: ',', update: false }
    position = await services.fileImport.take(tenant, { ...of, name, from, to, firstLine, file, columns })
    write(position.errorsList)
  }
  return position
}

describe('SQLite', () => {
  let folder = ''
  testKills(
    async () => {
      folder = await mkdtemp(path.join(tmpdir(), 'millrace-kills-'))
      return openEntityStore({ file: fileOf(folder), durability: 'process-death', clock, tables: DECLARED_TABLES })
    },
    () => ({ file: fileOf(folder) }),
  )
  after(() => rm(folder, { recursive: true, force: true }))
})

if (server !== undefined)
  describe('PostgreSQL', () => {
    let url = ''
    testKills(
      async () => {
        url = await emptyDatabase(server)
        return openPostgresEntityStore({ url, applicationName: 'test', clock, tables: DECLARED_TABLES })
      },
      () => ({ url }),
    )
  })
