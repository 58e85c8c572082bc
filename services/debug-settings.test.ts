import assert from 'node:assert/strict'
import { test } from 'node:test'
import { debugSettingsOf } from './debug-settings.ts'

test('debug settings are kept with all their members, whichever were sent', () => {
  const kept = (sent: Readonly<Record<string, boolean | number>>) => debugSettingsOf(sent, 1000, 1)
  const none = { failuresEnabled: false, allEnabled: false, allEnabledUntil: 0 }
  assert.deepEqual(kept({}), none)
  assert.deepEqual(kept({ failuresEnabled: true }), { ...none, failuresEnabled: true })
  assert.deepEqual(kept({ allEnabled: true }), { ...none, allEnabledUntil: 61_000 })
  assert.deepEqual(kept({ allEnabledUntil: 2000 }), { ...none, allEnabledUntil: 2000 })
  assert.deepEqual(kept({ allEnabledUntil: 99_000 }), { ...none, allEnabledUntil: 61_000 })
  assert.equal(debugSettingsOf(null, 1000, 1), null)
})
