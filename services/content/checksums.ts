/** Checksums of packages as clients and devices compare them (`rest-api.md` 14.3): hexadecimal, numbers with their lowest byte first. */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Clock } from '../../model/clock.ts'

export const CHECKSUM_ALGORITHMS = ['MD5', 'SHA256', 'SHA384', 'SHA512', 'CRC32', 'MURMUR3_32', 'MURMUR3_128'] as const
export type ChecksumAlgorithm = (typeof CHECKSUM_ALGORITHMS)[number]

export async function checksumOf(algorithm: ChecksumAlgorithm, bytes: Buffer, clock: Clock): Promise<string> {
  switch (algorithm) {
    case 'CRC32':
      return lowestFirst(BigInt(crc32(bytes)), 4)
    case 'MURMUR3_32':
      return lowestFirst(BigInt(murmur32(bytes)), 4)
    case 'MURMUR3_128':
      return murmur128(bytes, clock)
    default:
      return createHash(algorithm.toLowerCase()).update(bytes).digest('hex')
  }
}

function lowestFirst(value: bigint, bytes: number): string {
  const hex = value.toString(16).padStart(bytes * 2, '0')
  return Buffer.from(hex, 'hex').reverse().toString('hex')
}

/** MurmurHash3 x86 32, seed 0. */
function murmur32(bytes: Buffer): number {
  let hash = 0
  const blocks = bytes.length >> 2
  const scrambled = (word: number): number => {
    const mixed = Math.imul(word, 0xcc9e2d51)
    return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
  }
  for (let block = 0; block < blocks; block++) {
    hash ^= scrambled(bytes.readInt32LE(block * 4))
    hash = (hash << 13) | (hash >>> 19)
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0
  }
  let rest = 0
  for (let index = bytes.length - 1; index >= blocks * 4; index--) rest = (rest << 8) | (bytes[index] ?? 0)
  hash ^= scrambled(rest) ^ bytes.length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

const C1 = 0x87c37b91114253d5n
const C2 = 0x4cf5ad432745937fn
/** Blocks of one turn: a large file must not hold up the process. */
const BLOCKS_PER_TURN = 4096

const wrap = (value: bigint): bigint => BigInt.asUintN(64, value)
const rotate = (value: bigint, by: bigint): bigint => wrap((value << by) | (value >> (64n - by)))
const scramble1 = (word: bigint): bigint => wrap(rotate(wrap(word * C1), 31n) * C2)
const scramble2 = (word: bigint): bigint => wrap(rotate(wrap(word * C2), 33n) * C1)

function finished(value: bigint): bigint {
  const first = wrap((value ^ (value >> 33n)) * 0xff51afd7ed558ccdn)
  const second = wrap((first ^ (first >> 33n)) * 0xc4ceb9fe1a85ec53n)
  return second ^ (second >> 33n)
}

/** MurmurHash3 x64 128, seed 0. */
async function murmur128(bytes: Buffer, clock: Clock): Promise<string> {
  let one = 0n
  let two = 0n
  const blocks = bytes.length >> 4
  for (let block = 0; block < blocks; block++) {
    if (block > 0 && block % BLOCKS_PER_TURN === 0) await new Promise<void>((resolve) => clock.soon(resolve))
    one ^= scramble1(bytes.readBigUInt64LE(block * 16))
    one = wrap((rotate(one, 27n) + two) * 5n + 0x52dce729n)
    two ^= scramble2(bytes.readBigUInt64LE(block * 16 + 8))
    two = wrap((rotate(two, 31n) + one) * 5n + 0x38495ab5n)
  }
  const rest = Buffer.alloc(16)
  bytes.copy(rest, 0, blocks * 16)
  one ^= scramble1(rest.readBigUInt64LE(0))
  two ^= scramble2(rest.readBigUInt64LE(8))
  one ^= BigInt(bytes.length)
  two ^= BigInt(bytes.length)
  one = wrap(one + two)
  two = wrap(two + one)
  one = finished(one)
  two = finished(two)
  one = wrap(one + two)
  two = wrap(two + one)
  return lowestFirst(one, 8) + lowestFirst(two, 8)
}
