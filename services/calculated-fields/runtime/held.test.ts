import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ArgumentNeed } from '../../../model/calculated-fields/kind.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import type { JsonValue } from '../../../model/json.ts'
import { held, valueOf, withoutValue, withUpdate, type Held } from './held.ts'

const [A, B]: readonly [EntityId, EntityId] = [
  { entityType: 'DEVICE', id: 'a' },
  { entityType: 'DEVICE', id: 'b' },
]
const MANY: ArgumentNeed = {
  ...{ origin: { from: 'related', levels: [{ direction: 'FROM', relationType: 'Contains' }] }, many: true },
  ...{ key: 'power', type: 'TS_LATEST' },
}

/** Value and time by entity. */
function seen(need: ArgumentNeed, one: Held): Record<string, readonly [JsonValue, number]> {
  const value = valueOf(need, one, 9_000)
  assert(value?.kind === 'many')
  return Object.fromEntries(value.of.map(({ entity, ts, value: own }) => [entity.id, [own, ts] as const]))
}

test('of many entities each that has no value has the default, until any value comes', () => {
  const need = { ...MANY, defaultValue: '2.5' }
  const begun = held(need, [A, B], [[{ ts: 700, value: 7 }], []], 5_000)
  assert.deepEqual(seen(need, begun), { a: [7, 700], b: [2.5, 0] })
  const updated = withUpdate(need, begun, { name: 'p', ts: 600, value: 3, entity: B }, 5_000)
  assert.ok(updated)
  assert.deepEqual(seen(need, updated), { a: [7, 700], b: [3, 600] })
  assert.deepEqual(seen(need, withoutValue(need, updated, A, 5_000)), { a: [2.5, 0], b: [3, 600] })
})

test('without a default entities that have no value are not there', () => {
  const begun = held(MANY, [A, B], [[], [{ ts: 1, value: 1 }]], 5_000)
  assert.deepEqual(seen(MANY, begun), { b: [1, 1] })
  assert.deepEqual(seen(MANY, withoutValue(MANY, begun, B, 5_000)), {})
})
