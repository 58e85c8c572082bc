import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'node:test'
import type { SystemLog } from '../logging/log.ts'
import { stopOnSignals } from './process-end.ts'

/** A process that says with which code it would end. */
class ProbeProcess extends EventEmitter {
  exit(code: number): void {
    this.emit('exited', code)
  }
}

function silentLog(told: string[] = []): SystemLog {
  const tell = (text: string): void => void told.push(text)
  return { debug: tell, info: tell, warn: tell, error: tell, flush() {} }
}

async function exitCode(probe: ProbeProcess): Promise<number> {
  const [code] = (await once(probe, 'exited')) as [number]
  return code
}

test('a signal closes the platform once, and the exit code says whether that was clean', async () => {
  for (const [clean, code] of [
    [true, 0],
    [false, 1],
  ] as const) {
    const probe = new ProbeProcess()
    let closes = 0
    const started = stopOnSignals(probe, silentLog(), 60_000)
    assert.equal(started({ close: async () => (closes++, clean) }), false)
    const exited = exitCode(probe)
    probe.emit('SIGTERM', 'SIGTERM')
    probe.emit('SIGINT', 'SIGINT')
    assert.equal(await exited, code)
    assert.equal(closes, 1)
  }
})

test('a signal that comes while the platform starts stops it as soon as it has', async () => {
  const probe = new ProbeProcess()
  const started = stopOnSignals(probe, silentLog(), 60_000)
  probe.emit('SIGTERM', 'SIGTERM')
  const exited = exitCode(probe)
  assert.equal(started({ close: () => Promise.resolve(true) }), true)
  assert.equal(await exited, 0)
})

test('a stop that takes longer than it may ends the process hard, and says so', async () => {
  const told: string[] = []
  const probe = new ProbeProcess()
  stopOnSignals(probe, silentLog(told), 5)({ close: () => new Promise(() => undefined) })
  const exited = exitCode(probe)
  probe.emit('SIGTERM', 'SIGTERM')
  assert.equal(await exited, 1)
  assert.match(told.join(), /took too long/)
})

test('an error that nobody caught ends the process with its stack in the log', () => {
  const here = (path: string): string => JSON.stringify(pathToFileURL(join(import.meta.dirname, path)).href)
  for (const defect of [
    "setTimeout(() => { throw new Error('a defect') })",
    "void Promise.reject(new Error('a defect'))",
  ]) {
    const { stderr, status } = spawnSync(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { createLog } from ${here('../logging/log.ts')}
         import { endOnUncaughtErrors } from ${here('process-end.ts')}
         endOnUncaughtErrors(createLog('info'))
         setInterval(() => undefined, 1000)
         ${defect}`,
      ],
      { encoding: 'utf8', timeout: 120_000 },
    )
    assert.equal(status, 70)
    const line = JSON.parse(stderr.trim()) as { reason: string; stack: string; level: string }
    assert.deepEqual([line.level, line.reason], ['error', 'a defect'])
    assert.match(line.stack, /Error: a defect\n +at/)
  }
})
