import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import protobuf from 'protobufjs'
import type { Packet } from 'mqtt-packet'
import { isMillraceError } from '../../../model/errors.ts'
import { DEFAULT_PAYLOAD_LIMITS } from '../../payload/limits.ts'
import { MUTATIONS, watchCost } from '../../mutations.testkit.ts'
import { deviceNamed } from '../../testkit.ts'
import { openMqttBench, type MqttBench, type RawClient } from '../testkit.ts'
import { ProtobufGatewayDecoder } from './protobuf-payloads.ts'

function seeded(start: number): (below: number) => number {
  let seed = start
  return (below) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
}

/** What the reference has (`device-api.md` 5.4), for the library's own writer and reader. */
const { root } = protobuf.parse(
  `syntax = "proto3";
  message ConnectMsg { string deviceName = 1; string deviceType = 2; }
  message KeyValue { string key = 1; int32 type = 2; bool bool_v = 3; int64 long_v = 4; double double_v = 5; string string_v = 6; string json_v = 7; }
  message TsKvList { int64 ts = 1; repeated KeyValue kv = 2; }
  message PostTelemetry { repeated TsKvList tsKvList = 1; }
  message Telemetry { string deviceName = 1; PostTelemetry msg = 3; }
  message GatewayTelemetry { repeated Telemetry msg = 1; }
  message PostAttributes { repeated KeyValue kv = 1; bool shared = 2; }
  message Attributes { string deviceName = 1; PostAttributes msg = 2; }
  message GatewayAttributes { repeated Attributes msg = 1; }
  message ClaimDevice { string secretKey = 1; int64 durationMs = 2; }
  message Claim { string deviceName = 1; ClaimDevice claimRequest = 2; }
  message GatewayClaim { repeated Claim msg = 1; }
  message RpcResponse { string deviceName = 1; int32 id = 2; string data = 3; }
  message AttributesRequest { int32 id = 1; string deviceName = 2; bool client = 3; repeated string keys = 4; }
  message TsKv { int64 ts = 1; KeyValue kv = 2; }
  message Answer { int32 requestId = 1; repeated TsKv client = 2; repeated TsKv shared = 3; bool isMultiple = 4; }
  message GatewayAnswer { string deviceName = 1; Answer responseMsg = 2; }
  message Update { repeated TsKv updated = 1; repeated string deleted = 2; }
  message GatewayUpdate { string deviceName = 1; Update notificationMsg = 2; }
  message Call { int32 requestId = 1; string methodName = 2; string params = 3; }
  message GatewayCall { string deviceName = 1; Call rpcRequestMsg = 2; }`,
  { keepCase: true },
)

function bytes(type: string, value: object): Buffer {
  const message = root.lookupType(type)
  return Buffer.from(message.encode(message.fromObject(value)).finish())
}

function read(type: string, packet: Packet | undefined): unknown {
  if (packet?.cmd !== 'publish') return packet?.cmd
  const message = root.lookupType(type)
  return message.toObject(message.decode(Buffer.from(packet.payload)), { longs: Number })
}

const PAYLOADS = { telemetry: undefined, attributes: undefined, call: undefined, callAnswer: undefined }

async function bench(run: (bench: MqttBench, client: RawClient) => Promise<void>): Promise<void> {
  const opened = await openMqttBench()
  const payloads = { ...PAYLOADS, readsJson: true, writesJsonByDefault: true }
  opened.gateway.lookUp = () => ({ ...deviceNamed('gateway'), isGateway: true, payloads })
  try {
    const client = await opened.client(5)
    await client.login('gateway')
    await run(opened, client)
    assert.deepEqual(opened.logged, [])
  } finally {
    await opened.close()
  }
}

/** The reason of the acknowledgement of one publish of QoS 1 alone. */
async function answered(client: RawClient, topic: string, payload: Buffer | string): Promise<unknown> {
  const before = client.packets.length
  client.send({ ...client.publish(`v1/gateway/${topic}`, '', 7), payload })
  const packet = (await client.received(before + 1))[before]
  return packet?.cmd === 'puback' ? (packet.reasonCode ?? 0) : packet?.cmd
}

