import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { test } from 'node:test'

const LOG = JSON.stringify(pathToFileURL(join(import.meta.dirname, 'log.ts')).href)

function program(body: string): string[] {
  return ['--input-type=module', '-e', `import { createLog } from ${LOG}\nconst log = createLog('info')\n${body}`]
}

test('a full disk below standard error ends nothing', (context) => {
  if (!existsSync('/dev/full')) return context.skip('needs /dev/full')
  const full = openSync('/dev/full', 'w')
  context.after(() => closeSync(full))
  const { stdout, status } = spawnSync(
    process.execPath,
    program(`
      let lines = 0
      const timer = setInterval(() => {
        log.error('a line')
        if (++lines < 5) return
        clearInterval(timer)
        process.stdout.write('still here')
        log.flush()
        process.exit(0)
      }, 5)`),
    { encoding: 'utf8', stdio: ['ignore', 'pipe', full], timeout: 120_000 },
  )
  assert.deepEqual([stdout, status], ['still here', 0])
})

test('lines that nobody reads take a bounded memory', async (context) => {
  const child = spawn(
    process.execPath,
    program(`
      const text = 'x'.repeat(1000)
      for (let line = 0; line < 100_000; line++) log.info(text)
      const { heapUsed, external } = process.memoryUsage()
      process.stdout.write(String(heapUsed + external))`),
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  context.after(() => child.kill('SIGKILL'))
  const [bytes] = (await once(child.stdout, 'data')) as [Buffer]
  assert.ok(Number(bytes) < 80 * 2 ** 20, `${bytes.toString()} bytes for 100 MB of lines`)
})
