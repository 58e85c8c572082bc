/** The runs of a round, held to journals: what a device did not hear of is bound to its own connection alone. */
import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { RunLog } from '../../support/run-log/index.ts'
import { lineOf } from '../../support/run-log/run-log.ts'
import { Journal, type Outcome } from './journal.ts'
import { judgeRuns } from './runs.ts'

/** One device that sent these values, `|` being a new connection; the runs are in the order given. */
function judged(
  context: TestContext,
  sent: readonly (Outcome | '|')[],
  ran: readonly number[],
  isNewWorld = false,
): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-runs-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const log = new RunLog(join(folder, 'runs'))
  const identity = { name: 'device', token: 'T', deviceId: 'id', protocol: 'HTTP', explicitTimes: true } as const
  const journal = new Journal(identity)
  for (const outcome of sent) {
    if (outcome === '|') journal.nextSession()
    else journal.take().outcome = outcome
  }
  for (const [index, value] of ran.entries()) {
    appendFileSync(log.file, lineOf({ id: `m${index}`, epoch: 'p.1', attempt: 1, deviceId: 'id', value }))
  }
  return judgeRuns(log, [journal], { partitionsMove: true, isNewWorld })
}

test('what was acknowledged runs once, in order', (context) => {
  assert.deepEqual(judged(context, ['acknowledged', 'acknowledged', 'unknown'], [1, 2]), [])
  assert.match(judged(context, ['acknowledged', 'acknowledged'], [1])[0] ?? '', /^lost: value 2/)
  assert.match(judged(context, ['acknowledged', 'acknowledged'], [2, 1])[0] ?? '', /^outOfOrder: value 1/)
  assert.match(judged(context, ['acknowledged'], [1, 1])[0] ?? '', /^counted: value 1/)
})

test('a value without an answer may come late over another connection, and not over its own', (context) => {
  assert.deepEqual(judged(context, ['unknown', '|', 'acknowledged'], [2, 1]), [])
  assert.match(judged(context, ['unknown', 'acknowledged'], [2, 1])[0] ?? '', /^outOfOrder: value 1/)
})

test('in a new world the first values of a device may meet the chain before it', (context) => {
  const sent = ['acknowledged', 'acknowledged', 'acknowledged'] as const
  assert.deepEqual(judged(context, sent, [2, 3], true), [])
  assert.match(judged(context, sent, [2, 3])[0] ?? '', /^lost: value 1/)
  assert.match(judged(context, sent, [1, 3], true)[0] ?? '', /^lost: value 2/)
  assert.match(judged(context, sent, [], true)[0] ?? '', /^lost: value 1/)
})

test('a world without a log of runs has nothing to judge', () => {
  assert.deepEqual(judgeRuns(undefined, [], { partitionsMove: false, isNewWorld: false }), [])
})
