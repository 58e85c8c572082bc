import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GroupCommit } from './group-commit.ts'

/** A clock that the test moves, with room for one timer. */
class HandClock {
  private time = 0
  private timer: { readonly at: number; readonly run: () => void } | undefined

  monotonic(): number {
    return this.time
  }

  after(delayMs: number, run: () => void) {
    this.timer = { at: this.time + delayMs, run }
    return { cancel: () => (this.timer = undefined) }
  }

  advance(ms: number): void {
    this.time += ms
    const { timer } = this
    if (timer === undefined || timer.at > this.time) return
    this.timer = undefined
    timer.run()
  }
}

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

/** A commit that rests for twice the time of a group of 10 ms or more, at most 100 ms, and the sizes of its groups so far. */
function resting(maxGroup: number) {
  const { groups, write } = heldWrites()
  const clock = new HandClock()
  const rest = { factor: 2, mostMs: 100, leastTookMs: 10, clock }
  const commit = new GroupCommit<number, number>({ name: 'test', write, maxPending: 100, maxGroup, rest })
  const sizes = async (): Promise<readonly number[]> => {
    await turn()
    return groups.map(({ items }) => items.length)
  }
  const end = (tookMs: number): void => {
    clock.advance(tookMs)
    groups.at(-1)?.done(0)
  }
  return { commit, clock, sizes, end }
}

test('a store for which more is waiting rests in proportion to what the group took, and what arrives alone waits for nobody', async () => {
  const { commit, clock, sizes, end } = resting(100)
  const all = [commit.add(1)]
  assert.deepEqual(await sizes(), [1])
  end(10)
  await turn()
  all.push(commit.add(2))
  assert.deepEqual(await sizes(), [1, 1], 'nothing was waiting at the end of the first')
  all.push(commit.add(3))
  end(10)
  await turn()
  clock.advance(19)
  all.push(commit.add(4))
  assert.deepEqual(await sizes(), [1, 1])
  clock.advance(1)
  assert.deepEqual(await sizes(), [1, 1, 2])
  all.push(commit.add(5))
  end(1000)
  await turn()
  clock.advance(99)
  assert.deepEqual(await sizes(), [1, 1, 2])
  clock.advance(1)
  assert.deepEqual(await sizes(), [1, 1, 2, 1])
  all.push(commit.add(6))
  end(9)
  assert.deepEqual(await sizes(), [1, 1, 2, 1, 1], 'the last was quick')
  end(0)
  await Promise.all(all)
})

test('a rest ends once a full group waits, and at the close', async () => {
  const { commit, sizes, end } = resting(3)
  const all = [commit.add(1)]
  await turn()
  all.push(commit.add(2))
  end(10)
  await turn()
  all.push(commit.add(3))
  assert.deepEqual(await sizes(), [1])
  all.push(commit.add(4))
  assert.deepEqual(await sizes(), [1, 3])
  all.push(commit.add(5))
  end(10)
  await turn()
  const closed = commit.close()
  assert.deepEqual(await sizes(), [1, 3, 1])
  end(10)
  await Promise.all([closed, ...all])
})
