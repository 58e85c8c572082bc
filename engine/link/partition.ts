/** `hash(originator) mod P`: decides the partition, its stream and owner, and with it the order. FNV-1a over the id's text. */
export function partitionOf(originatorId: string, partitions: number): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < originatorId.length; index++) {
    hash = Math.imul(hash ^ originatorId.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 0) % partitions
}

/** The stream that a partition lies in. */
export function streamOf(partition: number, streams: number): number {
  return partition % streams
}
