import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ManualClock } from '../actor/testkit.ts'
import { CredentialCache } from './credential-cache.ts'
import { DEFAULT_DEVICE_GATEWAY_SETTINGS } from './device-gateway-options.ts'
import type { DeviceIdentity } from './gateway.ts'

/** The longest token and names that the store holds, of characters that take two bytes. */
const LONGEST = 255
const longest = (text: string): string => text.padEnd(LONGEST, 'ж')
const PROFILE = '55555555-5555-4555-8555-555555555555'

function largestIdentity(token: string): DeviceIdentity {
  return {
    deviceId: `id of ${token}`.slice(0, 36),
    tenantId: '22222222-2222-4222-8222-222222222222',
    customerId: '33333333-3333-4333-8333-333333333333',
    deviceName: longest(token),
    deviceType: longest('type'),
    deviceLabel: longest('label'),
    deviceProfileId: PROFILE,
    ruleChainId: '44444444-4444-4444-8444-444444444444',
    queueName: longest('queue'),
  }
}

function cacheOf(settings: { maxCredentialBytes?: number; maxUnknownCredentialBytes?: number }) {
  const reads: string[] = []
  const directory = {
    findByCredentials(tokens: readonly string[]) {
      reads.push(...tokens)
      const known = tokens.filter((token) => token.startsWith('known'))
      return Promise.resolve(new Map(known.map((token) => [token, largestIdentity(token)])))
    },
  }
  const clock = new ManualClock()
  return { cache: new CredentialCache(directory, clock, { ...DEFAULT_DEVICE_GATEWAY_SETTINGS, ...settings }), reads }
}

describe('issue-8 2.3: credentials are bounded in bytes', () => {
  test('known ones with the longest token and names', async () => {
    const maxCredentialBytes = 1 << 20
    const { cache } = cacheOf({ maxCredentialBytes })
    const tokens = Array.from({ length: 2000 }, (_, index) => longest(`known ${index} `))
    for (const token of tokens) {
      await cache.find(token)
      assert.ok(cache.bytes.known <= maxCredentialBytes)
    }
    // Five texts of two bytes a character: what is held is really large.
    assert.ok(cache.size * 5 * 2 * LONGEST <= maxCredentialBytes)
    assert.ok(cache.bytes.known > 0.9 * maxCredentialBytes)
    const held = tokens.map((token) => cache.lookUp(token) !== undefined)
    assert.equal(held.indexOf(true), tokens.length - cache.size)
    assert.ok(held.slice(tokens.length - cache.size).every(Boolean))
  })

  test('those known to be nobody’s, with the longest token', async () => {
    const maxUnknownCredentialBytes = 64 << 10
    const { cache, reads } = cacheOf({ maxUnknownCredentialBytes })
    const tokens = Array.from({ length: 1000 }, (_, index) => longest(`nobody ${index} `))
    for (const token of tokens) {
      await cache.find(token)
      assert.ok(cache.bytes.unknown <= maxUnknownCredentialBytes)
    }
    assert.ok(cache.bytes.unknown > 0.9 * maxUnknownCredentialBytes)
    await cache.find(tokens.at(-1) ?? '')
    assert.equal(reads.length, tokens.length)
    await cache.find(tokens[0] ?? '')
    assert.equal(reads.length, tokens.length + 1)
  })

  test('a device that is too large for the cache is found, and not held', async () => {
    const { cache, reads } = cacheOf({ maxCredentialBytes: 1000 })
    const token = longest('known')
    for (let count = 0; count < 2; count++) assert.equal((await cache.find(token))?.deviceName, token)
    assert.deepEqual([reads.length, cache.size, cache.bytes.known], [2, 0, 0])
  })

  test('a device that changed and a profile that changed are forgotten, and their bytes with them', async () => {
    const { cache } = cacheOf({})
    const tokens = Array.from({ length: 10 }, (_, index) => longest(`known ${index} `))
    for (const token of tokens) await cache.find(token)
    const before = cache.bytes.known
    cache.deviceChanged(largestIdentity(tokens[3] ?? '').deviceId)
    assert.deepEqual([cache.lookUp(tokens[3] ?? ''), cache.size], [undefined, 9])
    assert.ok(cache.bytes.known < before)
    cache.profileChanged(PROFILE)
    assert.deepEqual([cache.size, cache.bytes.known], [0, 0])
  })

  test('a device that changed is forgotten in every way by which it was known, of which there are few', async () => {
    const device = largestIdentity('one')
    const directory = {
      findByCredentials: (keys: readonly string[]) => Promise.resolve(new Map(keys.map((key) => [key, { ...device }]))),
    }
    const cache = new CredentialCache(directory, new ManualClock(), DEFAULT_DEVICE_GATEWAY_SETTINGS)
    const ways = ['token', 'a', 'b', 'c', 'd']
    for (const way of ways) await cache.find(way)
    assert.deepEqual(
      ways.map((way) => cache.lookUp(way) !== undefined),
      [false, true, true, true, true],
    )
    cache.deviceChanged(device.deviceId)
    assert.equal(cache.size, 0)
  })
})
