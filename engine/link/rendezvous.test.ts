import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownerOf } from './rendezvous.ts'

const PARTITIONS = 10

function owners(members: readonly string[], partitions = PARTITIONS): (string | undefined)[] {
  return Array.from({ length: partitions }, (_, partition) => ownerOf(partition, partitions, members))
}

test('every partition has an owner, and nobody more than an even share', () => {
  for (let size = 1; size <= 12; size++) {
    const members = Array.from({ length: size }, (_, index) => `member ${index * 7919}`)
    const counts = new Map<string, number>()
    for (const owner of owners(members)) {
      assert.ok(owner !== undefined && members.includes(owner))
      counts.set(owner, (counts.get(owner) ?? 0) + 1)
    }
    assert.ok(Math.max(...counts.values()) <= Math.ceil(PARTITIONS / size), `${size} members`)
  }
})

test('the order in which the members are seen does not matter', () => {
  assert.deepEqual(owners(['a', 'b', 'c']), owners(['c', 'a', 'b']))
})

test('a member that goes leaves most of the others where they are', () => {
  let moved = 0
  for (let trial = 0; trial < 50; trial++) {
    const members = Array.from({ length: 5 }, (_, index) => `process ${trial} ${index}`)
    const before = owners(members, 100)
    const after = owners(members.slice(1), 100)
    moved += before.filter((owner, partition) => owner !== members[0] && owner !== after[partition]).length
  }
  assert.ok(moved / 50 < 20, `${moved / 50} of 80 moved without need`)
})

test('without a member there is no owner', () => {
  assert.equal(ownerOf(0, PARTITIONS, []), undefined)
})
