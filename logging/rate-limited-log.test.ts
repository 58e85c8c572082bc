import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../model/clock.ts'
import type { Log, LogFields } from '../model/log.ts'
import { RateLimitedLog } from './rate-limited-log.ts'

function recorder(): { log: Log; lines: [string, LogFields | undefined][] } {
  const lines: [string, LogFields | undefined][] = []
  const write = (text: string, fields?: LogFields) => void lines.push([text, fields])
  return { log: { debug: write, info: write, warn: write, error: write }, lines }
}

/** A clock whose one timer the test fires. */
function steppedClock(): { clock: Clock; fire: () => void; pending: () => boolean } {
  let pending: (() => void) | undefined
  return {
    clock: {
      now: () => 0,
      monotonic: () => 0,
      soon: () => assert.fail('not used'),
      after: (_delay, run) => {
        pending = run
        return { cancel: () => (pending = undefined) }
      },
    },
    fire: () => {
      const run = pending
      pending = undefined
      run?.()
    },
    pending: () => pending !== undefined,
  }
}

test('lines beyond the limit are counted and told in one line when the second is over', () => {
  const { log, lines } = recorder()
  const { clock, fire } = steppedClock()
  const limited = new RateLimitedLog(log, clock, 3)
  for (let line = 0; line < 10; line++) limited.info(`line ${line}`)
  assert.deepEqual(
    lines.map(([text]) => text),
    ['line 0', 'line 1', 'line 2'],
  )
  fire()
  assert.deepEqual(lines.at(-1)?.[1], { left_out: 7, limit: 3 })
  limited.info('next second')
  assert.equal(lines.at(-1)?.[0], 'next second')
})

test('closing tells what was left out and leaves no timer', () => {
  const { log, lines } = recorder()
  const { clock, pending } = steppedClock()
  const limited = new RateLimitedLog(log, clock, 1)
  limited.warn('a')
  limited.warn('b')
  limited.close()
  assert.deepEqual(lines.at(-1)?.[1], { left_out: 1, limit: 1 })
  assert.equal(pending(), false)
})
