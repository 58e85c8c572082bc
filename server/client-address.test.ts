import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clientOf, proxyList } from './client-address.ts'

describe('the address of a client', () => {
  const proxies = proxyList(['10.0.0.0/8', '192.0.2.7', 'fd00::/8'])
  const CASES: readonly (readonly [remote: string, forwarded: string, client: string])[] = [
    ['203.0.113.9', '', '203.0.113.9'],
    // Nobody believes a stranger.
    ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['192.0.2.7', '198.51.100.1', '198.51.100.1'],
    // What the client wrote before the first proxy counts for nothing.
    ['10.1.1.1', '1.1.1.1, 198.51.100.1, 10.2.2.2', '198.51.100.1'],
    ['10.1.1.1', '', '10.1.1.1'],
    ['10.1.1.1', 'rubbish', '10.1.1.1'],
    ['10.1.1.1', '198.51.100.1:4711', '198.51.100.1'],
    ['fd00::1', '[2001:DB8::5]:80', '2001:db8::5'],
    ['0000:0000:0000:0000:0000:ffff:0a01:0101', '::ffff:198.51.100.1', '198.51.100.1'],
  ]
  for (const [remote, forwarded, client] of CASES) {
    it(`is ${client} for ${remote} that says '${forwarded}'`, () =>
      assert.equal(clientOf(remote, forwarded, proxies).address, client))
  }

  it('is local where the machine itself asks, not where something on it forwards', () => {
    const own = proxyList(['127.0.0.1'])
    assert.equal(clientOf('127.0.0.1', '', proxies).isLocal, true)
    assert.equal(clientOf('::1', '', proxies).isLocal, true)
    assert.equal(clientOf('127.0.0.1', '198.51.100.1', proxies).isLocal, false)
    assert.equal(clientOf('127.0.0.1', '127.0.0.1', proxies).isLocal, false)
    assert.equal(clientOf('127.0.0.1', '198.51.100.1', own).isLocal, false)
    assert.equal(clientOf('203.0.113.9', '', proxies).isLocal, false)
  })
})
