/** Whether a read may go beside the look at the log: of a table whose state each test sets. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../../../model/system-clock.ts'
import { AppliedWrites } from './applied.ts'
import type { Row } from './server.ts'

/** A table to which writes come, and are applied, between the requests. */
class FakeTable {
  applied = 5
  written = 5
  isAway = false
  /** Called when the log is looked at, before the answer is made. */
  onLook: () => void = () => undefined
  readonly asked: string[] = []

  query(): Promise<readonly Row[]> {
    this.asked.push('log')
    this.onLook()
    if (this.isAway) return Promise.reject(new Error('away'))
    return Promise.resolve([[this.applied, this.written, false, null]])
  }

  /** The last transaction that a query sees. */
  readonly read = (): Promise<number> => {
    this.asked.push('rows')
    return Promise.resolve(this.applied)
  }
}

/** With a log that stood still at the last two looks. */
async function still(context: TestContext): Promise<{ readonly table: FakeTable; readonly writes: AppliedWrites }> {
  const table = new FakeTable()
  const writes = new AppliedWrites({ server: table, table: 't', clock: systemClock, timeoutMs: 5_000, watchMs: 1e8 })
  context.after(() => writes.close())
  await writes.wait()
  await writes.wait()
  table.asked.length = 0
  return { table, writes }
}

test('while the log stands still, rows are asked for before it is looked at', async (context) => {
  const { table, writes } = await still(context)
  assert.equal(await writes.read(table.read), 5)
  assert.deepEqual(table.asked, ['rows', 'log'])
})

test('rows that were asked for before a write was applied are asked for again', async (context) => {
  for (const applyAt of ['the first look', 'a later look']) {
    const { table, writes } = await still(context)
    table.written = 6
    let looks = 0
    table.onLook = () => {
      if (++looks > 1 || applyAt === 'the first look') table.applied = 6
    }
    assert.equal(await writes.read(table.read), 6, applyAt)
  }
})

test('while others write the log is looked at first', async (context) => {
  const { table, writes } = await still(context)
  table.applied = table.written = 6
  await writes.wait()
  table.asked.length = 0
  assert.equal(await writes.read(table.read), 6)
  assert.deepEqual(table.asked, ['log', 'rows'])
})

test('what a server had before it was away counts no more', async (context) => {
  const { table, writes } = await still(context)
  table.isAway = true
  await assert.rejects(writes.read(table.read), /away/)
  table.isAway = false
  table.asked.length = 0
  await writes.read(table.read)
  assert.deepEqual(table.asked, ['log', 'rows'])
})

test('a read that fails beside the look fails as one after it', async (context) => {
  const { table, writes } = await still(context)
  await assert.rejects(
    writes.read(() => Promise.reject(new Error('refused'))),
    /refused/,
  )
  assert.equal(await writes.read(table.read), 5)
})
