import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partitionOfKey } from './kafka-partition.ts'

test('a key means the partition that Java’s producers choose', () => {
  // Of Kafka's own tests: the hash with its sign.
  for (const [key, hash] of [
    ['21', -973_932_308],
    ['foobar', -790_332_482],
    ['a-little-bit-long-string', -985_981_536],
    ['a-little-bit-longer-string', -1_486_304_829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58_897_971],
    ['abc', 479_470_107],
  ] as const)
    assert.equal(partitionOfKey(Buffer.from(key)), hash & 0x7fffffff, key)
})
