/** A SQLite file of its own for each test. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { migrate } from './migrations.ts'
import { openSqliteDatabase } from './sqlite-database.ts'

/** Closed and removed when the test ends. */
export async function openFile(context: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-sqlite-'))
  const file = join(folder, 'entities.sqlite')
  const database = await openSqliteDatabase({ file, synchronous: 'normal' })
  context.after(async () => {
    await database.close()
    await rm(folder, { recursive: true, force: true })
  })
  await migrate(database, file, 1)
  return { folder, file, database }
}
