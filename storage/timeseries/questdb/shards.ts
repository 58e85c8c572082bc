/**
 * Entities are spread over a fixed number of shards by a hash of their id. The shard is the one SYMBOL of the table, as only those can have an
 * index, and all of its values are there before the first point: where writers bring new symbols at the same time, released versions of
 * QuestDB may give rows the symbol of another (questdb/questdb issue 7483, pull request 7518). Identity is in columns of fixed size.
 */
/** Of a table for ever. A read of one entity meets the rows of its whole shard: some 25 entities where there are 100,000. */
export const SHARDS = 4096

/** 0 to {@link SHARDS} - 1, from all characters: ids are random, or count up in their first or in their last digits. */
export function shardOf(entityId: string): number {
  // FNV-1a, folded so that the upper bits count too.
  let hash = 0x811c9dc5
  for (let index = 0; index < entityId.length; index++) {
    hash = Math.imul(hash ^ entityId.charCodeAt(index), 0x01000193)
  }
  return (hash ^ (hash >>> 12) ^ (hash >>> 24)) & (SHARDS - 1)
}
