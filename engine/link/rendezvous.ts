/**
 * Who should own which partition: highest weights first, and nobody gets more than an even share. A member that comes or goes moves
 * little more than its own share.
 */
import { hashOf } from './partition.ts'

/** Undefined where there is no member. The same answer in every process that sees the same members, in whatever order. */
export function ownerOf(partition: number, partitions: number, memberIds: readonly string[]): string | undefined {
  const seen = [partitions, ...[...memberIds].sort()].join(' ')
  if (seen !== assigned.seen) assigned = { seen, owners: assignment(partitions, memberIds) }
  return assigned.owners[partition]
}

/** Asked for each partition after a change of members: worked out once. */
let assigned: { readonly seen: string; readonly owners: readonly (string | undefined)[] } = { seen: '', owners: [] }

function assignment(partitions: number, memberIds: readonly string[]): readonly (string | undefined)[] {
  const pairs = memberIds.flatMap((id) =>
    Array.from({ length: partitions }, (_, partition) => ({ id, partition, weight: weightOf(partition, id) })),
  )
  pairs.sort((a, b) => b.weight - a.weight || a.partition - b.partition || (a.id < b.id ? -1 : 1))
  const share = Math.ceil(partitions / memberIds.length)
  const taken = new Map<string, number>()
  const owners = new Array<string | undefined>(partitions).fill(undefined)
  for (const { id, partition } of pairs) {
    const count = taken.get(id) ?? 0
    if (owners[partition] !== undefined || count >= share) continue
    owners[partition] = id
    taken.set(id, count + 1)
  }
  return owners
}

/** The hash goes on over the partition, and is mixed so that neighbouring partitions have unlike weights. */
function weightOf(partition: number, id: string): number {
  let hash = Math.imul(hashOf(id) ^ partition, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
