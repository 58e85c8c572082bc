/** The runs of a round, held to journals: what a device did not hear of is bound to its own connection alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CHILD_OF } from '../../support/run-log/index.ts'
import { Journal, type Outcome } from './journal.ts'
import { judgeChildren, judgeRuns } from './runs.ts'

interface Sent {
  /** `|`: over a new connection from here. */
  readonly sent: readonly (Outcome | '|')[]
  /** In the order of the runs. */
  readonly ran: readonly number[]
  readonly isNewWorld?: boolean
  readonly packSize?: number
}

/** One device and its runs; `packSize` values are sent, and end, together. */
async function judgedWith(
  judge: typeof judgeRuns | typeof judgeChildren,
  prefix: string,
  { sent, ran, isNewWorld = false, packSize = 1 }: Sent,
) {
  const identity = { name: 'device', token: 'T', deviceId: 'id', protocol: 'HTTP', explicitTimes: true } as const
  const journal = new Journal(identity)
  for (const outcome of sent) {
    if (outcome === '|') journal.nextSession()
    else for (const value of journal.takePack(packSize)) value.outcome = outcome
  }
  const runs = ran.map((value, index) => ({
    id: `m${index}`,
    epoch: 'p.1',
    storeStart: 0,
    attempt: 1,
    start: index,
    deviceId: `${prefix}id`,
    value,
  }))
  return judge(runs, [journal], { partitionsMove: true, isNewWorld })
}

function judged(sent: Sent['sent'], ran: Sent['ran'], isNewWorld = false): Promise<readonly string[]> {
  return judgedWith(judgeRuns, '', { sent, ran, isNewWorld })
}

test('what was acknowledged runs once, in order', async () => {
  assert.deepEqual(await judged(['acknowledged', 'acknowledged', 'unknown'], [1, 2]), [])
  assert.match((await judged(['acknowledged', 'acknowledged'], [1]))[0] ?? '', /^lost: value 2/)
  assert.match((await judged(['acknowledged', 'acknowledged'], [2, 1]))[0] ?? '', /^outOfOrder: value 1/)
  assert.match((await judged(['acknowledged'], [1, 1]))[0] ?? '', /^counted: value 1/)
})

test('a value without an answer may come late over another connection, and not over its own', async () => {
  assert.deepEqual(await judged(['unknown', '|', 'acknowledged'], [2, 1]), [])
  assert.match((await judged(['unknown', 'acknowledged'], [2, 1]))[0] ?? '', /^outOfOrder: value 1/)
})

test('in a new world the first values of a device may meet the chain before it', async () => {
  const sent = ['acknowledged', 'acknowledged', 'acknowledged'] as const
  assert.deepEqual(await judged(sent, [2, 3], true), [])
  assert.match((await judged(sent, [2, 3]))[0] ?? '', /^lost: value 1/)
  assert.match((await judged(sent, [1, 3], true))[0] ?? '', /^lost: value 2/)
  assert.match((await judged(sent, [], true))[0] ?? '', /^lost: value 1/)
})

test('a world without a log of runs has nothing to judge', async () => {
  assert.deepEqual(await judgeRuns(undefined, [], { partitionsMove: false, isNewWorld: false }), [])
})

test('what was acknowledged has one child that ran, in any order', async () => {
  const children = (sent: Sent['sent'], ran: Sent['ran']) => judgedWith(judgeChildren, CHILD_OF, { sent, ran })
  assert.deepEqual(await children(['acknowledged', 'acknowledged', 'unknown'], [2, 1]), [])
  assert.match((await children(['acknowledged', 'acknowledged'], [1]))[0] ?? '', /^child lost: value 2/)
  assert.match((await children(['acknowledged'], [1, 1]))[0] ?? '', /^2 children: child-of-id 1/)
})

test('each value of a pack runs once, in the order of the pack; without an answer any of them may have run', async () => {
  const packs = (sent: Sent['sent'], ran: Sent['ran']) => judgedWith(judgeRuns, '', { sent, ran, packSize: 3 })
  assert.deepEqual(await packs(['acknowledged', 'unknown', 'acknowledged'], [1, 2, 3, 4, 7, 8, 9]), [])
  assert.deepEqual(await packs(['unknown', '|', 'acknowledged'], [4, 5, 6, 1, 2]), [])
  assert.match((await packs(['acknowledged', 'acknowledged'], [1, 3, 4, 5, 6]))[0] ?? '', /^lost: value 2/)
  assert.match((await packs(['acknowledged'], [1, 3, 2]))[0] ?? '', /^outOfOrder: value 2/)
  const twice = await packs(['acknowledged'], [1, 2, 3, 1, 2, 3])
  assert.deepEqual(twice.length, 3)
  for (const text of twice) assert.match(text, /^counted: value [123]/)
})
