import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import protobuf from 'protobufjs'
import { isMillraceError } from '../../model/errors.ts'
import type { ProvisionAnswer } from '../../engine/device/gateway.ts'
import { provisionAnswerBytes, provisioningOf } from './provision-protobuf.ts'

/** As a device would have it: another implementation reads and writes the bytes. */
const SCHEMA = protobuf.parse(
  `syntax = "proto3";
  message Token { string token = 1; }
  message Certificate { string hash = 1; }
  message Basic { string clientId = 1; string userName = 2; string password = 3; }
  message Data { Token token = 1; Certificate x509 = 2; Basic basic = 3; }
  message Keys { string provisionDeviceKey = 1; string provisionDeviceSecret = 2; }
  message Ask { string deviceName = 1; int32 credentialsType = 2; Keys keys = 3; Data credentials = 4; bool gateway = 5;
    string unknown = 20; int64 far = 21; double real = 22; }
  message Answer { int32 status = 1; int32 credentialsType = 2; string credentialsValue = 3; }`,
  { keepCase: true },
).root
const ASK = SCHEMA.lookupType('Ask')
const ANSWER = SCHEMA.lookupType('Answer')
const KEYS = { provisionDeviceKey: 'k', provisionDeviceSecret: 's' }
const NOTHING = {
  ...{ deviceName: undefined, key: 'k', secret: 's', credentialsType: 'ACCESS_TOKEN', token: undefined },
  ...{ clientId: undefined, userName: undefined, password: undefined, certificate: undefined, isGateway: false },
}

function bytesOf(message: Record<string, unknown>): Buffer {
  return Buffer.from(ASK.encode(ASK.fromObject(message)).finish())
}

function codeOf(body: Buffer): string | undefined {
  try {
    provisioningOf(body)
    return undefined
  } catch (error) {
    assert.ok(isMillraceError(error), 'an error without a code')
    assert.equal(error.kind, 'invalid')
    return error.code
  }
}

describe('provisioning in Protobuf', () => {
  const ASKED: readonly [string, Record<string, unknown>, Record<string, unknown>][] = [
    ['key and secret', {}, {}],
    ['a name and a gateway', { deviceName: 'é', gateway: true }, { deviceName: 'é', isGateway: true }],
    ['a token', { credentials: { token: { token: 't' } } }, { token: 't' }],
    [
      'a certificate',
      { credentialsType: 1, credentials: { x509: { hash: 'MII' } } },
      { credentialsType: 'X509_CERTIFICATE', certificate: 'MII' },
    ],
    [
      'a user name',
      { credentialsType: 2, credentials: { basic: { clientId: 'c', userName: 'u', password: 'p' } } },
      { credentialsType: 'MQTT_BASIC', clientId: 'c', userName: 'u', password: 'p' },
    ],
    ['fields that nobody knows', { unknown: 'x', far: -1, real: 0.5 }, {}],
  ]
  for (const [what, asked, expected] of ASKED)
    it(`reads ${what}`, () => {
      const { request, isProtobuf } = provisioningOf(bytesOf({ keys: KEYS, ...asked }))
      assert.deepEqual(request, { ...NOTHING, ...expected })
      assert.equal(isProtobuf, true)
    })

  it('lets the later of two messages in a field add to the first, and walks groups that nobody knows', () => {
    const first = bytesOf({ keys: { provisionDeviceKey: 'k', provisionDeviceSecret: 'old' } })
    const second = bytesOf({ keys: { provisionDeviceSecret: 's' } })
    const groups = Buffer.from([0x7b, 0x83, 0x01, 0x08, 0x05, 0x84, 0x01, 0x7c])
    assert.deepEqual(provisioningOf(Buffer.concat([first, groups, second])).request, NOTHING)
  })

  it('takes JSON for JSON, and tells of what is neither as of JSON', () => {
    assert.equal(provisioningOf(Buffer.from(JSON.stringify(KEYS))).isProtobuf, false)
    assert.equal(codeOf(Buffer.from('{"provisionDeviceKey":"k"}')), 'payload.FIELD_MISSING')
    assert.equal(codeOf(Buffer.from('')), 'payload.EMPTY')
    const notJson = codeOf(Buffer.from('{'))
    assert.equal(codeOf(bytesOf({ keys: { provisionDeviceKey: 'k' } })), notJson)
    assert.equal(codeOf(bytesOf({ keys: KEYS, credentialsType: 9 })), 'payload.CREDENTIALS_TYPE')
  })

  it('answers in the form of the request', () => {
    const answers: readonly [ProvisionAnswer, Record<string, unknown>][] = [
      [
        { status: 'SUCCESS', credentialsType: 'MQTT_BASIC', credentialsValue: '{"userName":"u"}' },
        { status: 1, credentialsType: 2, credentialsValue: '{"userName":"u"}' },
      ],
      [
        { status: 'SUCCESS', credentialsType: 'ACCESS_TOKEN', credentialsValue: 't' },
        { status: 1, credentialsValue: 't' },
      ],
      [{ status: 'NOT_FOUND' }, { status: 2 }],
      [{ status: 'FAILURE' }, { status: 3 }],
    ]
    const asked = provisioningOf(bytesOf({ keys: KEYS }))
    for (const [answer, expected] of answers)
      assert.deepEqual(ANSWER.toObject(ANSWER.decode(provisionAnswerBytes(answer, asked))), expected)
    const json = provisionAnswerBytes({ status: 'FAILURE' }, { ...asked, isProtobuf: false })
    assert.equal(json.toString(), '{"errorMsg":"Failed to provision device!","status":"FAILURE"}')
  })

  it('refuses broken bytes with a code, ten thousand of them and the deepest', () => {
    const credentials = { basic: { clientId: 'c', userName: 'u', password: 'p' }, token: { token: 't' } }
    const whole = bytesOf({ deviceName: 'name', keys: KEYS, credentials, gateway: true, far: -1, real: 1 })
    let seed = 12345
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
      return seed % below
    }
    const outcomes = { taken: 0, refused: 0 }
    for (let round = 0; round < 10_000; round++) {
      const bytes = Buffer.from(whole.subarray(0, round % 3 === 0 ? random(whole.length) : whole.length))
      for (let change = random(4); change >= 0 && bytes.length > 0; change--) bytes[random(bytes.length)] = random(256)
      if (codeOf(bytes) === undefined) outcomes.taken++
      else outcomes.refused++
    }
    assert.ok(outcomes.taken > 100 && outcomes.refused > 1000, JSON.stringify(outcomes))
    const deep = Buffer.alloc(65_536, 0x7b)
    assert.notEqual(codeOf(deep), undefined)
    assert.notEqual(codeOf(Buffer.concat([whole, deep])), undefined)
    assert.notEqual(codeOf(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f])), undefined)
  })
})
