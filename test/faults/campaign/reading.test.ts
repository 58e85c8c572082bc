/** Reading back beside what still comes in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Journal } from './journal.ts'
import { readBack, type Reader } from './reading.ts'
import { judge, type ReadPoint, type ReadSeries } from './verdict.ts'

/** One acknowledged value, and one without an answer. */
function journalOfTwo(): Journal {
  const device = { name: 'device', token: 'T', deviceId: 'id', protocol: 'HTTP', isBare: true } as const
  const journal = new Journal({ ...device, explicitTimes: false })
  journal.acknowledge(journal.take())
  journal.take()
  return journal
}

function seriesOf(...values: readonly number[]): ReadSeries {
  const n: ReadPoint[] = values.map((value) => ({ ts: value, value }))
  return { n, text: [], latest: n.at(-1) }
}

/** Answers with one after the other, the last again and again. */
function readerOf(...answers: readonly ReadSeries[]): Reader {
  const left = [...answers]
  return {
    newest: async () => 1,
    series: async () => {
      const series = left.length > 1 ? left.shift() : left[0]
      assert.ok(series !== undefined)
      return series
    },
  }
}

const GROWN = { ...seriesOf(1), latest: { ts: 2, value: 2 } }

test('a history that grew before the latest value was read is read again', async () => {
  const read = await readBack(readerOf(GROWN, seriesOf(1, 2)), [journalOfTwo()], 5_000)
  assert.deepEqual(judge(read).findings, [])
})

test('a latest value that the history never has is a finding', async () => {
  const read = await readBack(readerOf(GROWN), [journalOfTwo()], 500)
  assert.equal(judge(read).outOfOrder, 1)
})
