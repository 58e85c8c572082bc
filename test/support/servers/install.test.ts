import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { installOnce, runInstaller } from './install.ts'

test('two that want the same at once install it once, and both get it whole', async (context) => {
  const cache = await cacheFolder(context)
  let fills = 0
  const fill = async (folder: string): Promise<void> => {
    fills++
    await writeFile(join(folder, 'first'), 'half')
    await runInstaller('sh', ['-c', 'sleep 0.2 && echo whole > second'], { folder })
  }
  const folders = await Promise.all([installOnce('thing-1', fill, cache), installOnce('thing-1', fill, cache)])
  assert.equal(fills, 1)
  for (const folder of folders) assert.equal(await readFile(join(folder, 'second'), 'utf8'), 'whole\n')
  assert.deepEqual(await readdir(cache), ['thing-1'])
})

test('an install that fails tells what its installer said and leaves nothing, so that the next one can succeed', async (context) => {
  const cache = await cacheFolder(context)
  const failing = installOnce(
    'thing-1',
    (folder) => runInstaller('sh', ['-c', 'echo no such package; exit 3'], { folder }),
    cache,
  )
  await assert.rejects(failing, /ended with 3:\nno such package/)
  assert.deepEqual(await readdir(cache), [])
  assert.equal(await installOnce('thing-1', () => Promise.resolve(), cache), join(cache, 'thing-1'))
})

test('the lock of an installer that was killed does not hold the next one', async (context) => {
  const cache = await cacheFolder(context)
  const { pid } = spawnSync('true') // A process id that was used and is free again.
  await writeFile(join(cache, 'thing-1.lock'), String(pid))
  assert.equal(await installOnce('thing-1', () => Promise.resolve(), cache), join(cache, 'thing-1'))
})

async function cacheFolder(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-install-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
