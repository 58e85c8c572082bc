import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { entityName } from './topics.ts'

test('devices of different nodes have different names, whatever is in them', () => {
  const name = fc.string({ unit: fc.constantFrom('a', ':', '%', '3', 'A', '2', '5'), minLength: 1, maxLength: 5 })
  const place = fc.record({ group: name, node: name, device: name })
  const of = ({ group, node, device }: { group: string; node: string; device: string }) =>
    entityName({ group, node }, device)
  fc.assert(
    fc.property(place, place, (one, other) => {
      const isSame = one.group === other.group && one.node === other.node && one.device === other.device
      assert.equal(of(one) === of(other), isSame)
    }),
    { numRuns: 20_000 },
  )
  assert.notEqual(entityName({ group: 'a:x', node: 'b' }, 'D'), entityName({ group: 'a', node: 'x:b' }, 'D'))
  assert.equal(entityName({ group: '100%', node: 'line 1' }, 'D:1'), '100%:line 1:D:1')
})
