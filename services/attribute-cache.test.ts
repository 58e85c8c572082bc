import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Read } from '../storage/entities/database.ts'
import type { ScopedAttribute } from '../storage/entities/attributes.ts'
import { AttributeCache } from './attribute-cache.ts'

const MAX_BYTES = 1 << 20

/** Reads that are answered when the test says so. */
class HeldReads {
  readonly asked: string[] = []
  private readonly answers: ((read: Read<ScopedAttribute>) => void)[] = []

  readonly read = (entityId: string): Promise<Read<ScopedAttribute>> => {
    this.asked.push(entityId)
    return new Promise((resolve) => this.answers.push(resolve))
  }

  answer(rows: readonly ScopedAttribute[], sequence: number): void {
    this.answers.shift()?.({ rows, sequence })
  }
}

function attribute(key: string, value: number): ScopedAttribute {
  return { key, type: 'LONG', value, lastUpdateTs: 1, scope: 'SERVER_SCOPE' }
}

function saved(entityId: string, key: string, value: number) {
  return { entityId, saved: [attribute(key, value)], deleted: [] }
}

function valuesOf(attributes: ReadonlyMap<string, ReadonlyMap<string, ScopedAttribute>>): Record<string, unknown> {
  return Object.fromEntries([...(attributes.get('SERVER_SCOPE') ?? [])].map(([key, each]) => [key, each.value]))
}

for (const keeps of [true, false]) {
  test(`a change that came after the rows were read is put on top of them (cache ${keeps ? 'on' : 'off'})`, async () => {
    const reads = new HeldReads()
    const cache = new AttributeCache(reads.read, keeps ? MAX_BYTES : 0)
    const loading = cache.load('e')
    const number = cache.apply(5, saved('e', 'a', 2))
    cache.apply(6, { entityId: 'e', saved: [], deleted: [{ scope: 'SERVER_SCOPE', key: 'b' }] })
    cache.apply(6, saved('other', 'a', 9))
    reads.answer([attribute('a', 1), attribute('b', 1)], 4)
    const loaded = await loading
    assert.deepEqual(valuesOf(loaded.attributes), { a: 2 })
    assert.deepEqual([loaded.sequence, loaded.ownSequence], [4, number + 2])
  })

  test(`a change that the rows hold already is not put on top of newer rows (cache ${keeps ? 'on' : 'off'})`, async () => {
    const reads = new HeldReads()
    const cache = new AttributeCache(reads.read, keeps ? MAX_BYTES : 0)
    const loading = cache.load('e')
    cache.apply(5, saved('e', 'a', 1))
    reads.answer([attribute('a', 2)], 6)
    assert.deepEqual(valuesOf((await loading).attributes), { a: 2 })
  })
}

test('those who ask at the same time share one read, later ones need none', async () => {
  const reads = new HeldReads()
  const cache = new AttributeCache(reads.read, MAX_BYTES)
  const loads = [cache.load('e'), cache.load('e'), cache.load('f')]
  reads.answer([attribute('a', 1)], 1)
  reads.answer([], 1)
  await Promise.all(loads)
  assert.deepEqual(reads.asked, ['e', 'f'])
  assert.deepEqual(valuesOf(cache.lookUp('e')?.attributes ?? new Map()), { a: 1 })
  assert.deepEqual(valuesOf(cache.lookUp('f')?.attributes ?? new Map([['x', new Map()]])), {})
})

test('without a cache nothing is held', async () => {
  const reads = new HeldReads()
  const cache = new AttributeCache(reads.read, 0)
  const loading = cache.load('e')
  reads.answer([attribute('a', 1)], 1)
  await loading
  assert.equal(cache.lookUp('e'), undefined)
})

test('a read that failed is tried again by the next who asks', async () => {
  let tries = 0
  const cache = new AttributeCache(async () => {
    if (++tries === 1) throw new Error('the disk is gone')
    return { rows: [attribute('a', 1)], sequence: 1 }
  }, MAX_BYTES)
  await assert.rejects(cache.load('e'), /the disk is gone/)
  assert.deepEqual(valuesOf((await cache.load('e')).attributes), { a: 1 })
})

test('whole entities are dropped beyond the bound, those read longest ago first', async () => {
  const perEntity = 500
  const rows = Array.from({ length: perEntity }, (_, index) => attribute(`k${index}`, index))
  const cache = new AttributeCache(async () => ({ rows, sequence: 1 }), MAX_BYTES)
  const names = Array.from({ length: 20 }, (_, index) => `e${index}`)
  for (const entityId of names) {
    await cache.load(entityId)
    assert.ok(cache.lookUp('e0') !== undefined, 'in use all the time')
  }
  const held = names.filter((entityId) => cache.lookUp(entityId) !== undefined)
  assert.deepEqual(held, ['e0', ...names.slice(1 - held.length)])
  assert.ok(held.length >= 8 && held.length < 20, `${held.length} are held`)
})

test('an entity that is deleted is forgotten', async () => {
  const cache = new AttributeCache(async () => ({ rows: [attribute('a', 1)], sequence: 1 }), MAX_BYTES)
  await cache.load('e')
  cache.forget('e')
  cache.forget('e')
  assert.equal(cache.lookUp('e'), undefined)
})

test('what another process changes is not held, and is read again', async () => {
  const reads = new HeldReads()
  const cache = new AttributeCache(reads.read, MAX_BYTES)
  const first = cache.load('e')
  reads.answer([attribute('a', 1)], 1)
  await first
  assert.ok(cache.lookUp('e') !== undefined)
  cache.invalidate('e')
  assert.equal(cache.lookUp('e'), undefined)
  const second = cache.load('e')
  reads.answer([attribute('a', 2)], 2)
  assert.deepEqual(valuesOf((await second).attributes), { a: 2 })
})

test('a read during which another process changed the entity begins again, below what is committed here later', async () => {
  const reads = new HeldReads()
  const cache = new AttributeCache(reads.read, MAX_BYTES)
  const loading = cache.load('e')
  cache.apply(5, saved('e', 'a', 5)) // Overwritten by the other process.
  cache.invalidate('e')
  reads.answer([attribute('a', 1)], 1)
  await Promise.resolve()
  await Promise.resolve()
  cache.apply(9, saved('e', 'b', 9))
  reads.answer([attribute('a', 6)], 4)
  assert.deepEqual(valuesOf((await loading).attributes), { a: 6, b: 9 })
  assert.deepEqual(reads.asked, ['e', 'e'])
  assert.ok(cache.lookUp('e') !== undefined)
})

test('an entity that another process changes all the time is read, and not held', async () => {
  const reads = new HeldReads()
  const cache = new AttributeCache(reads.read, MAX_BYTES)
  const loading = cache.load('e')
  for (let value = 1; value <= 5; value++) {
    cache.invalidateAll()
    reads.answer([attribute('a', value)], value)
    await Promise.resolve()
    await Promise.resolve()
  }
  assert.deepEqual(valuesOf((await loading).attributes), { a: 5 })
  assert.equal(cache.lookUp('e'), undefined)
})

test('issue-8 3: the bound counts bytes: long texts are held as long as they fit, wherever they come from', async () => {
  const text = (key: string, length: number): ScopedAttribute => {
    return { key, type: 'STRING', value: 'x'.repeat(length), lastUpdateTs: 1, scope: 'SERVER_SCOPE' }
  }
  const cache = new AttributeCache(async () => ({ rows: [text('a', 20_000)], sequence: 1 }), MAX_BYTES)
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
