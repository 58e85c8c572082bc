import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import protobuf from 'protobufjs'
import { isMillraceError } from '../../../model/errors.ts'
import { parseJson, stringifyJson, type JsonObject } from '../../../model/json.ts'
import type { PayloadSchema } from '../../../engine/device/gateway.ts'
import { compilePayloadSchema } from '../../../services/entities/payload-schemas.ts'
import { MUTATIONS, watchCost } from '../../mutations.testkit.ts'
import { decodePayload } from './dynamic-decode.ts'
import { encodePayload } from './dynamic-encode.ts'

const TEXT = `syntax = "proto3"; package plant.line;
  enum Mode { OFF = 0; ON = 3; }
  message Part { optional string name = 1; bytes raw = 2; repeated Part parts = 3; }
  message Everything {
    double a_double = 1; float a_float = 2; int32 i32 = 3; int64 i64 = 4; uint32 u32 = 5; uint64 u64 = 6; sint32 s32 = 7;
    sint64 s64 = 8; fixed32 f32 = 9; fixed64 f64 = 10; sfixed32 sf32 = 11; sfixed64 sf64 = 12; bool flag = 13;
    string text = 14; bytes raw = 15; Mode mode = 16; Part part = 17; repeated int32 many = 18; repeated sint64 loose = 19 [packed = false];
    optional int32 maybe = 20; oneof choice { string left = 21; Part right = 22; }
  }`
/** As many defaults as a hostile schema likes. */
const WIDE = `syntax = "proto3"; message Row { ${Array.from({ length: 50 }, (_, n) => `int64 column_number_${n} = ${n + 1};`).join(' ')} }
  message Rows { repeated Row rows = 1; }`

/** The library's own writer, so that reader and writer do not agree on a mistake. */
const writer = protobuf.parse(TEXT, { keepCase: true }).root.lookupType('plant.line.Everything')

function bytesOf(value: object): Buffer {
  return Buffer.from(writer.encode(writer.fromObject(value)).finish())
}

