import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../test/support/seeded-random.ts'
import type { TcpFramingConfiguration } from './tcp-configuration.ts'
import { TcpFraming } from './tcp-framing.ts'

const LENGTHS: readonly TcpFramingConfiguration[] = [
  { type: 'LENGTH', bytes: 2, byteOrder: 'BIG' },
  { type: 'LENGTH', bytes: 2, byteOrder: 'LITTLE' },
  { type: 'LENGTH', bytes: 4, byteOrder: 'BIG' },
  { type: 'LENGTH', bytes: 4, byteOrder: 'LITTLE' },
]
const FRAMINGS: readonly TcpFramingConfiguration[] = [
  { type: 'LINE' },
  { type: 'DELIMITER', delimiter: '|' },
  { type: 'DELIMITER', delimiter: '=##=' },
  { type: 'DELIMITER', hex: 'ff00fe' },
  ...LENGTHS,
]

function framed(framing: TcpFramingConfiguration, payload: string): Buffer {
  const bytes = Buffer.from(payload)
  if (framing.type === 'LINE') return Buffer.concat([bytes, Buffer.from(payload.length % 2 === 0 ? '\n' : '\r\n')])
  if (framing.type === 'DELIMITER')
    return Buffer.concat([bytes, framing.hex ? Buffer.from(framing.hex, 'hex') : Buffer.from(framing.delimiter ?? '')])
  const head = Buffer.alloc(framing.bytes)
  if (framing.byteOrder === 'BIG') head.writeUIntBE(bytes.length, 0, framing.bytes)
  else head.writeUIntLE(bytes.length, 0, framing.bytes)
  return Buffer.concat([head, bytes])
}

/** What comes out when it comes in pieces of those sizes. */
function read(framing: TcpFramingConfiguration, bytes: Buffer, maxBytes: number, sizeOf: () => number) {
  const frames = new TcpFraming(framing, maxBytes)
  const found: string[] = []
  let mostHeld = 0
  for (let at = 0; at < bytes.length;) {
    const size = sizeOf()
    // A copy: what is kept may be written to.
    frames.push(Buffer.from(bytes.subarray(at, at + size)))
    at += size
    for (let frame = frames.next(); frame !== undefined; frame = frames.next())
      found.push('skipped' in frame ? `skipped ${frame.skipped}` : frame.payload.toString())
    mostHeld = Math.max(mostHeld, frames.heldBytes)
  }
  return { found, mostHeld, frames }
}

test('frames come out as they went in, however they are cut', () => {
  const random = seededRandom()
  for (let round = 0; round < 200; round++) {
    for (const framing of FRAMINGS) {
      const payloads = Array.from({ length: 20 }, () => 'x=#y'.repeat(random.next() * 12).slice(0, random.next() * 40))
      const bytes = Buffer.concat(payloads.map((payload) => framed(framing, payload)))
      const most = 1 + Math.floor(random.next() * 30)
      const { found, frames } = read(framing, bytes, 40, () => 1 + Math.floor(random.next() * most))
      assert.deepEqual(
        found,
        payloads.filter((payload) => payload !== ''),
        `SEED=${random.seed} ${JSON.stringify(framing)}`,
      )
      assert.ok(frames.isBetween && frames.heldBytes === 0)
    }
  }
})

test('a frame that is too long is dropped as it comes, and the next is taken', () => {
  for (const framing of FRAMINGS) {
    const bytes = Buffer.concat(['a', 'l'.repeat(50_000), 'b'].map((payload) => framed(framing, payload)))
    for (const size of [1, 7, 1000, 100_000]) {
      const { found, mostHeld } = read(framing, bytes, 100, () => size)
      assert.deepEqual([found[0], found[2], found.length], ['a', 'b', 3], JSON.stringify(framing))
      assert.match(found[1] ?? '', /^skipped 5000[01]$/)
      assert.ok(size > 10_000 || mostHeld < 3000, `${mostHeld} bytes were held`)
    }
  }
})
