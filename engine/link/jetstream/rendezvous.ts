/** Who should own a partition: the member of the highest weight. A member that comes or goes moves only its own share. */

/** Undefined where there is no member. The same answer in every process that sees the same members. */
export function ownerOf(partition: number, memberIds: readonly string[]): string | undefined {
  let owner: string | undefined
  let highest = -1
  for (const id of memberIds) {
    const weight = weightOf(partition, id)
    if (weight > highest || (weight === highest && owner !== undefined && id > owner)) {
      owner = id
      highest = weight
    }
  }
  return owner
}

/** FNV-1a over the member's id and the partition, mixed so that neighbouring partitions have unlike weights. */
function weightOf(partition: number, id: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < id.length; index++) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ partition, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
