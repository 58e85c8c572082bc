/** Topics that an MQTT 5 client numbers: MQTT 5 section 3.3.2.3.4. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { IPublishPacket } from 'mqtt-packet'
import type { MqttLimits } from './limits.ts'
import { openMqttBench, type MqttBench, type RawClient } from './testkit.ts'

const TELEMETRY = 'v1/devices/me/telemetry'
const ATTRIBUTES = 'v1/devices/me/attributes'

async function bench(run: (bench: MqttBench) => Promise<void>, limits: Partial<MqttLimits> = {}): Promise<void> {
  const opened = await openMqttBench(limits)
  try {
    await run(opened)
    assert.deepEqual(opened.logged, [])
  } finally {
    await opened.close()
  }
}

let messageId = 0
/** A PUBLISH of QoS 1, by its bytes: the library does not write what the protocol forbids. */
function aliased(client: RawClient, topic: string, alias: number, change: Partial<IPublishPacket> = {}): void {
  messageId = (messageId % 60_000) + 1
  const packet = client.bytes({
    ...{ ...client.publish('t', `{"n":${alias}}`, messageId), ...change },
    properties: { userProperties: { u: 'v' }, ...change.properties },
  })
  // In the place of the topic `t`, and before the other properties: `topicStart` is 4, of a packet under 128 bytes.
  const end = 5 + (packet[0] === 0x30 ? 0 : 2)
  const id = packet.subarray(5, end)
  const propertiesLength = packet[end] ?? 0
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Buffer.byteLength(topic))
  const body = Buffer.concat([
    ...[length, Buffer.from(topic), id, Buffer.from([propertiesLength + 3, 0x23, alias >> 8, alias & 0xff])],
    packet.subarray(end + 1),
  ])
  assert.ok(body.length < 128)
  client.socket.write(Buffer.concat([Buffer.from([packet[0] ?? 0, body.length]), body]))
}

async function endedWith(client: RawClient): Promise<number | undefined> {
  await client.end()
  // Behind the acknowledgements of what came before.
  const last = client.packets.at(-1)
  return last?.cmd === 'disconnect' ? last.reasonCode : undefined
}

