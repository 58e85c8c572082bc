import assert from 'node:assert/strict'
import { test } from 'node:test'
import { membersOf, mergedMembers, setMember } from './members.ts'

const NAMES = ['b', 'a', '__proto__', 'constructor', '10', '2', '', 'b', '-1', 'toString', 'a']

test('what is made is what Object.fromEntries makes: order, repeats and names of the prototype', () => {
  const entries = NAMES.map((name, index) => [name, index] as const)
  const expected = Object.fromEntries(entries)
  assert.deepEqual(Object.entries(membersOf(entries)), Object.entries(expected))
  assert.equal(Object.getPrototypeOf(membersOf(entries)), Object.prototype)
  for (let cut = 0; cut <= entries.length; cut++) {
    const before = Object.fromEntries(entries.slice(0, cut))
    const merged = mergedMembers(before, entries.slice(cut))
    assert.deepEqual(Object.entries(merged), Object.entries(expected))
    assert.equal(Object.getPrototypeOf(merged), Object.prototype)
  }
})

test('merging leaves what was there as it was, and members can be changed later', () => {
  const before = Object.freeze({ a: 1 })
  const merged = mergedMembers(before, [['__proto__', 2]])
  setMember(merged, '__proto__', 3)
  assert.deepEqual(Object.entries(merged), [
    ['a', 1],
    ['__proto__', 3],
  ])
  assert.deepEqual(Object.entries(before), [['a', 1]])
})
