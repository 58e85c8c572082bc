import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AttemptTurns } from './attempt-turns.ts'

test('lines of addresses take turns, and one address has no more than its own', async () => {
  const turns = new AttemptTurns({ atOnce: 2, atOncePerAddress: 1, waiting: 4, waitingPerAddress: 3 })
  const began: string[] = []
  const come = (name: string) => turns.take(name[0] ?? '').then(() => void began.push(name))
  const settled = () => new Promise(setImmediate)
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(come)
  await assert.rejects(come('b3'), { code: 'onboarding.BUSY' })
  await settled()
  assert.deepEqual([began, turns.underWay], [['a1', 'b1'], 2])
  turns.give('b')
  await settled()
  assert.deepEqual(began.slice(2), ['b2'])
  turns.give('b')
  await settled()
  assert.deepEqual(began.slice(3), ['c1'])
  turns.give('a')
  turns.give('c')
  await settled()
  assert.deepEqual(began.slice(4), ['a2'])
  turns.give('a')
  await Promise.all(all)
  turns.give('a')
  assert.deepEqual([began.slice(5), turns.underWay], [['a3'], 0])
})

test('the line of one address is bounded', async () => {
  const turns = new AttemptTurns({ atOnce: 9, atOncePerAddress: 1, waiting: 9, waitingPerAddress: 1 })
  await turns.take('a')
  const second = turns.take('a')
  await assert.rejects(turns.take('a'), { code: 'onboarding.BUSY' })
  await turns.take('b')
  turns.give('a')
  await second
})
