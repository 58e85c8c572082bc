import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import protobuf from 'protobufjs'
import { seededRandom } from '../../../test/support/seeded-random.ts'
import { entriesJson } from '../../../model/entry-json.ts'
import { compilePayloadSchema } from '../../../services/entities/payload-schemas.ts'
import { MUTATIONS, watchCost } from '../../mutations.testkit.ts'
import { JsonPayloadDecoder } from '../json.ts'
import { DEFAULT_PAYLOAD_LIMITS } from '../limits.ts'
import { decodePayload } from './dynamic-decode.ts'
import { readFlat } from './flat-decode.ts'

const FIELDS = `optional double a_double = 1; optional float a_float = 2; optional int32 i32 = 3; optional int64 i64 = 4; optional uint32 u32 = 5;
  optional uint64 u64 = 6; optional sint32 s32 = 7; optional sint64 s64 = 8; optional fixed32 f32 = 9; optional fixed64 f64 = 10;
  optional bool flag = 11; optional string text = 12; double with_default = 13;`
const PLAIN = `syntax = "proto3"; message Plain { ${FIELDS} }`
const TIMED = `syntax = "proto3"; message Timed { optional int64 ts = 1; optional Values values = 2; message Values { ${FIELDS} } }`

const VALUES = {
  aDouble: [0, -0, 21, 21.5, 1e300, NaN, Infinity, 1e-9],
  aFloat: [0, 0.1, -3, 16_777_216, NaN],
  i32: [0, 7, -7, 2 ** 31 - 1],
  i64: ['0', '5', '-5', '9007199254740991', '9223372036854775807', '-9223372036854775808'],
  u32: [0, 4_294_967_295],
  u64: ['0', '18446744073709551615'],
  s32: [0, -1, 1],
  s64: ['0', '-9', '9223372036854775807'],
  f32: [0, 9],
  f64: ['0', '12'],
  flag: [true, false],
  text: ['', 'ä', 'say "x"', '7', '-7.5', 'on 7', '0x1'],
  withDefault: [0, 4.5, 21],
} as const

for (const [name, text] of [
  ['plain', PLAIN],
  ['timed', TIMED],
] as const) {
  describe(`flat Protobuf, ${name}`, async () => {
    const schema = await compilePayloadSchema(text)
    const type = protobuf.parse(text, { keepCase: false }).root.lookupType(name === 'plain' ? 'Plain' : 'Timed')
    const random = seededRandom()

    const payload = (): Buffer => {
      const values: Record<string, unknown> = {}
      for (const [key, choices] of Object.entries(VALUES))
        if (random.pick([true, false, false])) values[key] = random.pick<unknown>(choices)
      if (random.pick([true, true, false])) values['withDefault'] = 4.5
      const times = ['0', '-1', '1700000000000', '8640000000000000', '8640000000000001']
      const message = name === 'plain' ? values : { ts: random.pick(times), values }
      return Buffer.from(type.encode(type.fromObject(message)).finish())
    }

    for (const castStrings of [true, false]) {
      const limits = { ...DEFAULT_PAYLOAD_LIMITS, castStrings }
      const decoder = new JsonPayloadDecoder(limits)
      const told = (read: () => unknown): unknown => {
        try {
          return read()
        } catch (error) {
          return String(error)
        }
      }
      /** Whether the fast road took it. */
      const agree = (bytes: Buffer): boolean => {
        const fast = told(() => readFlat(schema, bytes, castStrings))
        if (fast === undefined) return false
        const slow = told(() =>
          decoder
            .telemetryOf(decodePayload(schema, bytes))
            .map(({ ts, entries }) => ({ ts, entries, json: entriesJson(entries) })),
        )
        assert.deepEqual(typeof fast === 'string' ? fast : [fast], slow, `SEED=${random.seed} ${bytes.toString('hex')}`)
        return true
      }

      test(`is read as the slow road reads it, texts ${castStrings ? 'cast' : 'kept'}`, () => {
        let taken = 0
        for (let round = 0; round < MUTATIONS / 10; round++) {
          if (agree(payload())) taken++
          // Two behind each other are one, with fields that come twice.
          agree(Buffer.concat([payload(), payload()]))
        }
        assert.ok(taken > MUTATIONS / 1000, `${taken} taken`)
      })

      test(`and so is what was damaged on its way, texts ${castStrings ? 'cast' : 'kept'}`, () => {
        const endCost = watchCost(MUTATIONS / 2)
        for (let round = 0; round < MUTATIONS / 2; round++) {
          const bytes = payload()
          for (let changes = random.between(1, 3); changes > 0 && bytes.length > 0; changes--)
            bytes[random.between(0, bytes.length - 1)] = random.between(0, 255)
          agree(bytes.subarray(0, random.between(0, bytes.length)))
        }
        endCost()
      })
    }
  })
}
