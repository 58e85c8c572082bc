import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StandingClock } from '../testkit.ts'
import { AddressBlocks } from './address-blocks.ts'
import { openMqttBench } from './testkit.ts'

test('so many failures in a row block an address, for so long after the last', () => {
  let now = 0
  const blocks = new AddressBlocks({ monotonic: () => now }, { failures: 3, blockMs: 60_000 })
  for (const isBlocked of [false, false, true]) {
    blocks.failed('a')
    assert.equal(blocks.isBlocked('a'), isBlocked)
    now += 1000
  }
  assert.equal(blocks.isBlocked('b'), false)
  now += 58_000
  assert.equal(blocks.isBlocked('a'), true)
  now += 1000
  assert.equal(blocks.isBlocked('a'), false)
  blocks.failed('a')
  blocks.failed('a')
  blocks.succeeded('a')
  blocks.failed('a')
  assert.equal(blocks.isBlocked('a'), false, 'a good one begins anew')
})

test('of very many addresses the one that failed longest ago is forgotten', () => {
  const blocks = new AddressBlocks(new StandingClock(), { failures: 1, blockMs: 60_000 })
  blocks.failed('first')
  for (let number = 0; number < 10_000; number++) blocks.failed(`another ${number}`)
  assert.deepEqual([blocks.isBlocked('first'), blocks.isBlocked('another 0')], [false, true])
})

test('a blocked address is closed before its CONNECT, and none where nothing is said of it', async () => {
  for (const loginFailures of [undefined, { failures: 2, blockMs: 60_000 }]) {
    const bench = await openMqttBench({ loginFailures })
    try {
      for (let number = 0; number < 2; number++) {
        const stranger = await bench.client()
        stranger.send(stranger.connectPacket('nobody'))
        await stranger.end()
        assert.equal(stranger.packets[0]?.cmd, 'connack')
      }
      const device = await bench.client()
      device.send(device.connectPacket('one'))
      if (loginFailures === undefined) await device.received(1)
      else await device.end()
      assert.equal(device.packets.length, loginFailures === undefined ? 1 : 0)
      assert.equal(bench.transport.figures().addressBlocked, loginFailures === undefined ? 0 : 1)
      bench.clock.advance(60_000)
      const later = await bench.client()
      await later.login('two')
    } finally {
      await bench.close()
    }
  }
})
