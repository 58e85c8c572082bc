import assert from 'node:assert/strict'
import { test } from 'node:test'
import { polling, pollingIn } from './polling.js'

function surroundings() {
  let due: (() => void) | undefined
  let mayRead = true
  const ends: (() => void)[] = []
  return {
    around: {
      later: (act: () => void, afterMs: number) => {
        assert.equal(due, undefined, 'two at once')
        assert.equal(afterMs, 3_000)
        due = act
      },
      mayRead: () => mayRead,
      atEnd: (act: () => void) => ends.push(act),
    },
    allow: (is: boolean) => (mayRead = is),
    isDue: () => due !== undefined,
    tick: async () => {
      const act = due
      due = undefined
      act?.()
      await Promise.resolve()
    },
    end: () => ends.forEach((act) => act()),
  }
}

const turns = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

test('the next reading waits until the one before has ended, also one that fails', async () => {
  const { around, isDue, tick } = surroundings()
  const open: { resolve: () => void; reject: (error: Error) => void }[] = []
  polling(3_000, () => new Promise<void>((resolve, reject) => open.push({ resolve, reject })), around)
  await tick()
  await turns()
  assert.deepEqual([open.length, isDue()], [1, false])
  open[0]?.reject(new Error('slow'))
  await turns()
  assert.equal(isDue(), true)
  await tick()
  assert.equal(open.length, 2)
  open[1]?.resolve()
  await turns()
  assert.equal(isDue(), true)
})

test('a page that nobody sees or uses is not read for, and goes on when somebody does', async () => {
  const { around, allow, isDue, tick, end } = surroundings()
  let reads = 0
  polling(3_000, async () => void reads++, around)
  allow(false)
  await tick()
  await turns()
  assert.deepEqual([reads, isDue()], [0, true])
  allow(true)
  await tick()
  await turns()
  assert.equal(reads, 1)
  end()
  await tick()
  await turns()
  assert.deepEqual([reads, isDue()], [1, false])
})

test('a part of a page is read while it is shown, and no more once it was taken out', async () => {
  const { around, isDue, tick } = surroundings()
  const part = { isConnected: true, isShown: true, checkVisibility: () => part.isShown }
  let reads = 0
  pollingIn(part, 3_000, async () => void reads++, around)
  const turn = async () => {
    await tick()
    await turns()
  }
  await turn()
  assert.equal(reads, 1)
  part.isShown = false
  await turn()
  assert.equal(reads, 1)
  part.isShown = true
  await turn()
  assert.equal(reads, 2)
  part.isConnected = false
  await turn()
  assert.deepEqual([reads, isDue()], [2, false])
})
