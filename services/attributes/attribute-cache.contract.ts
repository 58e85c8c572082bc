/** What every {@link AttributeCache} keeps, whatever is behind its memory. */
import type { EntityAttributes } from './held-attributes.ts'
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Read } from '../../storage/entities/database.ts'
import type { ScopedAttribute } from '../../storage/entities/attributes.ts'
import type { AttributeCache } from './attribute-cache.ts'

export type ReadAll = (entityId: string) => Promise<Read<ScopedAttribute>>
/** A new cache over these reads; undefined where the test was skipped. */
export type OpenCache = (
  context: TestContext,
  readAll: ReadAll,
  maxBytes: number,
) => Promise<AttributeCache | undefined>

export const MAX_BYTES = 1 << 20
/** A cache that does not read what it must leaves the test waiting. */
const LIMIT = { timeout: 120_000 }

/** Reads that are answered when the test says so. */
export class HeldReads {
  readonly asked: string[] = []
  private readonly answers: ((read: Read<ScopedAttribute>) => void)[] = []
  private arrivals: (() => void)[] = []

  readonly read = (entityId: string): Promise<Read<ScopedAttribute>> => {
    this.asked.push(entityId)
    return new Promise((resolve) => {
      this.answers.push(resolve)
      for (const arrived of this.arrivals.splice(0)) arrived()
    })
  }

  /** Resolves when a read waits for its answer. */
  async arrived(): Promise<void> {
    while (this.answers.length === 0) await new Promise<void>((resolve) => this.arrivals.push(resolve))
  }

  async answer(rows: readonly ScopedAttribute[], sequence: number): Promise<void> {
    await this.arrived()
    this.answers.shift()?.({ rows, sequence })
  }
}

export function attribute(key: string, value: number): ScopedAttribute {
  return { key, type: 'LONG', value, lastUpdateTs: 1, scope: 'SERVER_SCOPE' }
}

export function saved(entityId: string, key: string, value: number) {
  return { entityId, saved: [attribute(key, value)], deleted: [] }
}

export function valuesOf(attributes: EntityAttributes | undefined): Record<string, unknown> {
  return Object.fromEntries(
    [...(attributes?.get('SERVER_SCOPE')?.values() ?? [])].map(({ key, value }) => [key, value]),
  )
}

export function testAttributeCache(open: OpenCache): void {
  for (const maxBytes of [MAX_BYTES, 0]) {
    const memory = maxBytes > 0 ? 'on' : 'off'
    void test(
      `a change that came after the rows were read is put on top of them (memory ${memory})`,
      LIMIT,
      async (context) => {
        const reads = new HeldReads()
        const cache = await open(context, reads.read, maxBytes)
        if (cache === undefined) return
        const loading = cache.load('e')
        await reads.arrived()
        const number = cache.apply(5, saved('e', 'a', 2))
        cache.apply(6, { entityId: 'e', saved: [], deleted: [{ scope: 'SERVER_SCOPE', key: 'b' }] })
        cache.apply(6, saved('other', 'a', 9))
        await reads.answer([attribute('a', 1), attribute('b', 1)], 4)
        const loaded = await loading
        assert.deepEqual(valuesOf(loaded.attributes), { a: 2 })
        assert.deepEqual([loaded.sequence, loaded.ownSequence], [4, number + 2])
      },
    )

    void test(
      `a change that the rows hold already is not put on top of newer rows (memory ${memory})`,
      LIMIT,
      async (context) => {
        const reads = new HeldReads()
        const cache = await open(context, reads.read, maxBytes)
        if (cache === undefined) return
        const loading = cache.load('e')
        await reads.arrived()
        cache.apply(5, saved('e', 'a', 1))
        await reads.answer([attribute('a', 2)], 6)
        assert.deepEqual(valuesOf((await loading).attributes), { a: 2 })
      },
    )
  }
  testLoads(open)
  testOtherProcesses(open)
}

