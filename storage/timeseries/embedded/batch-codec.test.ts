import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DataPoint, Entry, PointsToStore } from '../../../model/value.ts'
import type { PointsWrite } from '../store.ts'
import { decodeBatch, encodeBatch } from './batch-codec.ts'
import { ByteReader, ByteWriter } from './bytes.ts'

const ENTRIES: readonly Entry[] = [
  { key: 'a', type: 'LONG', value: 1 },
  { key: 'b', type: 'DOUBLE', value: 0.5 },
  { key: 'c', type: 'STRING', value: 'ü' },
  { key: 'a', type: 'BOOLEAN', value: true },
  { key: 'd', type: 'JSON', value: '{"e":1}' },
  { key: 'f', type: 'LONG', value: 2n ** 62n },
]

function write(points: PointsToStore): PointsWrite {
  const { entries, ts } = points
  return {
    entityId: 'device',
    sequence: 7,
    ttlSeconds: 60,
    history: true,
    latest: false,
    // Whoever asks for points makes them.
    get points() {
      return points.points
    },
    ...(entries === undefined || ts === undefined ? {} : { entries, ts }),
  }
}

function notAsked(entries: readonly Entry[], ts: number): PointsToStore {
  return {
    entries,
    ts,
    get points(): readonly DataPoint[] {
      throw new Error('somebody made points of them')
    },
  }
}

function bytesOf(writes: readonly PointsWrite[]): Uint8Array {
  const writer = new ByteWriter()
  encodeBatch(writer, writes, 1000)
  return writer.copy()
}

test('entries of one time are written as the points that they are, and no points are made of them', () => {
  for (const ts of [5, -7, 0, 1_790_000_000_000]) {
    const made = write({ points: ENTRIES.map((entry): DataPoint => ({ ...entry, ts })) })
    const known = write(notAsked(ENTRIES, ts))
    const other = write({ points: [{ key: 'b', type: 'LONG', value: 3, ts: 9 }] })
    assert.deepEqual(bytesOf([known, other, known]), bytesOf([made, other, made]))
  }
})

test('entries are counted, and read back at their time', () => {
  const writer = new ByteWriter()
  assert.equal(encodeBatch(writer, [write(notAsked(ENTRIES, 5))], 1000), ENTRIES.length)
  const read: unknown[] = []
  decodeBatch(new ByteReader(writer.copy()), {
    write: (entityId, sequence) => read.push([entityId, sequence]),
    point: (key, { ts, type, value, expiresAt }) => read.push([key, ts, type, value, expiresAt]),
  })
  const expected = ENTRIES.map(({ key, type, value }) => [key, 5, type, value, 61_000])
  assert.deepEqual(read, [['device', 7], ...expected])
})

test('entries of a time beyond all dates are refused, and nothing is written of them', () => {
  const writer = new ByteWriter()
  for (const ts of [0.5, 8.64e15 + 1, Number.NaN]) {
    const writes = [write(notAsked(ENTRIES, 1)), write(notAsked(ENTRIES, ts))]
    assert.throws(() => encodeBatch(writer, writes, 1000), { kind: 'invalid' })
    assert.equal(writer.length, 0)
  }
})
