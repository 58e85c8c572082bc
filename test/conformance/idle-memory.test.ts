/** What the embedded default takes when nobody uses it, started as `npm start` does. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { PROJECT_ROOT, startMillrace } from '../support/start-millrace.ts'

/** Measured 147 MiB; 150 are wanted, and a busy machine adds some; with the compile cache in memory 6 more, with an arena for each thread some 30 more, with the garbage of the start 15, with a heap that keeps large blocks 14 to 30. */
const MAX_MIB = 153
/** Beside other work one start in ten takes 10 MiB more, and gives them back later: most of them count. */
const STARTS = 5
const MAJORITY = 3
const NEEDS_PROC = { skip: process.platform === 'linux' ? false : 'needs /proc' }
const AS_NPM_START = { preload: [join(PROJECT_ROOT, 'compose', 'stripped-types.mjs')] }

/** Resident memory of the process and all that it started. What they share counts for each: an upper bound. */
async function residentMiB(pid: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const own = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN) / 1024
  const ofThreads = (await readdir(`/proc/${pid}/task`)).map((thread) =>
    readFile(`/proc/${pid}/task/${thread}/children`, 'utf8'),
  )
  const children = (await Promise.all(ofThreads)).join(' ').split(' ').filter(Boolean)
  const below = await Promise.all(children.map(residentMiB))
  return below.reduce((sum, child) => sum + child, own)
}

test(`an idle Millrace takes at most ${MAX_MIB} MiB`, NEEDS_PROC, async (context) => {
  const { scripts } = JSON.parse(await readFile(join(PROJECT_ROOT, 'package.json'), 'utf8')) as {
    scripts: { start: string }
  }
  assert.match(scripts.start, /--import \.\/compose\/stripped-types\.mjs main\.ts$/)
  // The first start after a change strips the types, which takes memory of its own.
  await (await startMillrace(AS_NPM_START)).stop()
  const taken: number[] = []
  const isWithin = (mib: number): boolean => mib <= MAX_MIB
  while (taken.filter(isWithin).length < MAJORITY && taken.length < STARTS) taken.push(await idleMiB(context))
  assert.ok(taken.filter(isWithin).length >= MAJORITY, `${taken.join(', ')} MiB`)
})

/** The most that a start of its own takes. */
async function idleMiB(context: TestContext): Promise<number> {
  const millrace = await startMillrace(AS_NPM_START)
  try {
    let most = 0
    for (let look = 0; look < 10; look++) {
      await delay(200)
      most = Math.max(most, await residentMiB(String(millrace.pid)))
    }
    context.diagnostic(`${Math.round(most)} MiB resident, started in ${Math.round(millrace.startMs)} ms`)
    return most
  } finally {
    await millrace.stop()
  }
}

for (const [what, environment, expected] of [
  ['settings of malloc that keep little', {}, ['1', '8388608', '4194304']],
  ['what its environment says of malloc', { MALLOC_ARENA_MAX: '3' }, ['3', '8388608', '4194304']],
] as const) {
  test(`Millrace runs with ${what}, under the process id it was started with`, NEEDS_PROC, async (context) => {
    const millrace = await startMillrace({ environment })
    context.after(() => millrace.stop())
    const found = (await readFile(`/proc/${millrace.pid}/environ`, 'utf8')).split('\0')
    const [arenas, mapped, trimmed] = expected
    assert.deepEqual(found.filter((entry) => entry.startsWith('MALLOC_')).sort(), [
      `MALLOC_ARENA_MAX=${arenas}`,
      `MALLOC_MMAP_THRESHOLD_=${mapped}`,
      `MALLOC_TRIM_THRESHOLD_=${trimmed}`,
    ])
  })
}
