import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import type { DevicePayloads } from '../../engine/device/gateway.ts'
import { compilePayloadSchema } from '../../services/entities/payload-schemas.ts'
import { deviceNamed } from '../testkit.ts'
import { bench, type HttpBench } from './testkit.ts'

/** `a: 5` of the schema below. */
const FIVE = Buffer.from([0x08, 0x05])
/** `payload: "x"`. */
const ANSWER = Buffer.from([0x0a, 0x01, 0x78])
const TYPES = ['application/x-protobuf', 'application/protobuf; charset=binary', 'Application/Vnd.Google.Protobuf']
const OTHERS = ['application/json', 'application/octet-stream', 'text/plain', 'application/x-protobuffer']

let payloads: DevicePayloads
before(async () => {
  const values = await compilePayloadSchema('syntax = "proto3"; message Values { optional int32 a = 1; }')
  const callAnswer = await compilePayloadSchema('syntax = "proto3"; message Answer { optional string payload = 1; }')
  const schemas = { telemetry: values, attributes: values, call: undefined, callAnswer }
  payloads = { ...schemas, readsJson: false, writesJsonByDefault: false }
})

const post = async ({ url }: HttpBench, path: string, body: Buffer | string, type: string): Promise<number> =>
  (await fetch(`${url}/api/v1/one/${path}`, { method: 'POST', body, headers: { 'content-type': type } })).status

const stored = ({ gateway }: HttpBench): readonly unknown[] =>
  gateway.uploads.map(({ kind, groups }) => [kind, ...(groups[0]?.entries ?? []).map(({ key, value }) => [key, value])])

it('Protobuf is read by the schemas of the profile where the content type says so', () =>
  bench(async (opened) => {
    const { gateway } = opened
    const device = { ...deviceNamed('one'), payloads }
    gateway.lookUp = () => device
    for (const type of TYPES) {
      assert.equal(await post(opened, 'telemetry', FIVE, type), 200, type)
      assert.equal(await post(opened, 'attributes', FIVE, type), 200, type)
      assert.equal(await post(opened, 'rpc/7', ANSWER, type), 200, type)
      assert.equal(await post(opened, 'telemetry', '{"a":1}', type), 400, type)
    }
    assert.deepEqual(
      stored(opened),
      TYPES.flatMap(() => [
        ['telemetry', ['a', 5]],
        ['attributes', ['a', 5]],
      ]),
    )
    const [session] = gateway.sessions
    assert.deepEqual(
      session?.callAnswers,
      TYPES.map(() => [7, '{"payload":"x"}']),
    )
  }))

it('JSON is read of the same device by any other content type, and of one without schemas by every', () =>
  bench(async (opened) => {
    const { gateway } = opened
    gateway.lookUp = () => ({ ...deviceNamed('one'), payloads })
    for (const type of OTHERS) assert.equal(await post(opened, 'telemetry', '{"b":1}', type), 200, type)
    gateway.lookUp = () => deviceNamed('one')
    for (const type of TYPES) assert.equal(await post(opened, 'telemetry', '{"b":1}', type), 200, type)
    assert.equal(gateway.uploads.length, OTHERS.length + TYPES.length)
    assert.deepEqual(stored(opened)[0], ['telemetry', ['b', 1]])
  }))
