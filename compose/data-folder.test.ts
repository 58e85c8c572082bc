import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
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

test('a file in the place of the folder is refused', async (context) => {
  const root = await mkdtemp(join(tmpdir(), 'millrace-folder-'))
  context.after(() => rm(root, { recursive: true, force: true }))
  const file = join(root, 'file')
  await writeFile(file, '')
  assert.throws(() => takeDataFolder(file), /DATA_DIR=.*file can not be used: it is a file\. Name a folder/)
})

test(
  'a folder that the system never makes is refused at once',
  { skip: process.platform === 'linux' ? false : 'needs /proc' },
  () => {
    // In a process of its own: tried again for ever, it would block this one, and no timeout could fire.
    const program = `import { takeDataFolder } from ${JSON.stringify(new URL('data-folder.ts', import.meta.url).href)}
      takeDataFolder('/proc/millrace')`
    const run = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      encoding: 'utf8',
      timeout: 60_000,
      killSignal: 'SIGKILL',
    })
    assert.equal(run.signal, null)
    assert.match(run.stderr, /DATA_DIR=\/proc\/millrace can not be used: /)
  },
)
