import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../test/support/seeded-random.ts'
import { KafkaProgress } from './kafka-progress.ts'

const at = (offset: number, partition = 0) => ({ topic: 't', partition, offset: BigInt(offset), leaderEpoch: 1 })
const told = (progress: KafkaProgress) =>
  progress
    .advanced()
    .map(({ partition, offset }) => `${partition}:${offset}`)
    .join()

test('an offset is told when all before it is stored, in each partition for itself', () => {
  const progress = new KafkaProgress()
  const [first, second, other] = [progress.taken(at(5)), progress.taken(at(7)), progress.taken(at(2, 1))]
  second()
  assert.equal(told(progress), '')
  other()
  assert.equal(told(progress), '1:3')
  first()
  assert.equal(told(progress), '0:8')
  assert.equal(told(progress), '')
  assert.equal(progress.open, 0)
})

test('records that come again move nothing back, and what came before them counts', () => {
  const progress = new KafkaProgress()
  const before = progress.taken(at(10))
  progress.taken(at(11))()
  const again = progress.taken(at(10))
  progress.taken(at(11))()
  assert.equal(told(progress), '')
  before()
  assert.equal(told(progress), '0:12')
  again()
  assert.equal(told(progress), '')
  progress.taken(at(12))()
  assert.equal(told(progress), '0:13')
})

test('a record is known that was taken, and not one that another leader wrote in its place', () => {
  const progress = new KafkaProgress()
  assert.ok(!progress.isKnown(at(10)))
  progress.taken(at(10))
  progress.taken(at(12))
  const known = (offset: number, partition: number, leaderEpoch: number) =>
    progress.isKnown({ ...at(offset, partition), leaderEpoch })
  assert.deepEqual([known(10, 0, 1), known(12, 0, 1), known(13, 0, 1), known(10, 1, 1)], [true, true, false, false])
  assert.ok(!known(11, 0, 2))
  progress.taken({ ...at(11), leaderEpoch: 2 })
  assert.deepEqual([known(11, 0, 2), known(12, 0, 2)], [true, false])
})

test('nothing is ever told that has an open record before it', () => {
  const random = seededRandom()
  const progress = new KafkaProgress()
  const open = new Map<number, () => void>()
  let next = 0
  for (let step = 0; step < 20_000; step++) {
    if (open.size < 50 && random.next() < 0.5) open.set(next, progress.taken(at(next++)))
    else if (open.size > 0) {
      const offset = random.pick([...open.keys()])
      open.get(offset)?.()
      open.delete(offset)
    }
    const least = BigInt(Math.min(next, ...open.keys()))
    for (const { offset } of progress.advanced()) assert.equal(offset, least, `SEED=${random.seed}`)
  }
})
