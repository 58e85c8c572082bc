import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLater } from '../../engine/rulechain/capabilities/soon.ts'
import { SeededRandom } from '../../model/manual-clock.ts'
import { KeptReads } from './kept-reads.ts'

interface Answer {
  readonly text: string
  readonly names: readonly string[]
}

const SIZE = 1_000

function keptReads(maxBytes = 1_000_000): KeptReads<Answer, undefined> {
  return new KeptReads<Answer, undefined>({ maxBytes, sizeOf: () => SIZE, dependsOn: ({ names }) => names })
}

test('an answer is there at once until something changes on which it depends', async () => {
  const reads = keptReads()
  let loads = 0
  const read = () => reads.read('a', async () => ({ text: String(++loads), names: ['x', 'y'] }))
  assert.ok(isLater(read()))
  await read()
  assert.deepEqual(read(), { text: '1', names: ['x', 'y'] })
  reads.changed('z')
  assert.equal(isLater(read()), false)
  reads.changed('y')
  assert.equal((await read())?.text, '2')
  reads.changedAll()
  assert.equal((await read())?.text, '3')
})

test('of those who ask for the same one reads, and a failure is kept for nobody', async () => {
  const reads = keptReads()
  let loads = 0
  const failing = () =>
    reads.read('a', async () => {
      loads++
      throw new Error('away')
    })
  const both = await Promise.allSettled([failing(), failing()])
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(loads, 1)
  await assert.rejects(async () => failing(), /away/)
  assert.equal(loads, 2)
})

test('what changed while it was read is not kept, and whoever asks after the change waits for no read of before', async () => {
  const reads = keptReads()
  const before = Promise.withResolvers<Answer>()
  const first = reads.read('a', () => before.promise)
  reads.changed('x')
  const second = reads.read('a', async () => ({ text: 'new', names: ['x'] }))
  assert.equal((await second)?.text, 'new')
  before.resolve({ text: 'old', names: ['x'] })
  assert.equal((await first)?.text, 'old')
  assert.deepEqual(
    reads.read('a', () => assert.fail('it is kept')),
    { text: 'new', names: ['x'] },
  )
})

test('what is not there is asked for again, and the bound in bytes holds', async () => {
  const reads = keptReads(20_000)
  await reads.read('none', async () => undefined)
  assert.ok(isLater(reads.read('none', async () => undefined)))
  for (let index = 0; index < 100; index++)
    await reads.read(`key ${index}`, async () => ({ text: '', names: [`name ${index}`, 'all'] }))
  assert.ok(reads.bytes <= 20_000 && reads.bytes > 10_000, `${reads.bytes} bytes`)
  reads.changed('all')
  assert.equal(reads.bytes, 0)
})

test('no answer is older than the last change that was told before it was asked for (random histories)', async () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = new SeededRandom(seed)
    const upTo = (count: number): number => Math.floor(random.next() * count)
    const reads = keptReads(upTo(2) === 0 ? 8_000 : 1_000_000)
    const versions = [0, 0, 0, 0, 0]
    const asked: Promise<void>[] = []
    for (let step = 0; step < 200; step++) {
      const place = upTo(versions.length)
      if (upTo(3) === 0) {
        versions[place] = (versions[place] ?? 0) + 1
        if (upTo(10) === 0) reads.changedAll()
        else reads.changed(`place ${place}`)
      } else {
        const least = versions[place] ?? 0
        const load = async (): Promise<Answer> => {
          for (let turn = upTo(3); turn > 0; turn--) await Promise.resolve()
          const text = String(versions[place])
          for (let turn = upTo(5); turn > 0; turn--) await Promise.resolve()
          return { text, names: [`place ${place}`] }
        }
        const answer = reads.read(`place ${place}`, load)
        asked.push(Promise.resolve(answer).then((known) => assert.ok(Number(known?.text) >= least, `seed ${seed}`)))
      }
      if (upTo(4) === 0) await Promise.resolve()
    }
    await Promise.all(asked)
  }
})
