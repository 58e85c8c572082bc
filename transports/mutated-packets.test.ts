/**
 * Mutated packets of MQTT and payloads in JSON: each is read or refused as the codec says, in bounded time. CoAP, Protobuf, the formats of
 * LwM2M and Sparkplug have theirs beside them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import mqttPacket, { type Packet } from 'mqtt-packet'
import { isMillraceError } from '../model/errors.ts'
import { stringifyJson } from '../model/json.ts'
import { decodePacket, FrameCursor, ProtocolViolation, type ProtocolVersion } from './mqtt/codec.ts'
import { PublishView } from './mqtt/publish-view.ts'
import { MUTATIONS, mutationsOf } from './mutations.testkit.ts'
import { JsonPayloadDecoder, parseBody } from './payload/json.ts'
import { DEFAULT_PAYLOAD_LIMITS } from './payload/limits.ts'

/** What `read` answered true to; it throws what it must not. */
function readAll(samples: readonly Buffer[], read: (bytes: Buffer) => boolean): number {
  let taken = 0
  for (const bytes of mutationsOf(...samples)) {
    try {
      if (read(bytes)) taken++
    } catch (error) {
      throw new Error(`not to be thrown for ${bytes.toString('hex')}`, { cause: error })
    }
  }
  return taken
}

const PACKETS: Readonly<Record<ProtocolVersion, readonly Packet[]>> = {
  3: [
    {
      cmd: 'connect',
      protocolId: 'MQIsdp',
      protocolVersion: 3,
      clientId: 'meter',
      clean: true,
      keepalive: 30,
      username: 'token',
    },
    {
      cmd: 'publish',
      topic: 'v1/devices/me/telemetry',
      payload: '{"a":1}',
      qos: 1,
      messageId: 7,
      dup: false,
      retain: false,
    },
  ],
  4: [
    {
      ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clientId: 'meter', clean: true, keepalive: 30 },
      ...{ username: 'token', password: Buffer.from('secret') },
      will: { topic: 'gone', payload: Buffer.from('x'), qos: 1, retain: false },
    },
    { cmd: 'subscribe', messageId: 3, subscriptions: [{ topic: 'v1/devices/me/rpc/request/+', qos: 1 }] },
    { cmd: 'unsubscribe', messageId: 4, unsubscriptions: ['v1/devices/me/attributes'] },
    {
      cmd: 'publish',
      topic: 'v1/devices/me/attributes',
      payload: '{"b":"text"}',
      qos: 2,
      messageId: 8,
      dup: true,
      retain: false,
    },
    { cmd: 'pubrel', messageId: 8 },
    { cmd: 'disconnect' },
  ],
  5: [
    {
      ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5, clientId: 'meter', clean: false, keepalive: 30 },
      ...{ username: 'token', properties: { sessionExpiryInterval: 60, receiveMaximum: 10, topicAliasMaximum: 5 } },
    },
    {
      ...{
        cmd: 'publish',
        topic: 'v1/devices/me/telemetry',
        payload: '{"a":1}',
        qos: 1,
        messageId: 9,
        dup: false,
        retain: false,
      },
      properties: { topicAlias: 1, contentType: 'json', userProperties: { one: 'two' } },
    },
    {
      ...{ cmd: 'subscribe', messageId: 5, properties: { subscriptionIdentifier: 12 } },
      subscriptions: [{ topic: 'v1/devices/me/attributes', qos: 1, nl: false, rap: true, rh: 1 }],
    },
    { cmd: 'puback', messageId: 9, reasonCode: 16 },
    { cmd: 'disconnect', reasonCode: 4, properties: { sessionExpiryInterval: 10 } },
  ],
}

for (const version of [3, 4, 5] as const)
  test(`packets of MQTT ${version === 3 ? '3.1' : version === 4 ? '3.1.1' : '5'} are read or break the protocol`, () => {
    const samples = PACKETS[version].map((packet) => mqttPacket.generate(packet, { protocolVersion: version }))
    const cursor = new FrameCursor()
    const view = new PublishView()
    const taken = readAll(samples, (bytes) => {
      try {
        if (!cursor.advance(bytes, 0, 65_536)) return false
        const { bodyStart, end } = cursor
        const type = (bytes[0] ?? 0) >> 4
        if (type === 3) view.read(bytes, 0, bodyStart, end, version)
        else decodePacket(bytes.subarray(0, end), type === 1 ? undefined : version)
        return true
      } catch (error) {
        assert.ok(error instanceof ProtocolViolation, String(error))
        return false
      }
    })
    assert.ok(taken > 0 && taken < MUTATIONS, `${taken} of ${MUTATIONS} were read`)
    // A parser is shared by all sessions: nothing of a broken packet stays in it.
    for (const [index, packet] of PACKETS[version].entries())
      if (packet.cmd !== 'publish') {
        const sample = samples[index] ?? Buffer.alloc(0)
        assert.equal(decodePacket(sample, packet.cmd === 'connect' ? undefined : version).cmd, packet.cmd)
      }
  })

test('telemetry and attributes in JSON are read or invalid, by the fast road as by the slow one', () => {
  const decoder = new JsonPayloadDecoder(DEFAULT_PAYLOAD_LIMITS)
  const samples = [
    '{"temperature":21.5,"on":true,"note":"a \\u00e9 text","n":-12345678901234567890}',
    '[{"ts":1700000000000,"values":{"a":1,"b":{"c":[1,2,{"d":null}]}}},{"e":1e400}]',
    '{"ts":1700000000000,"values":{"flow":"12.50","empty":""}}',
  ].map((text) => Buffer.from(text))
  const resultOf = <T>(read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      assert.ok(isMillraceError(error) && error.kind === 'invalid', String(error))
      return undefined
    }
  }
  const taken = readAll(samples, (bytes) => {
    const fast = resultOf(() => decoder.telemetry(bytes))
    const slow = resultOf(() => decoder.telemetryOf(parseBody(bytes)))
    // The fast road keeps the text beside what it read.
    const groups = fast?.map(({ ts, entries }) => ({ ts, entries }))
    assert.deepEqual(groups, slow)
    resultOf(() => decoder.attributes(bytes))
    resultOf(() => decoder.attributeRequest(bytes))
    const call = resultOf(() => decoder.serverCall(bytes))
    if (call !== undefined) stringifyJson(call.data)
    return fast !== undefined
  })
  assert.ok(taken > 0 && taken < MUTATIONS, `${taken} of ${MUTATIONS} were read`)
})
