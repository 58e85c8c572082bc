import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ISubscribePacket, Packet } from 'mqtt-packet'
import type { SharedAttributesUpdate } from '../../engine/device/gateway.ts'
import { openMqttBench, type MqttBench } from './testkit.ts'
import { FILTERS, PROVISION_FILTER } from './topics.ts'

async function bench(run: (bench: MqttBench) => Promise<void>, limits = {}): Promise<void> {
  const opened = await openMqttBench(limits)
  try {
    await run(opened)
    assert.deepEqual(opened.logged, [])
  } finally {
    await opened.close()
  }
}

function subscribe(messageId: number, ...filters: readonly string[]): ISubscribePacket {
  return { cmd: 'subscribe', messageId, subscriptions: filters.map((topic) => ({ topic, qos: 2 })) }
}

function seen(packet: Packet | undefined): unknown {
  if (packet?.cmd !== 'publish') return packet?.cmd
  return [packet.topic, packet.qos, packet.payload.toString()]
}

const UPDATE: SharedAttributesUpdate = { kind: 'updated', entries: [{ key: 'target', type: 'DOUBLE', value: 21 }] }

/** The last one is only for who has no credentials. */
const DEVICE_FILTERS = FILTERS.slice(0, PROVISION_FILTER)

describe('MQTT subscribe', () => {
  it('grants QoS 1 at most to the filters of the table and refuses every other', () =>
    bench(async ({ client }) => {
      const foreign = [
        '#',
        '+',
        'v1/devices/me/#',
        'v1/devices/me/attributes/response/5',
        'some/other/topic',
        '$SYS/#',
        '',
      ]
      for (const [version, refusal] of [
        [4, 0x80],
        [5, 0x8f],
      ] as const) {
        const device = await client(version)
        await device.login(version === 4 ? 'one' : 'two')
        device.send(subscribe(1, ...DEVICE_FILTERS), subscribe(2, ...foreign))
        const [good, bad] = await device.received(2)
        assert.deepEqual(good?.cmd === 'suback' && good.granted, Array(DEVICE_FILTERS.length).fill(1))
        assert.deepEqual(bad?.cmd === 'suback' && bad.granted, Array(foreign.length).fill(refusal))
      }
    }))

  it('subscribes the device once and unsubscribes with its last filter', () =>
    bench(async ({ gateway, client }) => {
      const device = await client(5)
      await device.login('one')
      device.send(subscribe(1, 'v1/devices/me/attributes', 'v2/a'))
      await device.received(1)
      const [session] = gateway.sessions
      assert.equal(session?.subscribed, true)
      device.send({ cmd: 'unsubscribe', messageId: 2, unsubscriptions: ['v2/a', 'v2/a', 'x'] })
      const unsuback = (await device.received(2))[1]
      assert.deepEqual(unsuback?.cmd === 'unsuback' && unsuback.granted, [0, 0x11, 0x11])
      assert.equal(session.subscribed, true)
      device.send({ cmd: 'unsubscribe', messageId: 3, unsubscriptions: ['v1/devices/me/attributes'] })
      await device.received(3)
      assert.equal(session.subscribed, false)
    }))
})

