/** A recorded case that no replay plays fails: planted beside others. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { assertNoneTwice, recordedFiles } from './recorded-files.ts'

const NUMBERED = /^\d{3}-.*\.json$/

async function folderOf(context: TestContext, files: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-recorded-'))
  context.after(() => rm(folder, { recursive: true }))
  for (const file of files) await writeFile(join(folder, file), '{}')
  return folder
}

test('a folder of recordings gives each of its files', async (context) => {
  const files = ['001-login.json', '002-device.json']
  assert.deepEqual(recordedFiles(await folderOf(context, files), NUMBERED), files)
})

test('a file that the replay would pass over by its name fails', async (context) => {
  const folder = await folderOf(context, ['001-login.json', '1000-planted.json'])
  assert.throws(() => recordedFiles(folder, NUMBERED), /1000-planted\.json/)
})

test('a second case of one name fails', () => {
  assertNoneTwice(['login', 'device'], 'cases')
  assert.throws(() => assertNoneTwice(['login', 'device', 'login'], 'cases'), /login/)
})
