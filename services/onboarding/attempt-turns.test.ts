import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '../testkit.ts'
import { AttemptTurns } from './attempt-turns.ts'

test('lines of addresses take turns, and one address has no more than its own', async () => {
  const turns = new AttemptTurns(
    { atOnce: 2, atOncePerAddress: 1, waiting: 4, waitingPerAddress: 3, waitMs: 1 },
    new TestClock(),
  )
  const began: string[] = []
  const come = (name: string) => turns.take(name[0] ?? '').then(() => void began.push(name))
  const settled = () => new Promise(setImmediate)
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(come)
  await assert.rejects(come('b3'), { code: 'onboarding.BUSY' })
  await settled()
  assert.deepEqual([began, turns.underWay, turns.waiting], [['a1', 'b1'], 2, 4])
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
  const turns = new AttemptTurns(
    { atOnce: 9, atOncePerAddress: 1, waiting: 9, waitingPerAddress: 1, waitMs: 1 },
    new TestClock(),
  )
  await turns.take('a')
  const second = turns.take('a')
  await assert.rejects(turns.take('a'), { code: 'onboarding.BUSY' })
  await turns.take('b')
  turns.give('a')
  await second
})

test('who waits too long is told to come again, and leaves its place to others', async () => {
  const clock = new TestClock()
  const turns = new AttemptTurns({ atOnce: 9, atOncePerAddress: 1, waiting: 2, waitingPerAddress: 2, waitMs: 1 }, clock)
  await turns.take('a')
  const late = [turns.take('a'), turns.take('a')]
  clock.runTimers()
  for (const each of late) await assert.rejects(each, { code: 'onboarding.BUSY' })
  const [second, third] = [turns.take('a'), turns.take('a')]
  turns.give('a')
  await second
  // The time of the second is over, and it has its turn.
  clock.runTimers()
  await assert.rejects(third, { code: 'onboarding.BUSY' })
  turns.give('a')
  assert.equal(turns.underWay, 0)
  await turns.take('a')
})
