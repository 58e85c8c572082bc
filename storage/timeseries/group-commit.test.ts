import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GroupCommit } from './group-commit.ts'

/** A write whose end the test decides. */
function heldWrites() {
  const groups: { items: readonly number[]; done: (result: number) => void; fail: (error: Error) => void }[] = []
  const write = (items: readonly number[]) =>
    new Promise<number>((done, fail) => {
      groups.push({ items, done, fail })
    })
  return { groups, write }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('what arrives while a write is in flight is the next group, in order', async () => {
  const { groups, write } = heldWrites()
  const commit = new GroupCommit<number, number>({ name: 'test', write, maxPending: 100, maxGroup: 100 })
  const first = commit.add(1)
  await turn()
  const rest = [commit.add(2), commit.add(3)]
  await turn()
  assert.deepEqual(
    groups.map((group) => group.items),
    [[1]],
  )
  groups[0]?.done(10)
  assert.equal(await first, 10)
  await turn()
  assert.deepEqual(groups[1]?.items, [2, 3])
  groups[1].done(11)
  assert.deepEqual(await Promise.all(rest), [11, 11])
})

test('a failed group rejects its own items only, and the next group is written', async () => {
  const { groups, write } = heldWrites()
  const commit = new GroupCommit<number, number>({ name: 'test', write, maxPending: 100, maxGroup: 100 })
  const first = assert.rejects(commit.add(1), /disk/)
  await turn()
  const second = commit.add(2)
  groups[0]?.fail(new Error('disk'))
  await first
  await turn()
  groups[1]?.done(7)
  assert.equal(await second, 7)
})

test('refuses more than its bound, retryable, and takes again once there is room', async () => {
  const { groups, write } = heldWrites()
  const commit = new GroupCommit<number, number>({ name: 'test', write, maxPending: 10, maxGroup: 100 })
  const first = commit.add(1)
  await turn()
  const second = commit.add(2, 10)
  await assert.rejects(commit.add(3), { code: 'group-commit.FULL', kind: 'retryable' })
  groups[0]?.done(0)
  await first
  await turn()
  const third = commit.add(3)
  groups[1]?.done(0)
  await second
  await turn()
  groups[2]?.done(0)
  await third
})

test('splits what waits at the largest group, never an item', async () => {
  const { groups, write } = heldWrites()
  const commit = new GroupCommit<number, number>({ name: 'test', write, maxPending: 100, maxGroup: 5 })
  const all = [commit.add(1, 3), commit.add(2, 2), commit.add(3, 9)]
  await turn()
  groups[0]?.done(0)
  await turn()
  groups[1]?.done(0)
  await Promise.all(all)
  assert.deepEqual(
    groups.map((group) => group.items),
    [[1, 2], [3]],
  )
})

test('close waits for what was accepted and refuses the rest', async () => {
  const { groups, write } = heldWrites()
  const commit = new GroupCommit<number, number>({ name: 'test', write, maxPending: 10, maxGroup: 10 })
  const accepted = commit.add(1)
  let closed = false
  const closing = commit.close().then(() => {
    closed = true
  })
  await turn()
  assert.equal(closed, false)
  await assert.rejects(commit.add(2), { code: 'group-commit.CLOSED' })
  groups[0]?.done(5)
  assert.equal(await accepted, 5)
  await closing
  await commit.close()
})
