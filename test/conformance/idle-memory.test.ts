/** What the embedded default takes when nobody uses it, started as `npm start` does. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { PROJECT_ROOT, startMillrace } from '../support/start-millrace.ts'

/** Measured 185 to 195 MiB; with Node's own stripping of types it is 230. */
const MOST_MIB = 215

test(
  `an idle Millrace takes at most ${MOST_MIB} MiB`,
  { skip: process.platform === 'linux' ? false : 'needs /proc' },
  async (context) => {
    const { scripts } = JSON.parse(await readFile(join(PROJECT_ROOT, 'package.json'), 'utf8')) as {
      scripts: { start: string }
    }
    assert.match(scripts.start, /--import \.\/compose\/stripped-types\.mjs main\.ts$/)
    const options = { preload: [join(PROJECT_ROOT, 'compose', 'stripped-types.mjs')] }
    // The first start after a change strips the types, which takes memory of its own.
    await (await startMillrace(options)).stop()
    const millrace = await startMillrace(options)
    context.after(() => millrace.kill())
    let most = 0
    for (let look = 0; look < 10; look++) {
      await delay(200)
      const status = await readFile(`/proc/${millrace.pid}/status`, 'utf8')
      most = Math.max(most, Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN) / 1024)
    }
    context.diagnostic(`${Math.round(most)} MiB resident, started in ${Math.round(millrace.startMs)} ms`)
    assert.ok(most <= MOST_MIB, `${most} MiB`)
  },
)
