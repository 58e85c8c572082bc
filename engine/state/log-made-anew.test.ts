import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import { FrameLink } from '../link/frame-link.ts'
import type { LinkEvent } from '../link/events.ts'
import { type MemoryBroker, MemoryStreams, TestMembership } from '../link/memory-testkit.ts'
import { message } from '../link/testkit.ts'
import { StatesInMemory } from './memory-store.ts'
import type { PartitionStore } from './store.ts'

const NOTHING = { states: [], removedStates: [], outputs: [], removedOutputs: [] }

interface Process {
  readonly broker: MemoryBroker
  readonly link: FrameLink
  readonly events: LinkEvent[]
  readonly partitions: PartitionStore[]
  readonly taken: string[]
}

function processOf(clock: ManualClock, streams: MemoryStreams, store: StatesInMemory, id = 'a'): Process {
  const broker = streams.connect()
  const events: LinkEvent[] = []
  const partitions: PartitionStore[] = []
  const taken: string[] = []
  const link = new FrameLink({
    broker,
    partitions: 1,
    letters: streams.letterStore(),
    membership: new TestMembership().join(id),
    clock,
    random: new SeededRandom(1),
    onEvent: (event) => void events.push(event),
  })
  link.watch({
    taken: async (stream, _isHeld, epoch) => void partitions.push(await store.claim(stream, epoch)),
    epochOf: (stream) => store.epochOf(stream),
    gone: () => undefined,
  })
  link.consume({
    room: () => 10,
    deliver: (batch) => {
      taken.push(...batch.map(({ message: { data } }) => data))
      link.settle(batch)
    },
  })
  return { broker, link, events, partitions, taken }
}

void test('a log made anew beside a kept store is read, under an epoch above those of the former log', async () => {
  const clock = new ManualClock()
  const store = new StatesInMemory()
  for (let epoch = 1; epoch <= 4; epoch++) await store.claim(0, epoch)
  const stale = await store.claim(0, 5)
  const { link, events, partitions, taken } = processOf(clock, new MemoryStreams(clock, 1), store)
  link.publish(message({ data: 'one' }), { stored: () => undefined, refused: assert.fail })
  await clock.advance(2000)
  assert.deepEqual(taken, ['one'])
  assert.ok(events.some((event) => event.kind === 'stream-taken' && event.epoch === 6))
  await partitions[0]?.commit(NOTHING)
  await assert.rejects(stale.commit(NOTHING), { code: 'node-state.OWNER_STALE' })
})

void test('an owner that another one followed is refused still, and gives the stream up', async () => {
  const clock = new ManualClock()
  const store = new StatesInMemory()
  const streams = new MemoryStreams(clock, 1)
  const first = processOf(clock, streams, store)
  await clock.advance(2000)
  const held = first.partitions[0]
  assert.ok(held !== undefined)
  await held.commit(NOTHING)
  first.broker.connect(false)
  const second = processOf(clock, streams, store, 'b')
  await clock.advance(20_000)
  await second.partitions[0]?.commit(NOTHING)
  await assert.rejects(held.commit(NOTHING), { code: 'node-state.OWNER_STALE' })
  assert.equal(await store.epochOf(0), 2)
  first.broker.connect(true)
  await clock.advance(300)
  assert.ok(first.events.some(({ kind }) => kind === 'stream-lost'))
})
