import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Journal } from './journal.ts'
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
