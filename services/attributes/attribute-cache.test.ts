import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScopedAttribute } from '../../storage/entities/attributes.ts'
import { MemoryAttributeCache } from './attribute-cache.ts'
import { attribute, MAX_BYTES, testAttributeCache } from './attribute-cache.contract.ts'

testAttributeCache(async (_context, readAll, maxBytes) => new MemoryAttributeCache(readAll, maxBytes))

test('whole entities are dropped beyond the bound, those read longest ago first', async () => {
  const perEntity = 500
  const rows = Array.from({ length: perEntity }, (_, index) => attribute(`k${index}`, index))
  const cache = new MemoryAttributeCache(async () => ({ rows, sequence: 1 }), MAX_BYTES)
  const names = Array.from({ length: 20 }, (_, index) => `e${index}`)
  for (const entityId of names) {
    await cache.load(entityId)
    assert.ok(cache.lookUp('e0') !== undefined, 'in use all the time')
  }
  const held = names.filter((entityId) => cache.lookUp(entityId) !== undefined)
  assert.deepEqual(held, ['e0', ...names.slice(1 - held.length)])
  assert.ok(held.length >= 8 && held.length < 20, `${held.length} are held`)
})

test('issue-8 3: the bound counts bytes: long texts are held as long as they fit, wherever they come from', async () => {
  const text = (key: string, length: number): ScopedAttribute => {
    return { key, type: 'STRING', value: 'x'.repeat(length), lastUpdateTs: 1, scope: 'SERVER_SCOPE' }
  }
  const cache = new MemoryAttributeCache(async () => ({ rows: [text('a', 20_000)], sequence: 1 }), MAX_BYTES)
  for (let index = 0; index < 1_000; index++) {
    await cache.load(`e${index}`)
    assert.ok(cache.bytes <= MAX_BYTES, `${cache.bytes} bytes after ${index} entities`)
  }
  assert.ok(cache.bytes > MAX_BYTES / 2)
  await cache.load('growing')
  const before = cache.bytes
  cache.apply(2, { entityId: 'growing', saved: [text('b', 10_000)], deleted: [] })
  cache.apply(3, { entityId: 'growing', saved: [text('b', 15_000)], deleted: [{ scope: 'SERVER_SCOPE', key: 'a' }] })
  cache.apply(4, { entityId: 'growing', saved: [], deleted: [{ scope: 'SERVER_SCOPE', key: 'b' }] })
  assert.ok(cache.bytes < before && cache.lookUp('growing') !== undefined)
  for (let index = 0; index < 100; index++) {
    cache.apply(5 + index, { entityId: 'growing', saved: [text(`k${index}`, 1_000)], deleted: [] })
    assert.ok(cache.bytes <= MAX_BYTES)
  }
  assert.equal(cache.lookUp('growing'), undefined, 'one entity takes no more than its share')
  assert.ok(cache.lookUp('e999') !== undefined, 'nor the place of the others')
})
