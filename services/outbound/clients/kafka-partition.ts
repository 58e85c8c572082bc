/**
 * Which partition a key means: the one that Java's producers choose, and with them most others, so that records of one key stay together
 * whoever sends them. The client's own choice is another one where the number of partitions is no power of two, and takes a time that is the
 * square of the key's length.
 */

const SEED = 0x9747b28c | 0
const MIX = 0x5bd1e995

/** Not negative; the remainder by the number of partitions is the partition. MurmurHash2 of 32 bits without its sign. */
export function partitionOfKey(key: Buffer): number {
  const { length } = key
  const whole = length - (length % 4)
  let hash = SEED ^ length
  for (let at = 0; at < whole; at += 4) {
    let part = Math.imul(key.readInt32LE(at), MIX)
    part = Math.imul(part ^ (part >>> 24), MIX)
    hash = Math.imul(hash, MIX) ^ part
  }
  if (whole < length) hash = Math.imul(hash ^ key.readUIntLE(whole, length - whole), MIX)
  hash = Math.imul(hash ^ (hash >>> 13), MIX)
  return (hash ^ (hash >>> 15)) & 0x7fffffff
}