describe('MQTT downlink', () => {
  it('issue-8 2.13: pushes on the filter that is left when one of two overlapping ones is unsubscribed, with its QoS', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      await device.login('one')
      const subscriptions = [
        { topic: 'v1/devices/me/attributes', qos: 0 as const },
        { topic: 'v2/a/j', qos: 1 as const },
        { topic: 'v2/a', qos: 1 as const },
      ]
      device.send({ cmd: 'subscribe', messageId: 1, subscriptions })
      await device.received(1)
      const [session] = gateway.sessions
      for (const [messageId, filter] of [
        [2, 'v2/a'],
        [3, 'v2/a/j'],
      ] as const) {
        device.send({ cmd: 'unsubscribe', messageId, unsubscriptions: [filter] })
        await device.received(messageId === 2 ? 2 : 4)
        session?.listener.sharedAttributesChanged(UPDATE)
        await device.received(messageId === 2 ? 3 : 5)
      }
      assert.deepEqual(device.packets.filter((packet) => packet.cmd === 'publish').map(seen), [
        ['v2/a/j', 1, '{"target":21.0}'],
        ['v1/devices/me/attributes', 0, '{"target":21.0}'],
      ])
    }))

  it('issue-8 2.13: gives no packet id to a push that an unacknowledged one still has', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      await device.login('one')
      device.send(subscribe(1, 'v2/a'))
      await device.received(1)
      device.packets.length = 0
      const [session] = gateway.sessions
      // The first stays open; the others are acknowledged until the ids have gone round.
      const turns = 65_536
      for (let sent = 0; sent < turns;) {
        const burst = Math.min(500, turns - sent)
        for (let count = 0; count < burst; count++) session?.listener.sharedAttributesChanged(UPDATE)
        const packets = (await device.received(burst)).slice()
        device.packets.length = 0
        const ids = packets.flatMap((packet) => (packet.cmd === 'publish' ? [packet.messageId ?? 0] : []))
        if (sent > 0) assert.ok(!ids.includes(1), 'the id of the open push was given again')
        device.send(...ids.filter((id) => id !== 1).map((messageId) => ({ cmd: 'puback' as const, messageId })))
        // Answered behind the PUBACKs.
        device.send({ cmd: 'pingreq' })
        await device.received(1)
        device.packets.length = 0
        sent += burst
      }
    }))

  it('issue-8 2.13: a PUBACK for an id that no push has makes no room', () =>
    bench(async ({ gateway, client }) => {
      const device = await client(5)
      await device.login('one', { properties: { receiveMaximum: 1 } })
      device.send(subscribe(1, 'v2/a'))
      await device.received(1)
      const [session] = gateway.sessions
      session?.listener.sharedAttributesChanged(UPDATE)
      session?.listener.sharedAttributesChanged(UPDATE)
      device.send({ cmd: 'puback', messageId: 7, reasonCode: 0 }, { cmd: 'pingreq' })
      assert.deepEqual(
        (await device.received(3)).map(({ cmd }) => cmd),
        ['suback', 'publish', 'pingresp'],
      )
    }))

  it('ends a client that acknowledges no push, by number and by bytes', async () => {
    for (const limits of [
      { maxOpenPushes: 2, maxQueuedPushes: 3 },
      { maxOpenPushes: 2, maxPendingBytes: 50 },
    ]) {
      await bench(async ({ gateway, client }) => {
        const device = await client(5)
        await device.login('one')
        device.send(subscribe(1, 'v2/a'))
        await device.received(1)
        const [session] = gateway.sessions
        for (let count = 0; count < 6; count++) session?.listener.sharedAttributesChanged(UPDATE)
        await device.end()
        const pushes = device.packets.filter(({ cmd }) => cmd === 'publish').length
        const last = device.packets.at(-1)
        assert.deepEqual([pushes, last?.cmd === 'disconnect' && last.reasonCode], [2, 0x97])
      }, limits)
    }
  })

  it('pushes updates and deletions on the filter subscribed last, numbers as they were written', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      await device.login('one')
      device.send(subscribe(1, 'v2/a', 'v1/devices/me/attributes'))
      await device.received(1)
      const [session] = gateway.sessions
      session?.listener.sharedAttributesChanged(UPDATE)
      session?.listener.sharedAttributesChanged({ kind: 'deleted', keys: ['a', 'b"'] })
      await device.received(3)
      assert.deepEqual(device.packets.slice(1).map(seen), [
        ['v1/devices/me/attributes', 1, '{"target":21.0}'],
        ['v1/devices/me/attributes', 1, '{"deleted":["a","b\\""]}'],
      ])
    }))

  it('answers an attribute request on the response topic of its family, subscribed or not', () =>
    bench(async ({ gateway, client }) => {
      gateway.answer = {
        client: [{ key: 'cl', type: 'STRING', value: 'v' }],
        shared: [],
      }
      const device = await client()
      await device.login('one')
      device.send(
        device.publish('v1/devices/me/attributes/request/7', '{"clientKeys":"cl,num","sharedKeys":"push"}', 1),
        device.publish('v2/a/req/j/8', '{}', 2),
        device.publish('v2/a/req/9', '{"sharedKeys":"x"}', 3),
      )
      await device.received(6)
      const [session] = gateway.sessions
      assert.deepEqual(session?.requests, [
        { clientKeys: ['cl', 'num'], sharedKeys: ['push'] },
        { clientKeys: 'all', sharedKeys: 'all' },
        { clientKeys: undefined, sharedKeys: ['x'] },
      ])
      assert.deepEqual(device.packets.filter((packet) => packet.cmd === 'publish').map(seen), [
        ['v1/devices/me/attributes/response/7', 1, '{"client":{"cl":"v"}}'],
        ['v2/a/res/j/8', 1, '{"client":{"cl":"v"}}'],
        ['v2/a/res/9', 1, '{"client":{"cl":"v"}}'],
      ])
    }))

  it('does not acknowledge an attribute request that could not be answered', () =>
    bench(async ({ gateway, client }) => {
      gateway.storeFails = true
      const device = await client()
      await device.login('one')
      device.send(device.publish('v1/devices/me/attributes/request/7', '{}', 1))
      await device.end()
      assert.deepEqual(device.packets, [])
    }))

  it('answers getSessionLimits itself', () =>
    bench(async ({ client }) => {
      const device = await client()
      await device.login('one')
      device.send(device.publish('v1/devices/me/rpc/request/3', '{"method":"getSessionLimits","params":{}}', 1))
      await device.received(2)
      const publish = device.packets.find((packet) => packet.cmd === 'publish')
      assert.equal(publish?.cmd === 'publish' && publish.topic, 'v1/devices/me/rpc/response/3')
      assert.deepEqual(publish?.cmd === 'publish' && JSON.parse(publish.payload.toString()), {
        maxPayloadSize: 65_536,
        maxInflightMessages: 100,
        rateLimits: { messages: null, telemetryMessages: null, telemetryDataPoints: null },
      })
    }))

  it('keeps to a v5 client’s Receive Maximum and sends the rest as it acknowledges', () =>
    bench(async ({ gateway, client }) => {
      const device = await client(5)
      await device.login('one', { properties: { receiveMaximum: 2 } })
      device.send(subscribe(1, 'v2/a'))
      await device.received(1)
      const [session] = gateway.sessions
      for (let count = 0; count < 5; count++) session?.listener.sharedAttributesChanged(UPDATE)
      device.send({ cmd: 'pingreq' })
      await device.received(4)
      assert.equal(device.packets.filter((packet) => packet.cmd === 'publish').length, 2)
      for (let count = 0; count < 3; count++) device.send({ cmd: 'puback', messageId: count + 1, reasonCode: 0 })
      await device.received(7)
      assert.deepEqual(
        device.packets.filter((packet) => packet.cmd === 'publish').map((packet) => packet.messageId),
        [1, 2, 3, 4, 5],
      )
    }))

  it('never sends a v5 client a packet larger than it said', () =>
    bench(async ({ gateway, client, transport }) => {
      const device = await client(5)
      await device.login('one', { properties: { maximumPacketSize: 30 } })
      device.send(subscribe(1, 'v2/a'))
      await device.received(1)
      const [session] = gateway.sessions
      const entries = [{ key: 'text', type: 'STRING', value: 'x'.repeat(40) } as const]
      session?.listener.sharedAttributesChanged({ kind: 'updated', entries })
      session?.listener.sharedAttributesChanged(UPDATE)
      await device.received(2)
      assert.deepEqual(seen(device.packets[1]), ['v2/a', 1, '{"target":21.0}'])
      assert.equal(transport.figures().pushesDropped, 1)
    }))

  it('cuts off a client that does not read', () =>
    bench(
      async ({ gateway, client, transport }) => {
        const device = await client()
        await device.login('one')
        device.send(subscribe(1, 'v2/a'))
        await device.received(1)
        device.socket.pause()
        const entries = [{ key: 'text', type: 'STRING', value: 'x'.repeat(60_000) } as const]
        while (transport.figures().connections > 0) {
          for (const session of gateway.sessions) session.listener.sharedAttributesChanged({ kind: 'updated', entries })
          await new Promise(setImmediate)
        }
        assert.equal(transport.figures().slowConsumers, 1)
      },
      { maxPendingBytes: 100_000 },
    ))
})
