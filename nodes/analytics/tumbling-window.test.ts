import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tumblingWindow } from './tumbling-window.ts'
import { openedWindows } from './windows.testkit.ts'

const START = 1_700_000_040_000
const CONFIGURATION = {
  windowSec: 10,
  allowedLatenessSec: 5,
  idleTimeoutSec: 30,
  metrics: [
    { key: 't', function: 'AVG', outputKey: 'mean' },
    { key: 't', function: 'COUNT', outputKey: 'n' },
    { key: 'h', function: 'MAX', outputKey: 'highest' },
  ],
}

const opened = () => openedWindows(tumblingWindow, CONFIGURATION, START)

test('a window closes when a point comes that is behind its end by the allowed lateness', async () => {
  const { give, told, state } = await opened()
  assert.deepEqual(await give(START + 1000, '{"t":20}'), { emissions: [] })
  await give(START + 14_999, '{"t":30}')
  await give(START + 2000, '{"t":25,"other":1}')
  assert.deepEqual(told(), [])
  await give(START + 15_000, '{"t":31}')
  assert.deepEqual(told(), [['Success', 'POST_TELEMETRY_REQUEST', String(START), '{"mean":22.5,"n":2}']])
  assert.equal(state.sent[0]?.message.metadata['windowEnd'], String(START + 10_000))
})

test('a message for a closed window goes on as Late and changes no result', async () => {
  const { give, told } = await opened()
  await give(START + 15_000, '{"t":31}')
  const late = await give(START + 9999, '{"t":1000}')
  const [emission] = late?.emissions ?? []
  assert.deepEqual(emission?.relations, ['Late'])
  assert.equal(emission.message.metadata['lateWindowEnd'], String(START + 10_000))
  assert.equal(emission.message.data, '{"t":1000}')
  await give(START + 25_000, '{"t":0}')
  assert.deepEqual(
    told().map(([, , , data]) => data),
    ['{"mean":31.0,"n":1}'],
  )
})

test('points of a stored day in one message are not late for each other, backfill counts as any other', async () => {
  const { give, told } = await opened()
  const points = [30, 0, 10].map((seconds) => ({ ts: START + seconds * 1000, values: { h: seconds } }))
  await give(START + 30_000, JSON.stringify(points), { backfill: 'true' })
  assert.deepEqual(
    told().map(([, , ts, data]) => [ts, data]),
    [
      [String(START), '{"highest":0.0}'],
      [String(START + 10_000), '{"highest":10.0}'],
    ],
  )
})

test('when nothing comes, the clock closes what is over', async () => {
  const { give, told, pass, state } = await opened()
  await give(START, '{"t":1}')
  await pass(29_999)
  assert.deepEqual(told(), [])
  await pass(1)
  assert.deepEqual(told(), [['Success', 'POST_TELEMETRY_REQUEST', String(START), '{"mean":1.0,"n":1}']])
  assert.ok([...state.held.values()].every(({ wakesAt }) => wakesAt === undefined))
  assert.equal((await give(START + 1, '{"t":2}'))?.emissions[0]?.relations[0], 'Late')
})

test('open windows survive a restart, and other metrics begin anew', async () => {
  const { give, told, restart } = await opened()
  await give(START, '{"t":1}')
  await restart()
  await give(START + 1, '{"t":3}')
  await give(START + 15_000, '{"t":9}')
  assert.equal(told()[0]?.[3], '{"mean":2.0,"n":2}')
  await restart({ metrics: [{ key: 't', function: 'SUM', outputKey: 'sum' }] })
  await give(START + 15_001, '{"t":5}')
  await give(START + 30_000, '{"t":0}')
  assert.equal(told()[1]?.[3], '{"sum":5.0}')
})

test('a value that is no number fails its message and is counted nowhere', async () => {
  const { give, told } = await opened()
  await give(START, '{"t":1}')
  const failed = await give(START + 1, '{"t":true}')
  assert.equal(failed?.error?.message, "The value of 'mean' is not a number")
  await give(START + 15_000, '{"t":9}')
  assert.equal(told()[0]?.[3], '{"mean":1.0,"n":1}')
})

test('the form refuses what can not be', () => {
  for (const change of [{ windowSec: 0 }, { metrics: [] }, { allowedLatenessSec: -1 }])
    assert.throws(() => tumblingWindow.check({ ...CONFIGURATION, ...change }), /windowSec|metrics|allowedLateness/)
})
