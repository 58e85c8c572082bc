import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScopedAttribute } from '../../storage/entities/attributes.ts'
import { FewAttributes } from './few-attributes.ts'

const SEED = 7

test('few and many attributes are found, replaced in their place and removed as in a map', () => {
  const [held, map] = [new FewAttributes(), new Map<string, ScopedAttribute>()]
  let state = SEED
  const next = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state % below
  }
  for (let step = 0; step < 20_000; step++) {
    // Grows beyond what is few and shrinks again.
    const key = `k${next(step % 2000 < 1000 ? 6 : 20)}`
    if (next(3) === 0) {
      held.delete(key)
      map.delete(key)
    } else {
      const attribute: ScopedAttribute = {
        ...{ key, type: 'LONG', value: step, lastUpdateTs: step },
        scope: 'SERVER_SCOPE',
      }
      held.set(attribute)
      map.set(key, attribute)
    }
    assert.equal(held.size, map.size)
    assert.equal(held.get(key), map.get(key))
    assert.deepEqual([...held.values()], [...map.values()], `seed ${SEED}, step ${step}`)
  }
})
