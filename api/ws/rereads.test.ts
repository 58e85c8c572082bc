import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { test } from 'node:test'
import { Rereads, type Rereadable } from './rereads.ts'
import { StepClock } from './testkit.ts'

class SlowReads implements Rereadable {
  readonly isClosed = false
  begun = 0
  private readonly ends: (() => void)[] = []

  readAgain(): Promise<void> {
    this.begun++
    const { promise, resolve } = Promise.withResolvers<undefined>()
    this.ends.push(() => resolve(undefined))
    return promise
  }

  async end(): Promise<void> {
    this.ends.shift()?.()
    await setImmediate()
  }
}

test('one slow subscription takes one place however often it asks, and is read once more when its read ends', async () => {
  const rereads = new Rereads(new StepClock(), (error) => assert.fail(String(error)))
  const slow = new SlowReads()
  for (let times = 0; times < 100; times++) rereads.ask(slow)
  assert.equal(slow.begun, 1)
  const other = new SlowReads()
  rereads.ask(other)
  assert.equal(other.begun, 1)
  await slow.end()
  assert.equal(slow.begun, 2)
  await slow.end()
  assert.equal(slow.begun, 2)
})

test('what is forgotten while it is read is not read once more', async () => {
  const rereads = new Rereads(new StepClock(), (error) => assert.fail(String(error)))
  const slow = new SlowReads()
  rereads.ask(slow)
  rereads.ask(slow)
  rereads.forget(slow)
  await slow.end()
  assert.equal(slow.begun, 1)
})
