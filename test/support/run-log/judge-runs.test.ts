/** The judge of runs, held to logs with planted faults. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RunJudge, type RunRules } from './judge-runs.ts'
import type { Run } from './run-log.ts'

const SENT_ONCE: RunRules = { timesSent: () => 1 }

let starts = 0

/** Started in the order of the calls. */
function run(value: number, change: Partial<Run> = {}): Run {
  const place = { start: ++starts, storeStart: 0 }
  return { id: `message ${value}`, epoch: 'p.1', attempt: 1, ...place, deviceId: 'device', value, ...change }
}

function judged(runs: readonly Run[], rules: RunRules = SENT_ONCE) {
  const judge = new RunJudge(rules)
  judge.take(runs)
  const { doubled, afterSettle, counted, outOfOrder } = judge.verdict()
  return { doubled, afterSettle, counted, outOfOrder }
}

const NOTHING = { doubled: 0, afterSettle: 0, counted: 0, outOfOrder: 0 }

test('a retry, a redelivery after a kill and a resend are none of its business', () => {
  assert.deepEqual(judged([run(1), run(2), run(1, { attempt: 2 })]), NOTHING)
  assert.deepEqual(judged([run(1), run(2), run(1, { epoch: 'q.1' }), run(2, { epoch: 'q.1' })]), NOTHING)
  const sentTwice = { timesSent: () => 2 }
  assert.deepEqual(judged([run(1), run(2), run(1, { id: 'again' }), run(3)], sentTwice), NOTHING)
})

test('finds the same try twice', () => {
  assert.deepEqual(judged([run(1), run(1)]), { ...NOTHING, doubled: 1 })
})

test('finds a second delivery to one process, unless partitions move', () => {
  const runs = [run(1), run(1, { epoch: 'p.2' })]
  assert.deepEqual(judged(runs), { ...NOTHING, doubled: 1 })
  assert.deepEqual(judged(runs, { ...SENT_ONCE, partitionsMove: true }), NOTHING)
})

test('finds a run after its settle', () => {
  const judge = new RunJudge(SENT_ONCE)
  judge.take([run(1)])
  judge.settled()
  judge.take([run(2), run(1, { epoch: 'q.1' })])
  assert.equal(judge.verdict().afterSettle, 1)
})

test('finds a value counted more often than it was sent', () => {
  assert.deepEqual(judged([run(1), run(1, { id: 'again' })]), { ...NOTHING, counted: 1 })
  assert.deepEqual(judged([run(9)], { timesSent: () => 0 }), { ...NOTHING, counted: 1 })
})

test('finds first runs out of order, for each device by itself', () => {
  assert.deepEqual(judged([run(2), run(1)]), { ...NOTHING, outOfOrder: 1 })
  assert.deepEqual(judged([run(2), run(1, { deviceId: 'other', id: 'its own' })]), NOTHING)
  assert.deepEqual(judged([run(2), run(1)], { ...SENT_ONCE, mayComeAfter: () => true }), NOTHING)
})

test('the order is that of starts, where one process has both: a first try may end before it comes to the log', () => {
  const [first, second] = [run(1, { epoch: 'p.2' }), run(2)]
  assert.deepEqual(judged([second, first], { ...SENT_ONCE, partitionsMove: true }), NOTHING)
  const elsewhere = { ...first, epoch: 'q.2' }
  assert.equal(judged([second, elsewhere], { ...SENT_ONCE, partitionsMove: true }).outOfOrder, 1)
})

test('strict order holds for retries too', () => {
  const runs = [run(1), run(2), run(1, { attempt: 2 })]
  assert.deepEqual(judged(runs), NOTHING)
  assert.deepEqual(judged(runs, { ...SENT_ONCE, isStrict: true }), { ...NOTHING, outOfOrder: 1 })
})

test('a parked lane is tried from its first message on, in each process by itself', () => {
  const parked = (value: number, storeStart: number, change: Partial<Run> = {}): Run =>
    run(value, { attempt: 2, storeStart, ...change })
  const started = [run(1), run(2), run(3)]
  assert.deepEqual(judged([...started, parked(1, 1), parked(2, 2), parked(3, 3)]), NOTHING)
  assert.deepEqual(judged([...started, parked(2, 1), parked(1, 2)]), { ...NOTHING, outOfOrder: 1 })
  // It begins again with what failed, or was handed out first and came to the log last.
  assert.deepEqual(judged([...started, parked(1, 1), parked(2, 2), parked(1, 1, { attempt: 3 })]), NOTHING)
  assert.deepEqual(judged([...started, parked(2, 2), parked(1, 1)]), NOTHING)
  const moves = { ...SENT_ONCE, partitionsMove: true }
  assert.deepEqual(judged([...started, parked(2, 1), parked(1, 1, { epoch: 'q.1' })], moves), NOTHING)
  assert.deepEqual(
    judged([...started, parked(2, 1), parked(1, 2)], { ...SENT_ONCE, mayComeAfter: () => true }),
    NOTHING,
  )
})
