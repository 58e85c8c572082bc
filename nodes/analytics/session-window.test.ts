import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sessionWindow } from './session-window.ts'
import { openedWindows } from './windows.testkit.ts'

const START = 1_700_000_040_000
const CONFIGURATION = {
  gapSec: 10,
  longestSec: 60,
  allowedLatenessSec: 5,
  idleTimeoutSec: 30,
  metrics: [
    { key: 't', function: 'AVG', outputKey: 'mean' },
    { key: 't', function: 'COUNT', outputKey: 'n' },
  ],
}

const opened = () => openedWindows(sessionWindow, CONFIGURATION, START)

test('a session is told from its first point on, when none can lengthen it', async () => {
  const { give, told, state } = await opened()
  await give(START + 9000, '{"t":20}')
  await give(START, '{"t":30}')
  await give(START + 15_000, '{"t":40}')
  await give(START + 29_999, '{"t":0}')
  assert.deepEqual(told(), [])
  await give(START + 30_000, '{"t":0}')
  assert.deepEqual(told(), [['Success', 'POST_TELEMETRY_REQUEST', String(START), '{"mean":30.0,"n":3}']])
  assert.equal(state.sent[0]?.message.metadata['windowEnd'], String(START + 25_000))
})

test('a point that comes between two sessions makes one of them', async () => {
  const { give, told, pass } = await opened()
  await give(START, '{"t":10}')
  await give(START + 12_000, '{"t":20}')
  await give(START + 6000, '{"t":30}')
  await pass(30_000)
  assert.deepEqual(
    told().map(([, , , data]) => data),
    ['{"mean":20.0,"n":3}'],
  )
})

test('a point whose session is closed goes on as Late', async () => {
  const { give } = await opened()
  await give(START, '{"t":10}')
  await give(START + 15_000, '{"t":31}')
  const [emission] = (await give(START, '{"t":1}'))?.emissions ?? []
  assert.deepEqual(emission?.relations, ['Late'])
  assert.equal(emission.message.metadata['lateWindowEnd'], String(START + 10_000))
})

test('open sessions survive a restart, and another gap begins anew', async () => {
  const { give, told, restart, pass } = await opened()
  await give(START, '{"t":1}')
  await restart()
  await give(START + 1, '{"t":3}')
  await pass(30_001)
  assert.equal(told()[0]?.[3], '{"mean":2.0,"n":2}')
  await give(START + 40_000, '{"t":5}')
  await restart({ gapSec: 20 })
  await give(START + 41_000, '{"t":7}')
  await pass(60_000)
  assert.equal(told()[1]?.[3], '{"mean":7.0,"n":1}')
})

test('the form refuses what can not be', () => {
  for (const change of [{ gapSec: 0 }, { longestSec: 0 }, { metrics: [] }])
    assert.throws(() => sessionWindow.check({ ...CONFIGURATION, ...change }), /gapSec|longestSec|metrics/)
})
