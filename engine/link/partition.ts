/** `hash(originator) mod P`: decides the partition, its stream and owner, and with it the order. */
export function partitionOf(originatorId: string, partitions: number): number {
  return hashOf(originatorId) % partitions
}

/** FNV-1a over the id's text. */
export function hashOf(id: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < id.length; index++) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

/** The stream that a partition lies in. */
export function streamOf(partition: number, streams: number): number {
  return partition % streams
}
