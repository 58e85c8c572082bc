import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeptLetters } from '../engine/parking/testkit.ts'
import { MemoryTimeSeries, openTestPlatform, TestLink } from '../services/testkit.ts'
import { TestDeadLetters } from '../services/failed-messages.testkit.ts'
import { healthChecksOf } from './health-checks.ts'

test('a link that lost its servers is not healthy, though it still has room for messages', async (context) => {
  const platform = await openTestPlatform()
  context.after(() => platform.close())
  const link = Object.assign(new TestLink(), {
    deadLetters: new TestDeadLetters(),
    letters: new KeptLetters(),
    connected: true,
    watch: () => undefined,
    settledBelow: () => 0,
  })
  const checks = healthChecksOf({
    entities: platform.entities,
    timeSeries: new MemoryTimeSeries(),
    link,
    folder: '',
    parkedFolder: '',
    logBeside: async () => ({ isGone: true }),
    backupSources: undefined,
    troubles: {},
  })
  const outcomes = async () =>
    (await Promise.allSettled(checks.map((each) => each.check()))).map(({ status }) => status)
  assert.deepEqual(
    checks.map(({ name }) => name),
    ['entities', 'timeSeries', 'link'],
  )
  assert.deepEqual(await outcomes(), ['fulfilled', 'fulfilled', 'fulfilled'])
  link.connected = false
  assert.deepEqual(await outcomes(), ['fulfilled', 'fulfilled', 'rejected'])
  link.connected = true
  link.writable = false
  assert.deepEqual(await outcomes(), ['fulfilled', 'fulfilled', 'rejected'])
})
