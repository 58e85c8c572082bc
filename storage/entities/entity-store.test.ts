import assert from 'node:assert/strict'
import { threadArguments } from '../../model/thread-arguments.ts'
import { DECLARED_TABLES } from '../../services/entities/declared.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { testEntityStore } from './contract.ts'
import { openEntityStore } from './entity-store.ts'
import { MIGRATIONS, migrate, type Migration } from './sqlite/migrations.ts'
import { openSqliteDatabase } from './sqlite/sqlite-database.ts'

const clock = { now: () => 1_700_000_000_000 }

async function withFile(run: (file: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'millrace-entities-'))
  try {
    await run(path.join(folder, 'entities.db'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

testEntityStore('SQLite', async () => {
  const store = await openEntityStore({ file: ':memory:', durability: 'process-death', clock, tables: DECLARED_TABLES })
  return { store, close: () => store.close() }
})

test('what was written is there after it is opened again', async () => {
  await withFile(async (file) => {
    const first = await openEntityStore({ file, durability: 'power-cut', clock, tables: DECLARED_TABLES })
    await first.settings.put('name', 'value')
    await first.close()
    const second = await openEntityStore({ file, durability: 'power-cut', clock, tables: DECLARED_TABLES })
    assert.equal(await second.settings.find('name'), 'value')
    await second.close()
  })
})

test('writes given before the close are stored, later ones refused', async () => {
  await withFile(async (file) => {
    const store = await openEntityStore({ file, durability: 'process-death', clock, tables: DECLARED_TABLES })
    const writes = Array.from({ length: 100 }, (_, index) => store.settings.put(`s${index}`, index))
    const closing = store.close()
    assert.equal(store.close(), closing)
    await assert.rejects(store.settings.put('late', 1), { code: 'entities.CLOSED' })
    await Promise.all([...writes, closing])
    const again = await openEntityStore({ file, durability: 'process-death', clock, tables: DECLARED_TABLES })
    assert.equal(await again.settings.find('s99'), 99)
    assert.equal(await again.settings.find('late'), undefined)
    await again.close()
  })
})

test('refuses a database that a newer program wrote, and leaves it as it is', async () => {
  await withFile(async (file) => {
    await (await openEntityStore({ file, durability: 'process-death', clock, tables: DECLARED_TABLES })).close()
    const newer = new DatabaseSync(file)
    newer.exec('insert into schema_version (version, applied_time) values (999, 1)')
    newer.close()
    await assert.rejects(openEntityStore({ file, durability: 'process-death', clock, tables: DECLARED_TABLES }), {
      code: 'entities.DATABASE_NEWER',
      message: /has schema version 999, this program knows versions up to \d+/,
    })
  })
})

test('a file that cannot be opened is an error that says why', async () => {
  await withFile(async (file) => {
    const missing = path.join(path.dirname(file), 'no', 'such', 'folder', 'entities.db')
    await assert.rejects(
      openEntityStore({ file: missing, durability: 'process-death', clock, tables: DECLARED_TABLES }),
      /unable to open database file/,
    )
  })
})

test('a migration that fails changes nothing and is tried again at the next start', async (context) => {
  const last = MIGRATIONS.at(-1)?.version ?? 0
  const broken: Migration = {
    version: last + 1,
    statements: ['create table extra (id text)', 'alter table nowhere add column x text'],
  }
  const mended: Migration = { version: last + 1, statements: ['create table extra (id text)'] }
  const database = await openSqliteDatabase({ file: ':memory:', synchronous: 'normal' })
  context.after(() => database.close())
  await assert.rejects(migrate(database, ':memory:', 1, [...MIGRATIONS, broken]))
  await migrate(database, ':memory:', 2, [...MIGRATIONS, mended])
  const { rows } = await database.read(
    database.builder.selectFrom('schema_version').selectAll().orderBy('version').compile(),
  )
  assert.deepEqual(
    rows.map((row) => row.version),
    [...MIGRATIONS.map((migration) => migration.version), last + 1],
  )
})

test('a transaction held open across awaits is refused', async (context) => {
  const database = await openSqliteDatabase({ file: ':memory:', synchronous: 'normal' })
  context.after(() => database.close())
  await migrate(database, ':memory:', 1)
  const held = database.builder
    .transaction()
    .execute((transaction) => transaction.selectFrom('setting').selectAll().execute())
  await assert.rejects(held, { code: 'entities.TRANSACTION_HELD' })
})

test('a process killed while it opens, migrates and writes leaves a database that opens', async () => {
  await withFile(async (file) => {
    const script = path.join(import.meta.dirname, 'entity-store-crash.ts')
    const delaysInLines = [0, 0, 1, 3, 10, 30]
    let acknowledged = -1
    for (const lines of delaysInLines) {
      const child = spawn(process.execPath, [...threadArguments(), script, file], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let seen = 0
      child.stdout.on('data', (chunk: Buffer) => {
        const numbers = chunk
          .toString()
          .split('\n')
          .filter((line) => /^\d+$/.test(line))
        seen += numbers.length
        acknowledged = Math.max(acknowledged, ...numbers.map(Number))
        if (seen >= lines) child.kill('SIGKILL')
      })
      const [, signal] = (await once(child, 'close')) as [number | null, string | null]
      assert.equal(signal, 'SIGKILL')
    }
    const store = await openEntityStore({ file, durability: 'process-death', clock, tables: DECLARED_TABLES })
    const stored = Number(await store.settings.find('counter'))
    assert.ok(stored >= acknowledged && acknowledged >= 30, `stored ${stored}, acknowledged ${acknowledged}`)
    await store.close()
  })
})
