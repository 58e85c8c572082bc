import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createActorSystem } from '../actor/system.ts'
import { ManualClock } from '../actor/testkit.ts'
import type { PublishReceipt } from '../link/link.ts'
import { DeviceRecord, MAX_AHEAD_MS } from './device-record.ts'
import { PacedUploads } from './paced-uploads.ts'

const identity = {
  deviceId: 'd',
  tenantId: 't',
  customerId: null,
  deviceName: 'device',
  deviceType: 'default',
  deviceProfileId: 'p',
  ruleChainId: null,
}
const silent: PublishReceipt = { stored: () => undefined, refused: () => undefined }

function open(notBefore = 0) {
  const clock = new ManualClock()
  const actors = createActorSystem({ clock, onError: ({ error }) => assert.fail(String(error)) })
  const actor = actors.spawn<never>({ name: 'device', create: () => ({ receive: () => undefined }) }, 'd')
  const record = new DeviceRecord(identity, actor, notBefore)
  return { clock, record, paced: new PacedUploads(record, clock) }
}

test('times are strictly increasing and never further ahead of the clock than they may be', async () => {
  const { clock, record, paced } = open()
  const given: { readonly ts: number; readonly at: number }[] = []
  const give = (): void => void given.push({ ts: record.serverTime(clock.now()), at: clock.now() })
  while (record.hasTime(clock.now())) give()
  assert.equal(given.length, MAX_AHEAD_MS + 1)
  for (let upload = 0; upload < 50; upload++) paced.add(give, silent)
  assert.equal(given.length, MAX_AHEAD_MS + 1, 'what comes faster waits')
  await clock.advance(200)
  assert.equal(given.length, MAX_AHEAD_MS + 51)
  assert.ok(paced.isEmpty)
  for (const [index, { ts, at }] of given.entries()) {
    assert.ok(ts - at <= MAX_AHEAD_MS, `${ts} was given at ${at}`)
    assert.ok(index === 0 || ts > (given[index - 1]?.ts ?? 0))
  }
})

test('the first time lies behind all that the run before may have given', () => {
  const { clock, record } = open(clock0() + MAX_AHEAD_MS)
  assert.ok(record.serverTime(clock.now()) > clock.now() + MAX_AHEAD_MS)
})

test('after the clock was set back uploads do not wait for it', () => {
  const { clock, record } = open(clock0() + 3_600_000)
  assert.ok(record.hasTime(clock.now()))
  assert.equal(record.serverTime(clock.now()), clock0() + 3_600_001)
})

test('over its bound it refuses, and at the end it refuses what waits', () => {
  const { record, paced } = open(clock0() + MAX_AHEAD_MS)
  const refused: string[] = []
  const receipt: PublishReceipt = {
    stored: () => assert.fail('nothing is stored'),
    refused: (error) => refused.push(error.code),
  }
  assert.equal(record.hasTime(clock0()), false)
  for (let upload = 0; upload < 10_001; upload++) paced.add(() => undefined, receipt)
  assert.deepEqual(refused, ['device.TOO_FAST'])
  paced.close()
  assert.equal(refused.length, 10_001)
  assert.equal(refused.at(-1), 'device.CLOSED')
})

function clock0(): number {
  return new ManualClock().now()
}
