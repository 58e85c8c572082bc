import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../engine/actor/testkit.ts'
import { FileErasure } from './file-erasure.ts'

test('who asks while an erasure is under way gets the answer of one that began after', async () => {
  const steps: string[] = []
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  const erased = { isGone: true }
  let runs = 0
  const erasure = new FileErasure({
    cleanup: {
      finish: async () => {
        steps.push(`run ${++runs}`)
        if (runs === 1) await held
        return 0
      },
    },
    entities: { eraseDeleted: async () => erased },
    timeSeries: { eraseDeleted: async () => erased },
    deadLetters: { eraseRemoved: async () => erased },
    parked: { eraseRemoved: async () => erased },
    clock: new ManualClock(),
    logKeptMs: 0,
    logBeside: async () => erased,
  })
  const first = erasure.run()
  while (steps.length === 0) await Promise.resolve()
  steps.push('a tenant is deleted')
  const second = erasure.run()
  const third = erasure.run()
  release()
  await Promise.all([first, second, third])
  assert.deepEqual(steps, ['run 1', 'a tenant is deleted', 'run 2'])
  await erasure.run()
  assert.equal(runs, 3)
})

test('one that fails does not keep the next from beginning', async () => {
  let runs = 0
  const fails = async () => {
    runs++
    throw new Error('the disk is away')
  }
  const erasure = new FileErasure({
    cleanup: { finish: fails },
    entities: { eraseDeleted: fails },
    timeSeries: { eraseDeleted: fails },
    deadLetters: { eraseRemoved: fails },
    parked: { eraseRemoved: fails },
    clock: new ManualClock(),
    logKeptMs: 0,
    logBeside: fails,
  })
  await assert.rejects(erasure.run(), /away/)
  await assert.rejects(erasure.run(), /away/)
  assert.equal(runs, 2)
})
