import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ISubscribePacket, Packet } from 'mqtt-packet'
import { STANDARD_MQTT, type MqttProfile } from '../../engine/device/gateway.ts'
import { deviceNamed } from '../testkit.ts'
import { CustomTopics } from './custom-topics.ts'
import { openMqttBench, type MqttBench } from './testkit.ts'

const PLANT: MqttProfile = {
  telemetryTopic: 'plant/+/t',
  attributesTopic: 'plant/a/#',
  attributesSubscribeTopic: 'plant/down',
  acknowledgesUndecodable: true,
}

async function bench(profile: MqttProfile, run: (bench: MqttBench) => Promise<void>): Promise<void> {
  const opened = await openMqttBench()
  opened.gateway.lookUp = () => ({ ...deviceNamed('one'), mqtt: profile })
  try {
    await run(opened)
    assert.deepEqual(opened.logged, [])
  } finally {
    await opened.close()
  }
}

function subscribe(messageId: number, ...filters: readonly string[]): ISubscribePacket {
  return { cmd: 'subscribe', messageId, subscriptions: filters.map((topic) => ({ topic, qos: 1 })) }
}

function topicOf(packet: Packet | undefined): string | undefined {
  return packet?.cmd === 'publish' ? packet.topic : packet?.cmd
}

describe('topics of the device profile', () => {
  const KINDS: readonly [change: Partial<MqttProfile>, topic: string, kind: string][] = [
    [{}, 'plant/x/t', 'TELEMETRY'],
    [{}, 'plant//t', 'UNKNOWN'],
    [{}, 'plant/x/y/t', 'UNKNOWN'],
    [{}, 'plant/x/t/z', 'UNKNOWN'],
    [{}, 'plant/a', 'ATTRIBUTES'],
    [{}, 'plant/a/deep/er', 'ATTRIBUTES'],
    [{}, 'plant/ab', 'UNKNOWN'],
    // Attributes come first.
    [{}, 'plant/a/t', 'ATTRIBUTES'],
    [{}, 'v1/devices/me/telemetry', 'UNKNOWN'],
    [{}, 'v1/devices/me/attributes', 'UNKNOWN'],
    [{}, 'v2/t', 'TELEMETRY'],
    [{}, 'v1/devices/me/claim', 'CLAIM'],
    [{ telemetryTopic: '#' }, 'v1/devices/me/rpc/response/1', 'TELEMETRY'],
    [{ telemetryTopic: '#' }, 'v1/gateway/telemetry', 'GATEWAY'],
    [{ attributesTopic: STANDARD_MQTT.attributesTopic }, 'v1/devices/me/attributes', 'ATTRIBUTES'],
    [{ telemetryTopic: 'v1/devices/me/attributes', attributesTopic: 'x' }, 'v1/devices/me/attributes', 'TELEMETRY'],
  ]
  for (const [change, topic, kind] of KINDS)
    it(`${JSON.stringify(change)} make ${topic} ${kind}`, () => {
      assert.equal(CustomTopics.of({ ...PLANT, ...change }).uplinkOf(topic).kind, kind)
    })

  it('are compiled once a profile', () => assert.equal(CustomTopics.of(PLANT), CustomTopics.of(PLANT)))

  it('take the place of the standard ones, and change under a session', () =>
    bench(PLANT, async ({ client, gateway }) => {
      const device = await client(5)
      await device.login('one')
      device.send(device.publish('plant/x/t', '{"a":1}', 1), device.publish('plant/a', '{"b":2}', 2))
      device.send(device.publish('v1/devices/me/telemetry', '{"lost":1}', 3))
      const codes = (await device.received(3)).map((packet) => packet.cmd === 'puback' && (packet.reasonCode ?? 0))
      assert.deepEqual(codes, [0, 0, 0x90])
      for (const session of gateway.sessions) session.device = deviceNamed('one')
      device.send(device.publish('plant/x/t', '{"lost":1}', 4), device.publish('v1/devices/me/telemetry', '{"a":3}', 5))
      await device.received(5)
      assert.deepEqual(
        gateway.uploads.map(({ kind, groups }) => [kind, groups[0]?.entries[0]?.value]),
        [
          ['telemetry', 1],
          ['attributes', 2],
          ['telemetry', 3],
        ],
      )
    }))

  it('bring changes of shared attributes on the topic that was subscribed to last', () =>
    bench(PLANT, async ({ client, gateway }) => {
      const device = await client()
      await device.login('one')
      device.send(subscribe(1, 'plant/a/#', 'plant/up', 'v1/devices/me/attributes', 'plant/down'))
      const [suback] = await device.received(1)
      assert.deepEqual(suback?.cmd === 'suback' && suback.granted, [0x80, 0x80, 1, 1])
      const [session] = gateway.sessions
      const tell = () => session?.listener.sharedAttributesChanged({ kind: 'deleted', keys: ['a'] })
      tell()
      assert.equal(topicOf((await device.received(2))[1]), 'plant/down')
      device.send({ cmd: 'unsubscribe', messageId: 2, unsubscriptions: ['plant/down'] })
      await device.received(3)
      assert.equal(session?.subscribed, true)
      tell()
      assert.equal(topicOf((await device.received(4))[3]), 'v1/devices/me/attributes')
      device.send({ cmd: 'unsubscribe', messageId: 3, unsubscriptions: ['v1/devices/me/attributes'] })
      await device.received(5)
      assert.equal(session.subscribed, false)
    }))

  it('that are a filter are no topic to send to', () =>
    bench({ ...PLANT, attributesSubscribeTopic: 'plant/#' }, async ({ client, gateway }) => {
      const device = await client()
      await device.login('one')
      device.send(subscribe(1, 'plant/+'))
      await device.received(1)
      for (const { listener } of gateway.sessions) listener.sharedAttributesChanged({ kind: 'deleted', keys: ['a'] })
      assert.equal(topicOf((await device.received(2))[1]), 'v1/devices/me/attributes')
    }))
})

describe('sendAckOnValidationException', () => {
  it('acknowledges what cannot be decoded to a client of MQTT 3, but for QoS 0', () =>
    bench({ ...STANDARD_MQTT, acknowledgesUndecodable: true }, async ({ client, gateway }) => {
      const device = await client()
      await device.login('one')
      device.send(device.publish('v1/devices/me/telemetry', '{', 1), device.publish('v1/devices/me/attributes', '{', 2))
      device.send(device.publish('v1/devices/me/telemetry', '{"a":1}', 3))
      assert.deepEqual((await device.received(3)).map(topicOf), ['puback', 'puback', 'puback'])
      assert.equal(gateway.uploads.length, 1)
      device.send(device.publish('v1/devices/me/telemetry', '{'))
      await device.end()
    }))

  it('closes the connection where it is not set', () =>
    bench({ ...PLANT, acknowledgesUndecodable: false }, async ({ client }) => {
      const device = await client()
      await device.login('one')
      device.send(device.publish('plant/x/t', '{', 1))
      await device.end()
      assert.deepEqual(device.packets, [])
    }))
})
