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
  const rereads = new Rereads(new StepClock(), (error) => assert.fail(String(error))).of('tenant')
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
  const rereads = new Rereads(new StepClock(), (error) => assert.fail(String(error))).of('tenant')
  const slow = new SlowReads()
  rereads.ask(slow)
  rereads.ask(slow)
  rereads.forget(slow)
  await slow.end()
  assert.equal(slow.begun, 1)
})

test('tenants are served in turn, and one that asks for thousands has half of the places', async () => {
  const rereads = new Rereads(new StepClock(), (error) => assert.fail(String(error)))
  const askMany = (tenantId: string, count: number) => {
    const asked = Array.from({ length: count }, () => new SlowReads())
    for (const each of asked) rereads.of(tenantId).ask(each)
    return asked
  }
  const begun = (reads: readonly SlowReads[]) => reads.filter((each) => each.begun > 0).length
  const loud = askMany('loud', 1000)
  assert.equal(begun(loud), 16)
  const quiet = askMany('quiet', 1)
  assert.equal(begun(quiet), 1)
  const second = askMany('second', 1000)
  assert.equal(begun(second), 15)
  // All places are taken: who comes now waits until each other tenant had a turn, not for all that they asked.
  const late = askMany('late', 1)
  assert.equal(begun(late), 0)
  await loud[0]?.end()
  await second[0]?.end()
  assert.equal(begun(late), 0)
  await loud[1]?.end()
  assert.equal(begun(late), 1)
  while (begun(loud) < 1000 || begun(second) < 1000) for (const each of [...loud, ...second]) await each.end()
})
