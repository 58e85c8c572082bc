import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { SHARDS, shardOf } from './shards.ts'

const ENTITIES = 100_000

/** The fullest shard, where the ids are these. */
function fullest(idOf: (number: number) => string): number {
  const counts = new Uint32Array(SHARDS)
  for (let number = 0; number < ENTITIES; number++) {
    const shard = shardOf(idOf(number))
    counts[shard] = (counts[shard] ?? 0) + 1
  }
  return Math.max(...counts)
}

const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0')

test('entities are spread evenly, however their ids are made', () => {
  const kinds = {
    'random (version 4)': () => randomUUID(),
    'by time, low digits first (version 1)': (n: number) => `${hex(n * 4001, 8)}-2f3a-11ef-9262-0242ac120002`,
    'by time, high digits first (version 7)': (n: number) =>
      `01930a7c-${hex(n & 0xffff, 4)}-7000-8000-${hex(n >>> 16, 12)}`,
    'counted in the last digits': (n: number) => `00000000-0000-4000-8000-${hex(n, 12)}`,
  }
  // 24 on average; chance gives some shard about 50.
  for (const [kind, idOf] of Object.entries(kinds))
    assert.ok(fullest(idOf) < 80, `${kind}: ${fullest(idOf)} in one shard`)
})

test('the shard of an entity never changes: rows are found by it', () => {
  assert.deepEqual(
    ['00000000-0000-4000-8000-000000000000', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'].map(shardOf),
    [2278, 1359],
  )
})
