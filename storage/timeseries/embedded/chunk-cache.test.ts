import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChunkCache } from './chunk-cache.ts'
import type { Columns } from './chunk-codec.ts'

const numbers = (count: number): Columns => ({
  ...{ count, times: new Float64Array(count), type: 'DOUBLE', types: [] },
  ...{ values: new Float64Array(count), expiries: undefined },
})
const BYTES = 16
/** Of a chunk beyond its columns. */
const ENTRY = ((): number => {
  const cache = new ChunkCache(1_000)
  cache.add(1, numbers(0))
  return cache.heldBytes
})()

test('what was not read for longest goes first, and the bound holds', () => {
  const full = 3 * (10 * BYTES + ENTRY)
  const cache = new ChunkCache(full)
  for (const chunk of [1, 2, 3]) cache.add(chunk, numbers(10))
  cache.get(1)
  cache.add(4, numbers(10))
  assert.deepEqual(
    [1, 2, 3, 4].map((chunk) => cache.get(chunk) !== undefined),
    [true, false, true, true],
  )
  assert.equal(cache.heldBytes, full)
  // One that takes more than there is costs the others nothing.
  cache.add(5, numbers(50))
  assert.equal(cache.get(5), undefined)
  assert.equal(cache.heldBytes, full)
})

test('a chunk that is added again counts once, and one that is removed not at all', () => {
  const cache = new ChunkCache(30 * BYTES + 2 * ENTRY)
  cache.add(1, numbers(10))
  cache.add(1, numbers(20))
  assert.equal(cache.heldBytes, 20 * BYTES + ENTRY)
  cache.remove(1)
  cache.remove(1)
  assert.equal(cache.heldBytes, 0)
  assert.equal(cache.get(1), undefined)
})

test('LONGs among DOUBLEs are kept, and what tells them apart counts', () => {
  const cache = new ChunkCache(1_000)
  cache.add(1, { ...numbers(10), type: undefined, longs: new Uint8Array(10) })
  assert.notEqual(cache.get(1), undefined)
  assert.equal(cache.heldBytes, 10 * (BYTES + 1) + ENTRY)
})

test('texts are not kept', () => {
  const cache = new ChunkCache(1_000)
  cache.add(1, { ...numbers(1), type: 'STRING', values: ['text'] })
  assert.equal(cache.get(1), undefined)
  assert.equal(cache.heldBytes, 0)
})
