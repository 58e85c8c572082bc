import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChunkCache } from './chunk-cache.ts'
import type { Columns } from './chunk-codec.ts'

const numbers = (count: number): Columns => ({
  ...{ count, times: new Float64Array(count), type: 'DOUBLE', types: [] },
  ...{ values: new Float64Array(count), expiries: undefined },
})
const BYTES = 16

test('what was not read for longest goes first, and the bound holds', () => {
  const cache = new ChunkCache(30 * BYTES)
  for (const chunk of [1, 2, 3]) cache.add(chunk, numbers(10))
  cache.get(1)
  cache.add(4, numbers(10))
  assert.deepEqual(
    [1, 2, 3, 4].map((chunk) => cache.get(chunk) !== undefined),
    [true, false, true, true],
  )
  assert.equal(cache.heldBytes, 30 * BYTES)
  cache.add(5, numbers(31))
  assert.equal(cache.heldBytes, 0)
})

test('a chunk that is added again counts once, and one that is removed not at all', () => {
  const cache = new ChunkCache(30 * BYTES)
  cache.add(1, numbers(10))
  cache.add(1, numbers(20))
  assert.equal(cache.heldBytes, 20 * BYTES)
  cache.remove(1)
  cache.remove(1)
  assert.equal(cache.heldBytes, 0)
  assert.equal(cache.get(1), undefined)
})

test('texts are not kept', () => {
  const cache = new ChunkCache(1_000)
  cache.add(1, { ...numbers(1), type: 'STRING', values: ['text'] })
  assert.equal(cache.get(1), undefined)
  assert.equal(cache.heldBytes, 0)
})
