import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slidingWindow } from './sliding-window.ts'
import { openedWindows } from './windows.testkit.ts'

const START = 1_700_000_040_000
const CONFIGURATION = {
  windowSec: 20,
  slideSec: 10,
  allowedLatenessSec: 5,
  idleTimeoutSec: 30,
  metrics: [
    { key: 't', function: 'AVG', outputKey: 'mean' },
    { key: 't', function: 'COUNT', outputKey: 'n' },
  ],
}

const opened = () => openedWindows(slidingWindow, CONFIGURATION, START)

test('a point is told in each window that it is in', async () => {
  const { give, told, state } = await opened()
  await give(START + 1000, '{"t":20}')
  await give(START + 12_000, '{"t":30}')
  await give(START + 3000, '{"t":40}')
  await give(START + 36_000, '{"other":1,"t":0}')
  assert.deepEqual(told(), [
    ['Success', 'POST_TELEMETRY_REQUEST', String(START - 10_000), '{"mean":30.0,"n":2}'],
    ['Success', 'POST_TELEMETRY_REQUEST', String(START), '{"mean":30.0,"n":3}'],
    ['Success', 'POST_TELEMETRY_REQUEST', String(START + 10_000), '{"mean":30.0,"n":1}'],
  ])
  assert.equal(state.sent[0]?.message.metadata['windowEnd'], String(START + 10_000))
})

test('a point whose last window is closed goes on as Late', async () => {
  const { give } = await opened()
  await give(START + 24_999, '{"t":31}')
  assert.deepEqual((await give(START + 1, '{"t":1}'))?.emissions, [])
  await give(START + 25_000, '{"t":31}')
  const [emission] = (await give(START + 9999, '{"t":1}'))?.emissions ?? []
  assert.deepEqual(emission?.relations, ['Late'])
  assert.equal(emission.message.metadata['lateWindowEnd'], String(START + 20_000))
})

test('when nothing comes, the clock closes one window after the other', async () => {
  const { give, told, pass, state } = await opened()
  await give(START, '{"t":1}')
  await pass(30_000)
  assert.deepEqual(
    told().map(([, , ts]) => ts),
    [String(START - 10_000), String(START)],
  )
  assert.ok([...state.held.values()].every(({ wakesAt }) => wakesAt === undefined))
})

test('open windows survive a restart, and another slide begins anew', async () => {
  const { give, told, restart } = await opened()
  await give(START, '{"t":1}')
  await restart()
  await give(START + 1, '{"t":3}')
  await give(START + 15_000, '{"t":9}')
  assert.equal(told()[0]?.[3], '{"mean":2.0,"n":2}')
  await restart({ slideSec: 20 })
  await give(START + 60_000, '{"t":5}')
  assert.equal(told().length, 1)
})

test('the form refuses what can not be', () => {
  for (const change of [{ windowSec: 25 }, { windowSec: 610 }, { slideSec: 0 }, { metrics: [] }])
    assert.throws(() => slidingWindow.check({ ...CONFIGURATION, ...change }), /windowSec|slideSec|metrics/)
})
