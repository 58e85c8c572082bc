import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../actor/testkit.ts'
import { ActiveDevices } from './active-devices.ts'

test('issue-8: devices that the store has as active are handed out a few at a time, in their order, each once a search', async () => {
  const clock = new ManualClock()
  const stored = Array.from({ length: 1200 }, (_, index) => String(index).padStart(5, '0'))
  const found: string[] = []
  const atMs = new Map<number, number>()
  const active = new ActiveDevices(
    { findActive: (after, limit) => Promise.resolve(stored.filter((id) => id > after).slice(0, limit)) },
    clock,
    (deviceId) => {
      found.push(deviceId)
      const now = clock.monotonic()
      atMs.set(now, (atMs.get(now) ?? 0) + 1)
    },
  )
  active.find()
  await clock.advance(100)
  // A search under way begins anew when it is done.
  active.find()
  await clock.advance(2000)
  assert.deepEqual(found, [...stored, ...stored])
  assert.ok(Math.max(...atMs.values()) <= 100, `${Math.max(...atMs.values())} in one moment`)
  active.find()
  await clock.advance(30)
  active.close()
  const before = found.length
  await clock.advance(1000)
  assert.equal(found.length, before)
})