describe('the gateway API of a profile of Protobuf', () => {
  it('takes telemetry with its types and times, attributes and claims', () =>
    bench(async ({ gateway }, client) => {
      assert.equal(await answered(client, 'connect', bytes('ConnectMsg', { deviceName: 'A', deviceType: 'thermo' })), 0)
      const kv = [
        ...[
          { key: 'b', type: 0, bool_v: true },
          { key: 'l', type: 1, long_v: '9007199254740993' },
        ],
        ...[
          { key: 'd', type: 2, double_v: 2 },
          { key: 's', type: 3, string_v: '5' },
          { key: 'j', type: 4, json_v: '[1]' },
        ],
      ]
      const msg = [
        { deviceName: 'A', msg: { tsKvList: [{ ts: 5, kv }, { kv: [{ key: 'f' }] }] } },
        { deviceName: 'B', msg: { tsKvList: [{ ts: 6, kv: [{ key: 'l', type: 1, long_v: -1 }] }] } },
      ]
      assert.equal(await answered(client, 'telemetry', bytes('GatewayTelemetry', { msg })), 0)
      assert.deepEqual(
        gateway.children.map(({ name, type }) => [name, type]),
        [
          ['A', 'thermo'],
          ['B', 'default'],
        ],
      )
      const of = (name: string) => gateway.uploads.find(({ device }) => device === name)?.groups
      assert.deepEqual(of('A'), [
        {
          ts: 5,
          entries: [
            ...[
              { key: 'b', type: 'BOOLEAN', value: true },
              { key: 'l', type: 'LONG', value: 9007199254740993n },
            ],
            ...[
              { key: 'd', type: 'DOUBLE', value: 2 },
              { key: 's', type: 'STRING', value: '5' },
            ],
            { key: 'j', type: 'JSON', value: '[1]' },
          ],
        },
        { ts: undefined, entries: [{ key: 'f', type: 'BOOLEAN', value: false }] },
      ])
      assert.deepEqual(of('B'), [{ ts: 6, entries: [{ key: 'l', type: 'LONG', value: -1 }] }])
      const attributes = { msg: [{ deviceName: 'A', msg: { kv: [{ key: 'k', type: 3, string_v: 'v' }] } }] }
      assert.equal(await answered(client, 'attributes', bytes('GatewayAttributes', attributes)), 0)
      assert.deepEqual(gateway.uploads.at(-1)?.groups[0]?.entries, [{ key: 'k', type: 'STRING', value: 'v' }])
      const claims = { msg: [{ deviceName: 'A', claimRequest: { secretKey: 's', durationMs: 60_000 } }] }
      assert.equal(await answered(client, 'claim', bytes('GatewayClaim', claims)), 0)
      assert.deepEqual(gateway.sessionsOf('A')[0]?.offers, [{ secretKey: 's', durationMs: 60_000 }])
    }))

  it('refuses a part that it can not read beside good ones, and what is not its messages', () =>
    bench(async ({ gateway }, client) => {
      const good = { deviceName: 'A', msg: { tsKvList: [{ ts: 5, kv: [{ key: 'f' }] }] } }
      for (const value of [
        { key: '' },
        { key: 'j', type: 4, json_v: '{' },
        { key: 'x', type: 9 },
        { key: 'd', type: 2, double_v: NaN },
      ]) {
        const bad = { deviceName: 'B', msg: { tsKvList: [{ kv: [value] }] } }
        assert.equal(await answered(client, 'telemetry', bytes('GatewayTelemetry', { msg: [bad, good] })), 0x99)
      }
      assert.equal(await answered(client, 'telemetry', bytes('GatewayTelemetry', { msg: [{ deviceName: 'B' }] })), 0x99)
      for (const ts of [8.64e15 + 2, -8.64e15 - 2]) {
        const undated = { deviceName: 'B', msg: { tsKvList: [{ ts, kv: [{ key: 'f' }] }] } }
        assert.equal(await answered(client, 'telemetry', bytes('GatewayTelemetry', { msg: [undated] })), 0x99)
      }
      assert.equal(await answered(client, 'telemetry', '{"A":[{"a":1}]}'), 0x99)
      assert.deepEqual(new Set(gateway.uploads.map(({ device }) => device)), new Set(['A']))
      assert.equal(gateway.uploads.length, 4)
      assert.equal(await answered(client, 'telemetry', bytes('GatewayTelemetry', { msg: [{ msg: good.msg }] })), 0x83)
      await client.end()
    }))

  it('answers, changes and calls in messages, and takes answers in them', () =>
    bench(async ({ gateway }, client) => {
      gateway.answer = { client: [], shared: [{ key: 'k', type: 'LONG', value: 4, lastUpdateTs: 9 }] }
      const ask = { id: 3, deviceName: 'A', client: false, keys: ['k', 'm'] }
      client.send({
        ...client.publish('v1/gateway/attributes/request', '', 1),
        payload: bytes('AttributesRequest', ask),
      })
      const stored = { ts: 9, kv: { key: 'k', type: 1, long_v: 4 } }
      const answer = (await client.received(2)).find(({ cmd }) => cmd === 'publish')
      assert.deepEqual(read('GatewayAnswer', answer), {
        ...{ deviceName: 'A', responseMsg: { requestId: 3, shared: [stored], isMultiple: true } },
      })
      const [session] = gateway.sessionsOf('A')
      assert.deepEqual(session?.requests, [{ clientKeys: undefined, sharedKeys: ['k', 'm'] }])
      const one = bytes('AttributesRequest', { ...ask, client: true, keys: ['k'] })
      client.send({ ...client.publish('v1/gateway/attributes/request', '', 2), payload: one })
      const alone = (await client.received(4)).filter(({ cmd }) => cmd === 'publish')[1]
      assert.deepEqual(read('GatewayAnswer', alone), {
        deviceName: 'A',
        responseMsg: { requestId: 3, shared: [stored] },
      })
      assert.deepEqual(session.requests[1], { clientKeys: ['k'], sharedKeys: undefined })
      session.listener.sharedAttributesChanged?.({ kind: 'deleted', keys: ['k', 'm'] })
      const update = { deviceName: 'A', notificationMsg: { deleted: ['k', 'm'] } }
      assert.deepEqual(read('GatewayUpdate', (await client.received(5))[4]), update)
      session.listener.called?.({ id: 7, method: 'm', params: '{"a":1}' })
      const call = { deviceName: 'A', rpcRequestMsg: { requestId: 7, methodName: 'm', params: '{"a":1}' } }
      assert.deepEqual(read('GatewayCall', (await client.received(6))[5]), call)
      assert.equal(await answered(client, 'rpc', bytes('RpcResponse', { deviceName: 'A', id: 7, data: '{"ok":1}' })), 0)
      assert.deepEqual(session.callAnswers, [[7, '{"ok":1}']])
      assert.equal(await answered(client, 'disconnect', bytes('ConnectMsg', { deviceName: 'A' })), 0)
      assert.equal(gateway.sessionsOf('A').length, 0)
    }))

  it('reads mutated messages, or refuses them as invalid, and nothing else', () => {
    const decoder = new ProtobufGatewayDecoder(DEFAULT_PAYLOAD_LIMITS)
    const kv = [
      { key: 'l', type: 1, long_v: 7 },
      { key: 'j', type: 4, json_v: '[1,{"a":2}]' },
      { key: 's', type: 3, string_v: 'x' },
    ]
    const good = bytes('GatewayTelemetry', {
      msg: [
        { deviceName: 'A', msg: { tsKvList: [{ ts: 5, kv }] } },
        { deviceName: 'B', msg: { tsKvList: [{ kv }] } },
      ],
    })
    const random = seeded(20_261_124)
    let refused = 0
    const endCost = watchCost()
    for (let round = 0; round < MUTATIONS; round++) {
      const body = Buffer.concat([good, good]).subarray(0, good.length + random(good.length))
      for (let change = 0; change <= random(6); change++) body[random(body.length)] = random(256)
      try {
        const { parts } = decoder.telemetry(body)
        refused += parts.some(({ content }) => content === undefined) ? 1 : 0
      } catch (error) {
        assert.ok(isMillraceError(error) && error.kind === 'invalid', String(error))
        refused++
      }
    }
    endCost()
    assert.ok(refused > MUTATIONS / 10 && refused < MUTATIONS, `${refused} of ${MUTATIONS} were refused`)
  })
})
