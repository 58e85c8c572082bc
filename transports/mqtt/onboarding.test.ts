import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ISubscribePacket, Packet } from 'mqtt-packet'
import type { MqttLimits } from './limits.ts'
import { openMqttBench, type MqttBench } from './testkit.ts'

async function bench(run: (bench: MqttBench) => Promise<void>, limits: Partial<MqttLimits> = {}): Promise<void> {
  const opened = await openMqttBench(limits)
  try {
    await run(opened)
    assert.deepEqual(opened.logged, [])
  } finally {
    await opened.close()
  }
}

const subscribe = (messageId: number, topic: string): ISubscribePacket => ({
  cmd: 'subscribe',
  messageId,
  subscriptions: [{ topic, qos: 1 }],
})

function seen(packet: Packet | undefined): unknown {
  switch (packet?.cmd) {
    case 'publish':
      return [packet.topic, packet.qos, JSON.parse(packet.payload.toString())]
    case 'suback':
      return packet.granted
    case 'connack':
      return packet.reasonCode ?? packet.returnCode
    default:
      return packet?.cmd
  }
}

const ASKED = JSON.stringify({ deviceName: 'd', provisionDeviceKey: 'k', provisionDeviceSecret: 's', gateway: true })

describe('onboarding over MQTT', () => {
  it('a device offers itself to be claimed; an empty payload is an offer too, a broken one closes', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      await device.login('one')
      device.send(device.publish('v1/devices/me/claim', '{"secretKey":"k","durationMs":60000}', 1))
      device.send(device.publish('v1/devices/me/claim', '', 2))
      await device.received(2)
      const [session] = gateway.sessions
      assert.deepEqual(session?.offers, [
        { secretKey: 'k', durationMs: 60_000 },
        { secretKey: '', durationMs: 0 },
      ])
      device.send(device.publish('v1/devices/me/claim', '{', 3))
      await device.end()
    }))

  it('who has no credentials asks for some, as often as it likes', () =>
    bench(async ({ gateway, client }) => {
      const stranger = await client()
      await stranger.login('provision')
      stranger.send(subscribe(1, '/provision/response'), stranger.publish('/provision/request', ASKED, 2))
      await stranger.received(3)
      const answer = stranger.packets.find(({ cmd }) => cmd === 'publish')
      assert.deepEqual(stranger.packets.map(({ cmd }) => cmd).toSorted(), ['puback', 'publish', 'suback'])
      const failed = { errorMsg: 'Provision data was not found!', status: 'NOT_FOUND' }
      assert.deepEqual(seen(answer), ['/provision/response', 1, failed])
      const [[request, address] = []] = gateway.provisions
      assert.deepEqual([request?.deviceName, request?.key, request?.isGateway, address], ['d', 'k', true, '127.0.0.1'])
      const basic = '{"clientId":null,"userName":"u","password":"p"}'
      gateway.provisioned = { status: 'SUCCESS', credentialsType: 'MQTT_BASIC', credentialsValue: basic }
      stranger.send(stranger.publish('/provision/request', ASKED, 3))
      await stranger.received(5)
      const second = stranger.packets.findLast(({ cmd }) => cmd === 'publish')
      assert.deepEqual(seen(second), [
        '/provision/response',
        1,
        { credentialsValue: JSON.parse(basic) as unknown, credentialsType: 'MQTT_BASIC', status: 'SUCCESS' },
      ])
      assert.equal(gateway.sessions.size, 0)
    }))

  it('who asks in Protobuf is answered in Protobuf', () =>
    bench(async ({ gateway, client }) => {
      const stranger = await client()
      await stranger.login('provision')
      gateway.provisioned = { status: 'SUCCESS', credentialsType: 'ACCESS_TOKEN', credentialsValue: 'tok' }
      const keys = Buffer.from([0x1a, 6, 0x0a, 1, 0x6b, 0x12, 1, 0x73])
      stranger.send({ ...stranger.publish('/provision/request', '', 2), payload: keys })
      const answer = (await stranger.received(2)).find((packet) => packet.cmd === 'publish')
      assert.deepEqual(answer?.payload, Buffer.from([0x08, 1, 0x1a, 3, 0x74, 0x6f, 0x6b]))
      assert.deepEqual([gateway.provisions[0]?.[0].key, gateway.provisions[0]?.[0].secret], ['k', 's'])
    }))

  it('who has no credentials does nothing else, and a device asks for none', () =>
    bench(async ({ gateway, client }) => {
      const stranger = await client()
      await stranger.login('provision')
      stranger.send(subscribe(1, 'v1/devices/me/attributes'), stranger.publish('v1/devices/me/telemetry', '{"a":1}', 2))
      const [suback, puback] = await stranger.received(2)
      assert.deepEqual(seen(suback), [128])
      assert.equal(seen(puback), 'puback')
      const newer = await client(5)
      await newer.login('anything', { clientId: 'provision' })
      newer.send(newer.publish('v1/devices/me/telemetry', '{"a":1}', 1))
      await newer.end()
      assert.deepEqual(gateway.uploads, [])
      const device = await client()
      await device.login('one')
      device.send(subscribe(1, '/provision/response'), device.publish('/provision/request', ASKED, 2))
      const [refused] = await device.received(2)
      assert.deepEqual(seen(refused), [128])
      assert.deepEqual(gateway.provisions, [])
    }))

  it('a broken request, or a platform that does not answer, ends the connection', () =>
    bench(async ({ gateway, client }) => {
      const broken = await client()
      await broken.login('provision')
      broken.send(broken.publish('/provision/request', '{', 1))
      await broken.end()
      assert.deepEqual(broken.packets, [])
      gateway.provisioned = new Error('the store does not answer')
      const other = await client()
      await other.login('provision')
      other.send(other.publish('/provision/request', ASKED, 1))
      await other.end()
      assert.deepEqual(other.packets, [])
    }))

  for (const version of [4, 5] as const)
    it(`an incomplete request is acknowledged, as refused where there is a word for it, and ends the connection (MQTT ${version})`, () =>
      bench(async ({ client }) => {
        const unknownType = { ...(JSON.parse(ASKED) as object), credentialsType: 'NONE' }
        for (const body of ['{"deviceName":"d"}', JSON.stringify(unknownType)]) {
          const device = await client(version)
          await device.login('provision')
          device.send(device.publish('/provision/request', body, 1))
          await device.end()
          const reasons = device.packets.map((packet) => [packet.cmd, 'reasonCode' in packet ? packet.reasonCode : 0])
          const refused =
            version === 5
              ? [
                  ['puback', 0x83],
                  ['disconnect', 0x83],
                ]
              : [['puback', 0]]
          assert.deepEqual(reasons, refused)
        }
      }))

  it('such connections are few: the oldest gives way to a new one, and who holds them all keeps out nobody', () =>
    bench(
      async ({ transport, gateway, client }) => {
        const silent = await client()
        await silent.login('provision')
        const device = await client()
        device.send(device.connectPacket('provision'))
        assert.equal(seen((await device.received(1))[0]), 0)
        await silent.end()
        device.send(device.publish('/provision/request', ASKED, 1))
        await device.received(2)
        assert.equal(gateway.provisions.length, 1)
        assert.equal(transport.figures().overConnectionLimit, 1)
      },
      { maxProvisioningConnections: 1 },
    ))

  it('such connections end when they asked nothing for a while, pings or not', () =>
    bench(
      async ({ clock, client }) => {
        const first = await client()
        await first.login('provision')
        first.send({ cmd: 'pingreq' })
        await first.received(1)
        clock.advance(30_000)
        first.send({ cmd: 'pingreq' })
        await first.received(2)
        clock.advance(35_000)
        await first.end()
        const third = await client()
        await third.login('provision')
      },
      { maxProvisioningConnections: 1 },
    ))
})