function testLoads(open: OpenCache): void {
  void test('those who ask at the same time share one read, later ones need none', LIMIT, async (context) => {
    const reads = new HeldReads()
    const cache = await open(context, reads.read, MAX_BYTES)
    if (cache === undefined) return
    const loads = [cache.load('e'), cache.load('e')]
    await reads.answer([attribute('a', 1)], 1)
    await Promise.all(loads)
    const other = cache.load('f')
    await reads.answer([], 1)
    await other
    assert.deepEqual(reads.asked, ['e', 'f'])
    assert.deepEqual(valuesOf(cache.lookUp('e')?.attributes), { a: 1 })
    assert.ok(cache.lookUp('f') !== undefined, 'absence is held too')
    assert.deepEqual(valuesOf(cache.lookUp('f')?.attributes), {})
  })

  void test('without memory nothing is looked up', LIMIT, async (context) => {
    const reads = new HeldReads()
    const cache = await open(context, reads.read, 0)
    if (cache === undefined) return
    const loading = cache.load('e')
    await reads.answer([attribute('a', 1)], 1)
    await loading
    assert.equal(cache.lookUp('e'), undefined)
  })

  void test('a read that failed is tried again by the next who asks', LIMIT, async (context) => {
    let tries = 0
    const readAll = async () => {
      if (++tries === 1) throw new Error('the disk is gone')
      return { rows: [attribute('a', 1)], sequence: 1 }
    }
    const cache = await open(context, readAll, MAX_BYTES)
    if (cache === undefined) return
    await assert.rejects(cache.load('e'), /the disk is gone/)
    assert.deepEqual(valuesOf((await cache.load('e')).attributes), { a: 1 })
  })

  void test('an entity that is deleted is forgotten', LIMIT, async (context) => {
    const rows = [attribute('a', 1)]
    const cache = await open(context, async () => ({ rows: rows.splice(0), sequence: 1 }), MAX_BYTES)
    if (cache === undefined) return
    await cache.load('e')
    cache.forget('e')
    cache.forget('e')
    assert.equal(cache.lookUp('e'), undefined)
    assert.deepEqual(valuesOf((await cache.load('e')).attributes), {})
  })
}

function testOtherProcesses(open: OpenCache): void {
  void test('what another process changes is not held, and is read again', LIMIT, async (context) => {
    const reads = new HeldReads()
    const cache = await open(context, reads.read, MAX_BYTES)
    if (cache === undefined) return
    const first = cache.load('e')
    await reads.answer([attribute('a', 1)], 1)
    await first
    assert.ok(cache.lookUp('e') !== undefined)
    for (const commit of [2, undefined]) {
      cache.invalidate('e', commit)
      assert.equal(cache.lookUp('e'), undefined)
      const again = cache.load('e')
      await reads.answer([attribute('a', 2)], 2)
      assert.deepEqual(valuesOf((await again).attributes), { a: 2 })
    }
  })

  void test(
    'a read during which another process changed the entity begins again, below what is committed here later',
    LIMIT,
    async (context) => {
      const reads = new HeldReads()
      const cache = await open(context, reads.read, MAX_BYTES)
      if (cache === undefined) return
      const loading = cache.load('e')
      await reads.arrived()
      cache.apply(5, saved('e', 'a', 5)) // Overwritten by the other process.
      cache.invalidate('e', 6)
      await reads.answer([attribute('a', 1)], 1)
      await reads.arrived()
      cache.apply(9, saved('e', 'b', 9))
      await reads.answer([attribute('a', 6)], 6)
      assert.deepEqual(valuesOf((await loading).attributes), { a: 6, b: 9 })
      assert.deepEqual(reads.asked, ['e', 'e'])
      assert.ok(cache.lookUp('e') !== undefined)
    },
  )

  void test('an entity that another process changes all the time is read, and not held', LIMIT, async (context) => {
    const reads = new HeldReads()
    const cache = await open(context, reads.read, MAX_BYTES)
    if (cache === undefined) return
    const loading = cache.load('e')
    for (let value = 1; value <= 5; value++) {
      await reads.arrived()
      cache.invalidateAll()
      await reads.answer([attribute('a', value)], value)
    }
    assert.deepEqual(valuesOf((await loading).attributes), { a: 5 })
    assert.equal(cache.lookUp('e'), undefined)
  })
}