describe('MQTT 5 topic aliases', () => {
  it('are told in the CONNACK, to who has a device, and to nobody where there are none', async () => {
    const told = (version: 4 | 5, limits: Partial<MqttLimits> = {}, userName = 'one') =>
      bench(async ({ client }) => {
        const device = await client(version)
        device.send(device.connectPacket(userName))
        const [connack] = await device.received(1)
        maximum = connack?.cmd === 'connack' ? connack.properties?.topicAliasMaximum : undefined
      }, limits)
    let maximum: number | undefined
    await told(5, { maxTopicAliases: 7 })
    assert.equal(maximum, 7)
    await told(5, { maxTopicAliases: 0 })
    assert.equal(maximum, undefined)
    await told(5, {}, 'provision')
    assert.equal(maximum, undefined)
    await told(4)
    assert.equal(maximum, undefined)
  })

  it('stand for the topic they were given last, whatever the quality of service', () =>
    bench(async ({ gateway, client, transport }) => {
      const device = await client(5)
      await device.login('one')
      aliased(device, TELEMETRY, 1)
      aliased(device, ATTRIBUTES, 16)
      aliased(device, '', 1)
      aliased(device, '', 16, { qos: 2 })
      aliased(device, '', 1, { qos: 0 })
      await gateway.uploaded(5)
      aliased(device, ATTRIBUTES, 1)
      aliased(device, '', 1)
      await device.received(6)
      assert.deepEqual(
        gateway.uploads.map(({ kind }) => kind),
        ['telemetry', 'attributes', 'telemetry', 'attributes', 'telemetry', 'attributes', 'attributes'],
      )
      assert.equal(transport.figures().aliasBytes, 2 * (64 + 2 * ATTRIBUTES.length))
    }))

  it('are set by the second delivery of a QoS 2 publish too, which is stored once', () =>
    bench(async ({ gateway, client }) => {
      const device = await client(5)
      await device.login('one')
      device.send({ ...device.publish(TELEMETRY, '{"a":1}', 9), qos: 2 })
      await device.received(1)
      const again = { qos: 2, messageId: 9, dup: true } as const
      aliased(device, TELEMETRY, 2, again)
      aliased(device, '', 2)
      await device.received(3)
      assert.equal(gateway.uploads.length, 2)
    }))

  it('end with the connection, and so does what they took', () =>
    bench(async ({ client, transport }) => {
      const first = await client(5)
      await first.login('one')
      aliased(first, TELEMETRY, 1)
      await first.received(1)
      assert.ok(transport.figures().aliasBytes > 0)
      first.send({ cmd: 'disconnect' })
      await first.end()
      assert.equal(transport.figures().aliasBytes, 0)
      const second = await client(5)
      await second.login('one')
      aliased(second, '', 1)
      assert.equal(await endedWith(second), 0x82)
    }))

  const WRONG: readonly [what: string, reason: number, send: (device: RawClient) => void][] = [
    ['0', 0x94, (device) => aliased(device, TELEMETRY, 0)],
    ['over the maximum', 0x94, (device) => aliased(device, TELEMETRY, 17)],
    ['over the maximum without a topic', 0x94, (device) => aliased(device, '', 65_535)],
    ['that has no topic yet', 0x82, (device) => aliased(device, '', 3)],
    ['for a topic name with a wildcard', 0x81, (device) => aliased(device, 'a/+', 3)],
    ['that is missing where the topic is empty', 0x82, (device) => void device.socket.write(noTopic())],
    [
      'that comes twice',
      0x82,
      (device) => void device.socket.write(Buffer.from([0x30, 10, 0, 1, 0x74, 6, 0x23, 0, 1, 0x23, 0, 1])),
    ],
  ]
  for (const [what, reason, send] of WRONG)
    it(`end the connection with 0x${reason.toString(16)} for one ${what}`, () =>
      bench(async ({ gateway, client }) => {
        const device = await client(5)
        await device.login('one')
        send(device)
        assert.equal(await endedWith(device), reason)
        assert.equal(gateway.uploads.length, 0)
      }))

  it('take no more memory than a connection may: 0x97', () =>
    bench(
      async ({ client, transport }) => {
        const device = await client(5)
        await device.login('one')
        for (const alias of [1, 2, 3]) aliased(device, `topic/that/is/not/served/${alias}`, alias)
        // A shorter one in its place gives back what it no longer takes.
        aliased(device, 't', 1)
        await device.received(4)
        aliased(device, 'topic/that/is/not/served/4', 4)
        aliased(device, 'topic/that/is/not/served/5', 5)
        assert.equal(await endedWith(device), 0x97)
        assert.equal(transport.figures().aliasBytes, 0)
      },
      { maxAliasBytesPerSession: 450 },
    ))

  it('are not allowed where the tenant has no room left, and are again once it has', () =>
    bench(
      async ({ client }) => {
        const maximumOf = async (userName: string) => {
          const device = await client(5)
          device.send(device.connectPacket(userName, { clientId: userName }))
          const [connack] = await device.received(1)
          device.packets.length = 0
          return [device, connack?.cmd === 'connack' ? connack.properties?.topicAliasMaximum : undefined] as const
        }
        const [one, first] = await maximumOf('one')
        assert.equal(first, 16)
        aliased(one, TELEMETRY, 1)
        await one.received(1)
        const [two, second] = await maximumOf('two')
        assert.equal(second, undefined)
        two.send(two.publish(TELEMETRY, '{"a":1}', 1))
        await two.received(1)
        assert.equal((await maximumOf('foreign'))[1], 16)
        one.send({ cmd: 'disconnect' })
        await one.end()
        assert.equal((await maximumOf('two'))[1], 16)
      },
      { maxAliasBytesPerSession: 200, maxAliasBytesPerTenant: 250, maxAliasBytes: 500 },
    ))

  it('are read among all other properties of a publish', () =>
    bench(async ({ gateway, client }) => {
      const device = await client(5)
      await device.login('one')
      const properties = {
        ...{ payloadFormatIndicator: true, messageExpiryInterval: 60, contentType: 'application/json' },
        ...{ responseTopic: 'a/b', correlationData: Buffer.from('c'), userProperties: { a: ['b', 'c'], d: 'e' } },
      }
      device.send({ ...device.publish(TELEMETRY, '{"a":1}', 1), properties: { ...properties, topicAlias: 3 } })
      device.send({ ...device.publish(TELEMETRY, '{"a":2}', 2), properties })
      aliased(device, '', 3)
      await device.received(3)
      assert.deepEqual(
        gateway.uploads.map(({ kind, groups }) => [kind, groups[0]?.entries.length]),
        [
          ['telemetry', 1],
          ['telemetry', 1],
          ['telemetry', 1],
        ],
      )
    }))
})

/** QoS 0, topic '', no properties. */
function noTopic(): Buffer {
  return Buffer.from([0x30, 3, 0, 0, 0])
}
