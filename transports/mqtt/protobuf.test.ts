import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { ISubscribePacket } from 'mqtt-packet'
import type { DevicePayloads } from '../../engine/device/gateway.ts'
import { compilePayloadSchema } from '../../services/entities/payload-schemas.ts'
import { deviceNamed } from '../testkit.ts'
import { openMqttBench, type MqttBench } from './testkit.ts'

const TELEMETRY = 'v1/devices/me/telemetry'
/** `a: 5` of the schema below. */
const FIVE = '\u0008\u0005'

function subscribe(...filters: readonly string[]): ISubscribePacket {
  return { cmd: 'subscribe', messageId: 9, subscriptions: filters.map((topic) => ({ topic, qos: 0 })) }
}

describe('a profile of Protobuf', () => {
  let strict: DevicePayloads
  before(async () => {
    const values = await compilePayloadSchema('syntax = "proto3"; message Values { optional int32 a = 1; }')
    const call = await compilePayloadSchema(
      'syntax = "proto3"; message Call { optional string method = 1; optional int32 requestId = 2; optional string params = 3; }',
    )
    const callAnswer = await compilePayloadSchema('syntax = "proto3"; message Answer { optional string payload = 1; }')
    const schemas = { telemetry: values, attributes: values, call, callAnswer }
    strict = { ...schemas, readsJson: false, writesJsonByDefault: false }
  })

  async function bench(payloads: DevicePayloads | undefined, run: (bench: MqttBench) => Promise<void>): Promise<void> {
    const opened = await openMqttBench()
    opened.gateway.lookUp = () => ({ ...deviceNamed('one'), ...(payloads === undefined ? {} : { payloads }) })
    try {
      await run(opened)
      assert.deepEqual(opened.logged, [])
    } finally {
      await opened.close()
    }
  }
  const valuesOf = ({ gateway }: MqttBench) =>
    gateway.uploads.map(({ kind, groups }) => [kind, groups[0]?.entries.map(({ key, value }) => `${key}=${value}`)[0]])

  it('decodes by its schemas, and JSON where the topic says so', () =>
    bench(strict, async (opened) => {
      const device = await opened.client()
      await device.login('one')
      device.send(device.publish(TELEMETRY, FIVE, 1), device.publish('v2/t/p', FIVE, 2))
      device.send(
        device.publish('v2/t/j', '{"b":6}', 3),
        device.publish('v2/a', FIVE, 4),
        device.publish('v2/a/p', '', 5),
      )
      await device.received(5)
      assert.deepEqual(valuesOf(opened), [
        ['telemetry', 'a=5'],
        ['telemetry', 'a=5'],
        ['telemetry', 'b=6'],
        ['attributes', 'a=5'],
        ['attributes', undefined],
      ])
    }))

  it('takes no JSON where it does not say so', () =>
    bench(strict, async (opened) => {
      const device = await opened.client()
      await device.login('one')
      device.send(device.publish(TELEMETRY, '{"a":1}', 1))
      await device.end()
      assert.deepEqual(valuesOf(opened), [])
    }))

  it('takes JSON too where it says so, and sends it on the topics of version 1 alone', () =>
    bench({ ...strict, readsJson: true, writesJsonByDefault: true }, async (opened) => {
      const device = await opened.client()
      await device.login('one')
      device.send(device.publish(TELEMETRY, '{"a":1}', 1), device.publish(TELEMETRY, FIVE, 2))
      await device.received(2)
      assert.deepEqual(valuesOf(opened), [
        ['telemetry', 'a=1'],
        ['telemetry', 'a=5'],
      ])
      const [session] = opened.gateway.sessions
      const pushed = async (filter: string, count: number): Promise<string> => {
        device.send(subscribe(filter))
        await device.received(count - 1)
        session?.listener.called?.({ id: 7, method: 'm', params: '"on"' })
        const packet = (await device.received(count))[count - 1]
        return packet?.cmd === 'publish' ? packet.payload.toString() : `${packet?.cmd}`
      }
      const message = '\n\u0001m\u0010\u0007\u001a\u0002on'
      assert.equal(await pushed('v1/devices/me/rpc/request/+', 4), '{"method":"m","params":"on"}')
      assert.equal(await pushed('v2/r/req/+', 6), message)
      assert.equal(await pushed('v2/r/req/j/+', 8), '{"method":"m","params":"on"}')
      assert.equal(await pushed('v2/r/req/p/+', 10), message)
    }))

  it('has the caller told what its schema does not take, and the device hears nothing of it', () =>
    bench(strict, async ({ client, gateway }) => {
      const device = await client()
      await device.login('one')
      device.send(subscribe('v1/devices/me/rpc/request/+'))
      await device.received(1)
      const [session] = gateway.sessions
      session?.listener.called?.({ id: 7, method: 'm', params: '{"a":1}' })
      assert.deepEqual(session?.deliveries, [[7, 'DELIVERED']])
      assert.match(session.callAnswers[0]?.[1] ?? '', /^\{"result":"INVALID_ARGUMENTS","error":"The field params /)
      device.send({ cmd: 'pingreq' })
      assert.equal((await device.received(2))[1]?.cmd, 'pingresp')
    }))

  it('answers calls by its schema', () =>
    bench(strict, async ({ client, gateway }) => {
      const device = await client()
      await device.login('one')
      device.send(device.publish('v1/devices/me/rpc/response/7', '\n\u0002ok', 1))
      await device.received(1)
      assert.deepEqual([...gateway.sessions][0]?.callAnswers, [[7, '{"payload":"ok"}']])
    }))

  it('is not needed for attributes in Protobuf, and for uploads it is', () =>
    bench(undefined, async ({ client, gateway }) => {
      gateway.answer = { client: [], shared: [{ key: 'k', type: 'BOOLEAN', value: true, lastUpdateTs: 1 }] }
      const device = await client()
      await device.login('one')
      device.send(device.publish('v2/a/req/p/3', '\u0012\u0001k', 1))
      const answer = (await device.received(2)).find((packet) => packet.cmd === 'publish')
      assert.equal(answer?.topic, 'v2/a/res/p/3')
      assert.equal(answer.payload.toString('latin1'), '\b\u0003\u001a\t\b\u0001\u0012\u0005\n\u0001k\u0018\u0001')
      device.send(device.publish('v2/a/p', FIVE, 2))
      await device.end()
      assert.deepEqual(gateway.uploads, [])
    }))
})
