import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { takeDataFolder } from './data-folder.ts'

test('a folder is made where it is absent, and taken once at a time', async (context) => {
  const root = await mkdtemp(join(tmpdir(), 'millrace-folder-'))
  context.after(() => rm(root, { recursive: true, force: true }))
  const folder = join(root, 'deep', 'data')
  const first = takeDataFolder(folder)
  assert.throws(() => takeDataFolder(folder), /is in use by another Millrace/)
  first.release()
  first.release()
  takeDataFolder(folder).release()
})

test('a folder that can not be made is refused with the reason', () => {
  assert.throws(() => takeDataFolder('/dev/null/millrace'), /DATA_DIR=\/dev\/null\/millrace can not be used: /)
})