describe('messages of the schemas of a profile', () => {
  let schema: PayloadSchema
  before(async () => {
    schema = await compilePayloadSchema(TEXT)
  })
  const jsonOf = (bytes: Buffer): string => stringifyJson(decodePayload(schema, bytes))

  const DEFAULTS =
    '"aDouble":0.0,"aFloat":0.0,"i32":0,"i64":"0","u32":0,"u64":"0","s32":0,"s64":"0","f32":0,"f64":"0","sf32":0,"sf64":"0",' +
    '"flag":false,"text":"","raw":"","mode":"OFF","many":[],"loose":[]'

  test('have the defaults of what is not there, but for what may be absent', () => {
    assert.equal(jsonOf(Buffer.alloc(0)), `{${DEFAULTS}}`)
  })

  test('are canonical JSON', () => {
    const value = {
      ...{
        a_double: 21,
        a_float: 0.1,
        i32: -5,
        i64: '-9007199254740993',
        u32: 4294967295,
        u64: '18446744073709551615',
      },
      ...{ s32: -7, s64: '-9223372036854775808', f32: 9, f64: '10', sf32: -11, sf64: '-12', flag: true, text: 'ä' },
      ...{
        raw: Buffer.from([255, 0]),
        mode: 3,
        part: { parts: [{ name: 'x' }, {}] },
        many: [1, -2],
        loose: ['-3', '4'],
      },
      ...{ maybe: 0, left: '' },
    }
    assert.equal(
      jsonOf(bytesOf(value)),
      '{"aDouble":21.0,"aFloat":0.1,"i32":-5,"i64":"-9007199254740993","u32":4294967295,"u64":"18446744073709551615",' +
        '"s32":-7,"s64":"-9223372036854775808","f32":9,"f64":"10","sf32":-11,"sf64":"-12","flag":true,"text":"ä","raw":"/wA=",' +
        '"mode":"ON","part":{"raw":"","parts":[{"name":"x","raw":"","parts":[]},{"raw":"","parts":[]}]},"many":[1,-2],' +
        '"loose":["-3","4"],"maybe":0,"left":""}',
    )
    assert.match(
      jsonOf(bytesOf({ a_double: NaN, a_float: -Infinity, mode: 9 })),
      /"aDouble":"NaN","aFloat":"-Infinity".*"mode":9/,
    )
  })

  test('take the last of a oneof, add messages up, and pass over what nobody knows', () => {
    const bytes = Buffer.concat([
      ...[bytesOf({ left: 'gone' }), bytesOf({ right: { name: 'a' } }), bytesOf({ right: { raw: Buffer.from('b') } })],
      ...[Buffer.from([0xf8, 0x07, 1]), Buffer.from([0x0a, 1, 65])],
    ])
    assert.equal(jsonOf(bytes), `{${DEFAULTS},"right":{"name":"a","raw":"Yg==","parts":[]}}`)
  })

  test('are written from JSON, and read back', () => {
    const object = parseJson(
      '{"a_double":1.5,"aFloat":2,"i32":"-5","i64":"-9007199254740993","u32":1,"u64":"18446744073709551615","s32":-7,"s64":-8,' +
        '"f32":4294967295,"f64":10,"sf32":-11,"sf64":-12,"flag":true,"text":7,"raw":"/wA=","mode":"ON","part":{"name":"p"},' +
        '"many":[1,2],"loose":[-3],"unknown":1,"maybe":null}',
    ) as JsonObject
    const read = writer.toObject(writer.decode(encodePayload(schema, object)), { longs: String, bytes: String })
    assert.deepEqual(read, {
      ...{ a_double: 1.5, a_float: 2, i32: -5, i64: '-9007199254740993', u32: 1, u64: '18446744073709551615', s32: -7 },
      ...{ s64: '-8', f32: 4294967295, f64: '10', sf32: -11, sf64: '-12', flag: true, text: '7', raw: '/wA=', mode: 3 },
      ...{ part: { name: 'p' }, many: [1, 2], loose: ['-3'] },
    })
  })

  for (const [member, value] of Object.entries({
    text: '{}',
    i32: '1.5',
    u32: '-1',
    flag: '1',
    mode: '"NONE"',
    part: '1',
    many: '3',
  }))
    test(`do not take ${value} for ${member}`, () => {
      const object = parseJson(`{"${member}":${value}}`) as JsonObject
      assert.throws(() => encodePayload(schema, object), { code: 'payload.UNFIT' })
    })

  test('may have fields that are named as what every object has', async () => {
    const odd = await compilePayloadSchema(
      'syntax = "proto3"; message A { optional string constructor = 1; optional string toString = 2; optional string __proto__ = 3; }',
    )
    assert.equal(encodePayload(odd, { method: 'm' }).length, 0)
    const bytes = encodePayload(odd, { constructor: 'x', toString: 'y' })
    assert.equal(stringifyJson(decodePayload(odd, bytes)), '{"constructor":"x","toString":"y"}')
  })

  test('are bounded in depth, and in what is made of two bytes', async () => {
    let nested = Buffer.alloc(0)
    for (let depth = 0; depth < 150; depth++) {
      const length: number[] = []
      for (let rest = nested.length; ; rest >>= 7) {
        length.push(rest > 127 ? (rest & 127) | 128 : rest)
        if (rest <= 127) break
      }
      nested = Buffer.concat([Buffer.from(depth === 149 ? [0x8a, 0x01] : [0x1a]), Buffer.from(length), nested])
    }
    assert.throws(() => jsonOf(nested), { code: 'payload.NOT_PROTOBUF' })
    const wide = await compilePayloadSchema(WIDE)
    const row = Buffer.from([0x0a, 0])
    assert.equal(Object.keys(decodePayload(wide, row)).length, 1)
    const rows = Buffer.concat(Array.from({ length: 30_000 }, () => row))
    assert.throws(() => decodePayload(wide, rows), { code: 'payload.NOT_PROTOBUF' })
  })

  test('that are hostile are refused, or read, and nothing else', () => {
    const good = bytesOf({
      i64: '5',
      text: 'abc',
      part: { parts: [{ name: 'x' }, {}] },
      many: [1, 2, 3],
      loose: ['-1'],
      maybe: 4,
    })
    let seed = 20_261_124
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
      return Math.floor((seed / 2 ** 32) * below)
    }
    let refused = 0
    const endCost = watchCost()
    for (let round = 0; round < MUTATIONS; round++) {
      const bytes = Buffer.concat([good, good]).subarray(random(8), good.length + random(good.length))
      for (let change = 0; change <= random(6); change++) bytes[random(bytes.length)] = random(256)
      try {
        stringifyJson(decodePayload(schema, bytes))
      } catch (error) {
        assert.ok(isMillraceError(error) && error.code === 'payload.NOT_PROTOBUF', String(error))
        refused++
      }
    }
    endCost()
    assert.ok(refused > MUTATIONS / 10 && refused < MUTATIONS, `${refused} of ${MUTATIONS} were refused`)
  })
})

describe('schemas that can not be used', () => {
  const TEXTS: Readonly<Record<string, string>> = {
    'no message': 'syntax = "proto3"; enum A { B = 0; }',
    'another syntax': 'syntax = "proto2"; message A { required int32 a = 1; }',
    'a type that is nowhere': 'syntax = "proto3"; message A { Gone a = 1; }',
    'a map': 'syntax = "proto3"; message A { map<string, int32> a = 1; }',
    'an import': 'syntax = "proto3"; import "b.proto"; message A { int32 a = 1; }',
    'two fields of one JSON name': 'syntax = "proto3"; message A { int32 a_b = 1; int32 aB = 2; }',
    'no schema at all': 'not a schema',
    'messages in each other without end': `syntax = "proto3"; ${'message A {'.repeat(1000)}${'}'.repeat(1000)}`,
  }
  for (const [what, text] of Object.entries(TEXTS))
    test(what, async () => {
      await assert.rejects(compilePayloadSchema(text), Error)
    })

  test('too many fields for the time that they take', async () => {
    const fields = Array.from({ length: 200_000 }, (_, n) => `int32 a${n} = ${n + 1};`)
    await assert.rejects(
      compilePayloadSchema(`syntax = "proto3"; message A { ${fields.join('')} }`),
      /bytes long, at most 32768/,
    )
  })

  test('what is told names the line', async () => {
    await assert.rejects(compilePayloadSchema('syntax = "proto3";\nmessage A {\n  int32 a = ;\n}'), /line 3/)
  })
})
