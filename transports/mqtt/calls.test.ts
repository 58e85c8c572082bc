import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ISubscribePacket, Packet } from 'mqtt-packet'
import { openMqttBench, type MqttBench } from './testkit.ts'

async function bench(run: (bench: MqttBench) => Promise<void>): Promise<void> {
  const opened = await openMqttBench({})
  try {
    await run(opened)
    assert.deepEqual(opened.logged, [])
  } finally {
    await opened.close()
  }
}

function subscribe(messageId: number, topic: string, qos: 0 | 1): ISubscribePacket {
  return { cmd: 'subscribe', messageId, subscriptions: [{ topic, qos }] }
}

function seen(packet: Packet | undefined): unknown {
  return packet?.cmd === 'publish' ? [packet.topic, packet.qos, packet.payload.toString()] : packet?.cmd
}

const CALL = { id: 7, method: 'reboot', params: '{"now":true}' }

describe('calls over MQTT', () => {
  it('go out on the filter subscribed last, and are delivered when the device acknowledges', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      await device.login('one')
      device.send(subscribe(1, 'v1/devices/me/rpc/request/+', 1), subscribe(2, 'v2/r/req/+', 1))
      await device.received(2)
      const [session] = gateway.sessions
      assert.equal(session?.listening, 'all')
      session.listener.called?.(CALL)
      const [, , push] = await device.received(3)
      assert.deepEqual(seen(push), ['v2/r/req/7', 1, '{"method":"reboot","params":{"now":true}}'])
      assert.deepEqual(session.deliveries, [[7, 'SENT']])
      device.send({ cmd: 'puback', messageId: 1 }, { cmd: 'pingreq' })
      await device.received(4)
      assert.deepEqual(session.deliveries[1], [7, 'DELIVERED'])
    }))

  it('are listened for anew with each SUBSCRIBE to them', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      await device.login('one')
      const [session] = gateway.sessions
      const taken: string[] = []
      assert.ok(session !== undefined)
      session.subscribeToCalls = (take) => void taken.push(take)
      device.send(subscribe(1, 'v1/devices/me/rpc/request/+', 1), subscribe(2, 'v1/devices/me/attributes', 1))
      device.send(subscribe(3, 'v1/devices/me/rpc/request/+', 1))
      await device.received(3)
      assert.deepEqual(taken, ['all', 'all'])
    }))

  it('are listened for once by a SUBSCRIBE that names them often', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      await device.login('one')
      const [session] = gateway.sessions
      const taken: string[] = []
      assert.ok(session !== undefined)
      session.subscribeToCalls = (take) => void taken.push(take)
      const topics = Array.from({ length: 1_000 }, (_, index) =>
        index % 2 ? 'v2/r/req/+' : 'v1/devices/me/rpc/request/+',
      )
      device.send({ cmd: 'subscribe', messageId: 1, subscriptions: topics.map((topic) => ({ topic, qos: 1 })) })
      await device.received(1)
      assert.deepEqual(taken, ['all'])
    }))

  it('are delivered once they are written where the device asked for QoS 0, and stop with the last filter', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      await device.login('one')
      device.send(subscribe(1, 'v1/devices/me/rpc/request/+', 0))
      await device.received(1)
      const [session] = gateway.sessions
      session?.listener.called?.(CALL)
      const [, push] = await device.received(2)
      assert.deepEqual(seen(push), ['v1/devices/me/rpc/request/7', 0, '{"method":"reboot","params":{"now":true}}'])
      assert.deepEqual(session?.deliveries, [[7, 'DELIVERED']])
      device.send({ cmd: 'unsubscribe', messageId: 2, unsubscriptions: ['v1/devices/me/rpc/request/+'] })
      await device.received(3)
      assert.equal(session.listening, undefined)
    }))

  it('are answered by any family of topics, in whatever text', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      await device.login('one')
      device.send(
        device.publish('v1/devices/me/rpc/response/7', '{"ok":1}', 1),
        device.publish('v2/r/res/j/8', 'no json', 1),
      )
      await device.received(2)
      const [session] = gateway.sessions
      assert.deepEqual(session?.callAnswers, [
        [7, '{"ok":1}'],
        [8, 'no json'],
      ])
    }))

  it('of the device itself are answered on the family it used', () =>
    bench(async ({ gateway, client }) => {
      gateway.reply = '{"time":1}'
      const device = await client()
      await device.login('one')
      device.send(device.publish('v2/r/req/5', '{"method":"getTime"}', 1))
      const packets = await device.received(2)
      const [session] = gateway.sessions
      assert.deepEqual(session?.serverCalls, [{ requestId: 5, data: '{"method":"getTime","params":null}' }])
      assert.deepEqual(
        packets.map(seen).filter((packet) => packet !== 'puback'),
        [['v2/r/res/5', 1, '{"time":1}']],
      )
    }))
})
