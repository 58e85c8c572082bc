import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUuid } from '../../model/entity-id.ts'
import { SeededRandom } from '../actor/testkit.ts'
import { MessageIds } from './message-ids.ts'

test('message ids are UUIDs that never repeat, also across blocks and generators', () => {
  const random = new SeededRandom(7)
  const generators = [new MessageIds(random), new MessageIds(random)]
  const seen = new Set<string>()
  const count = 140_000
  for (let index = 0; index < count; index++) {
    const id = generators[index % 2]?.next() ?? ''
    if (index % 9973 === 0) assert.ok(isUuid(id) && id[14] === '4', id)
    seen.add(id)
  }
  assert.equal(seen.size, count)
})
