import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteCache, textBytes } from './byte-cache.ts'

interface Body {
  readonly bytes: number
}

function cacheOf(maxBytes: number, maxShare?: number) {
  return new ByteCache<Body>({
    maxBytes,
    sizeOf: ({ bytes }) => bytes,
    ...(maxShare === undefined ? {} : { maxShare }),
  })
}

test('entries make room by their bytes, those used longest ago first', () => {
  const cache = cacheOf(100_000)
  for (const key of ['a', 'b', 'c']) cache.set(key, { bytes: 30_000 })
  assert.ok(cache.get('a') !== undefined)
  cache.set('d', { bytes: 30_000 })
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => cache.peek(key) !== undefined),
    [true, false, true, true],
  )
  assert.ok(cache.bytes > 90_000 && cache.bytes <= 100_000)
  cache.set('large', { bytes: 80_000 })
  assert.equal(cache.size, 1)
})

test('an entry that changed its size is counted anew, and one larger than its share is not held', () => {
  const cache = cacheOf(100_000, 0.5)
  cache.set('a', { bytes: 10_000 })
  const before = cache.bytes
  cache.set('a', { bytes: 20_000 })
  assert.equal(cache.bytes, before + 10_000)
  cache.set('b', { bytes: 60_000 })
  assert.equal(cache.get('b'), undefined)
  cache.set('a', { bytes: 60_000 })
  assert.deepEqual([cache.get('a'), cache.size, cache.bytes], [undefined, 0, 0])
})

test('keys count, and a cache that is cleared holds nothing', () => {
  const cache = cacheOf(10_000)
  cache.set('k'.repeat(1000), { bytes: 0 })
  assert.ok(cache.bytes >= textBytes('k'.repeat(1000)))
  cache.clear()
  assert.deepEqual([cache.size, cache.bytes], [0, 0])
})

test('who listens hears of each value that is no longer held, once', () => {
  const dropped: string[] = []
  const onDrop = (key: string, { bytes }: Body): unknown => dropped.push(`${key} ${bytes}`)
  const cache = new ByteCache<Body>({ maxBytes: 10_000, sizeOf: ({ bytes }) => bytes, onDrop })
  cache.set('a', { bytes: 4000 })
  cache.set('a', { bytes: 4001 })
  cache.set('b', { bytes: 4000 })
  cache.set('c', { bytes: 4000 })
  cache.set('b', { bytes: 20_000 })
  assert.deepEqual(
    [...cache.all()].map(([key]) => key),
    ['c'],
  )
  cache.delete('c')
  assert.deepEqual(dropped, ['a 4000', 'a 4001', 'b 4000', 'c 4000'])
})
