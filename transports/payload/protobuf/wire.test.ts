import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodePayload } from './dynamic-decode.ts'
import { tagBytes, varintBytes, WireReader } from './wire.ts'

/** As the encoding defines it, bit by bit. */
function plain(bytes: readonly number[]): bigint {
  const bits = bytes.reduce((sum, byte, index) => sum | (BigInt(byte & 0x7f) << BigInt(7 * index)), 0n)
  return BigInt.asUintN(64, bits)
}

/** Up to ten bytes, the shortest form or not. */
const varints = fc
  .tuple(fc.array(fc.integer({ min: 0x80, max: 0xff }), { maxLength: 9 }), fc.integer({ min: 0, max: 0x7f }))
  .map(([continued, last]) => [...continued, last])
const numbers = fc.oneof(
  varints,
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }).map((value) => [...varintBytes(value)]),
  fc
    .constantFrom(0n, 2n ** 28n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 56n, 2n ** 63n, -1n)
    .map((value) => [...varintBytes(value)]),
)

test('a varint is what its bits say, whichever way it is read', () => {
  fc.assert(
    fc.property(numbers, (bytes) => {
      const expected = plain(bytes)
      const reader = () => new WireReader(Buffer.from(bytes))
      assert.equal(reader().varint(), expected)
      assert.equal(reader().signedText(), String(BigInt.asIntN(64, expected)))
      assert.equal(reader().int32(), Number(BigInt.asIntN(32, expected)))
      assert.equal(reader().bool(), expected !== 0n)
    }),
    { numRuns: 2000 },
  )
})

test('a tag and a length are refused where they are too large, and not cut to fit', () => {
  fc.assert(
    fc.property(numbers, (bytes) => {
      const value = plain(bytes)
      const buffer = Buffer.from(bytes)
      if (value >= 8n && value <= 0xffff_ffffn)
        assert.deepEqual(new WireReader(buffer).tag(), { number: Number(value >> 3n), wireType: Number(value & 7n) })
      else assert.throws(() => new WireReader(buffer).tag(), { code: 'payload.NOT_PROTOBUF' })
      if (value === 0n) assert.equal(new WireReader(buffer).delimited().rest().length, 0)
      else assert.throws(() => new WireReader(buffer).delimited(), { code: 'payload.NOT_PROTOBUF' })
    }),
    { numRuns: 2000 },
  )
})

test('32-bit numbers with a sign are read as protobuf.dev says', () => {
  const field = (scalar: 'sint32' | 'uint32' | 'int32') => ({
    ...{ number: 1, name: 'a', key: 'a', isRepeated: false, hasPresence: true, rivals: [] },
    type: { kind: 'scalar' as const, scalar },
  })
  const decoded = (scalar: 'sint32' | 'uint32' | 'int32', value: bigint) =>
    decodePayload(
      { root: 0, types: [new Map([[1, field(scalar)]])] },
      Buffer.concat([tagBytes(1, 0), varintBytes(value)]),
    )
  for (const [zigzag, value] of [
    [0n, 0],
    [1n, -1],
    [2n, 1],
    [4_294_967_294n, 2_147_483_647],
    [4_294_967_295n, -2_147_483_648],
  ] as const)
    assert.deepEqual(decoded('sint32', zigzag), { a: value })
  assert.deepEqual(decoded('int32', -1n), { a: -1 })
  assert.deepEqual(decoded('uint32', 4_294_967_295n), { a: 4_294_967_295 })
})
