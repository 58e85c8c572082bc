import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Journal, explicitTime, packBodyOf } from './journal.ts'
import { judge, type ReadPoint } from './verdict.ts'

function journalOf(outcomes: readonly string[]): Journal {
  const journal = new Journal({ name: 'device', token: 'T', deviceId: 'id', protocol: 'HTTP', explicitTimes: false })
  for (const outcome of outcomes) {
    if (outcome === '|') journal.nextSession()
    else if (outcome === 'a') journal.acknowledge(journal.take())
    else journal.take()
  }
  return journal
}

function packsOf(packs: readonly (readonly [outcome: 'a' | 'u', size: number])[]): Journal {
  const device = { name: 'device', token: 'T', deviceId: 'id', protocol: 'MQTT 3.1.1', isBare: true } as const
  const journal = new Journal({ ...device, explicitTimes: true, packSize: 3 })
  for (const [outcome, size] of packs) {
    for (const value of journal.takePack(size)) if (outcome === 'a') journal.acknowledge(value)
  }
  return journal
}

function verdictOfPacks(packs: Parameters<typeof packsOf>[0], values: readonly number[]) {
  const n: ReadPoint[] = values.map((value) => ({ ts: explicitTime(value), value }))
  const { acknowledged, acknowledgedMessages, unknown, lost, duplicated, outOfOrder, foreign } = judge([
    { journal: packsOf(packs), series: { n, text: [], latest: n.at(-1) } },
  ])
  return { acknowledged, acknowledgedMessages, unknown, wrong: { lost, duplicated, outOfOrder, foreign } }
}

function verdictOf(outcomes: string, values: readonly number[], latest = values.at(-1)) {
  const n: ReadPoint[] = values.map((value, index) => ({ ts: 100 + index, value }))
  const text = n.map(({ ts, value }) => ({ ts, value: `value ${value}` }))
  const point = n.find(({ value }) => value === latest)
  const { lost, duplicated, outOfOrder, foreign } = judge([
    { journal: journalOf([...outcomes]), series: { n, text, latest: point } },
  ])
  return { lost, duplicated, outOfOrder, foreign }
}

const CLEAN = { lost: 0, duplicated: 0, outOfOrder: 0, foreign: 0 }

test('what was acknowledged must be there once, in order, and nothing else but what has no answer', () => {
  assert.deepEqual(verdictOf('aaa', [1, 2, 3]), CLEAN)
  assert.deepEqual(verdictOf('aua', [1, 2, 3]), CLEAN)
  assert.deepEqual(verdictOf('aua', [1, 3]), CLEAN)
  assert.deepEqual(verdictOf('aaa', [1, 3]), { ...CLEAN, lost: 1 })
  assert.deepEqual(verdictOf('aaa', [1, 2, 2, 3]), { ...CLEAN, duplicated: 1 })
  assert.deepEqual(verdictOf('aaa', [2, 1, 3]), { ...CLEAN, outOfOrder: 1 })
  assert.deepEqual(verdictOf('aaa', [1, 2, 3, 9]), { ...CLEAN, foreign: 1 })
})

test('a value without an answer may come late over another connection, and not over its own', () => {
  assert.deepEqual(verdictOf('aua|a', [1, 3, 4, 2]), { ...CLEAN, outOfOrder: 1 })
  assert.deepEqual(verdictOf('au|aa', [1, 3, 4, 2]), CLEAN)
  assert.deepEqual(verdictOf('aa|aa', [1, 3, 4, 2]), { ...CLEAN, outOfOrder: 1 })
})

test('a latest value that is not the last of the history is out of order', () => {
  assert.deepEqual(verdictOf('aaa', [1, 2, 3], 2), { ...CLEAN, outOfOrder: 1 })
})

test('of an acknowledged pack every value must be there, of one without an answer any may', () => {
  const sums = { acknowledged: 4, acknowledgedMessages: 2, unknown: 2 }
  const sent = [
    ['a', 3],
    ['u', 2],
    ['a', 1],
  ] as const
  assert.deepEqual(verdictOfPacks(sent, [1, 2, 3, 4, 5, 6]), { ...sums, wrong: CLEAN })
  assert.deepEqual(verdictOfPacks(sent, [1, 2, 3, 4, 6]), { ...sums, wrong: CLEAN })
  assert.deepEqual(verdictOfPacks(sent, [1, 3, 6]), { ...sums, wrong: { ...CLEAN, lost: 1 } })
  assert.deepEqual(verdictOfPacks(sent, [6]), { ...sums, wrong: { ...CLEAN, lost: 3 } })
  assert.deepEqual(verdictOfPacks(sent, [1, 2, 2, 3, 6]), { ...sums, wrong: { ...CLEAN, duplicated: 1 } })
})

test('the values of a pack have their own times', () => {
  const journal = packsOf([['u', 2]])
  assert.deepEqual(JSON.parse(packBodyOf(journal.device, journal.sent)), [
    { ts: explicitTime(1), values: { n: 1 } },
    { ts: explicitTime(2), values: { n: 2 } },
  ])
})
