/** A node whose batches a store gathers: what waits for the store behind others that it serves is not late, and what it never answers is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import { message, SimulatedDisk } from '../link/testkit.ts'
import type { Parking } from '../parking/parking.ts'
import { openParking } from '../parking/testkit.ts'
import { createQueue, type Queue } from '../queue/queue.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../queue/settings.ts'
import { MemoryLink } from '../queue/testkit.ts'
import { chainOf, loaded, testEngine, testWork, TENANT_ID, type MakeNode, type TestEngine } from './testkit.ts'

const TIMEOUT_MS = 20_000
const TURN_MS = 100

/** Serves what it is handed in its order, so many messages a second; a silent place gets no answer and holds up nobody. */
function slowStore(clock: ManualClock, rate: number, silent: ReadonlySet<number> = new Set()) {
  const waiting: (() => void)[] = []
  let handed = 0
  let served = 0
  let rateNow = rate
  const save: MakeNode = () => ({
    isGathered: true,
    handleBatch: (messages, result) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      let open = messages.length
      for (let index = 0; index < messages.length; index++) {
        const isSilent = silent.has(handed++)
        waiting.push(() => {
          if (isSilent) return
          result.emit(index, 'Success')
          if (--open === 0) resolve()
        })
      }
      return promise
    },
  })
  const serve = (): void => {
    for (const answer of waiting.splice(0, (rateNow * TURN_MS) / 1000)) {
      answer()
      served++
    }
    clock.after(TURN_MS, serve)
  }
  clock.after(TURN_MS, serve)
  return { save, servedCount: () => served, handedCount: () => handed, stall: () => void (rateNow = 0) }
}

interface Opened extends TestEngine {
  readonly store: ReturnType<typeof slowStore>
}

async function open(rate: number, silent?: ReadonlySet<number>): Promise<Opened> {
  const clock = new ManualClock()
  const store = slowStore(clock, rate, silent)
  const setup = testEngine({ save: store.save }, { nodeTimeoutMs: TIMEOUT_MS }, undefined, { clock })
  const { chain, graph } = chainOf('A', [{ type: 'save' }], [])
  await loaded(clock, setup.engine.load(chain, graph))
  return { ...setup, store }
}

/** A queue as it is by default, and messages of one tenant. */
function fill(
  { clock, engine }: Opened,
  messages: number,
  parking?: Parking,
): { readonly link: MemoryLink; readonly queue: Queue } {
  const link = new MemoryLink()
  const queue = createQueue({ link, processor: engine, clock, ...(parking === undefined ? {} : { parking }) })
  for (let count = 0; count < messages; count++) link.publish(message({ device: count % 1000, tenantId: TENANT_ID }))
  return { link, queue }
}

async function parkingOf(clock: ManualClock) {
  const opening = openParking(new SimulatedDisk(clock, new SeededRandom(1)), clock)
  await clock.advance(100)
  return (await opening).parking
}

for (const rate of [500, 100]) {
  test(`a full queue behind a store of ${rate} messages a second meets no time-out, of the node or of the queue, and nothing comes again`, async () => {
    const setup = await open(rate)
    const messages = DEFAULT_QUEUE_SETTINGS.maxHeld
    const { link, queue } = fill(setup, messages)
    for (let second = 0; second <= messages / rate; second++) await setup.clock.advance(1000)
    const { failed, timedOut, late } = setup.engine.totals()
    assert.deepEqual({ failed, timedOut, late }, { failed: 0, timedOut: 0, late: 0 })
    assert.deepEqual(
      [link.settled.length, link.failures.length, link.buried.length, link.delivered.length, setup.store.handedCount()],
      [messages, 0, 0, messages, messages],
    )
    assert.equal(queue.figures().timedOut, 0)
    await queue.close()
  })
}

test('nor is any of it parked while nobody else needs the room', async () => {
  const setup = await open(500)
  const parking = await parkingOf(setup.clock)
  // As many again wait in the log: the queue is full for 40 s.
  const { link, queue } = fill(setup, 40_000, parking)
  for (let second = 0; second <= 80; second++) await setup.clock.advance(1000)
  assert.deepEqual([link.settled.length, setup.store.handedCount()], [40_000, 40_000])
  assert.equal(parking.figures().lanes, 0)
  await queue.close()
})

test('a store that never answers is met by a time-out at the node’s deadline, as a single call is', async () => {
  const setup = await open(0)
  const works = Array.from({ length: 5000 }, () => testWork())
  await setup.run(...works)
  await setup.clock.advance(TIMEOUT_MS)
  const { timedOut } = setup.engine.totals()
  assert.deepEqual([timedOut, works.every(({ isSettled }) => isSettled)], [5000, true])
  assert.equal(setup.engine.figures()[0]?.inFlight, 0)
})

test('a store that stops answers to everything by a time-out, one deadline behind its last answer', async () => {
  const setup = await open(500)
  const works = Array.from({ length: 20_000 }, () => testWork())
  await setup.run(...works)
  await setup.clock.advance(15_000)
  setup.store.stall()
  const served = setup.store.servedCount()
  await setup.clock.advance((TIMEOUT_MS * 9) / 8)
  assert.ok(served > 7000, `${served} were served`)
  assert.deepEqual([setup.engine.totals().timedOut, setup.engine.figures()[0]?.inFlight], [20_000 - served, 0])
})

test('one message that gets no answer is late for itself, and for nobody behind it', async () => {
  const setup = await open(500, new Set([2500]))
  const works = Array.from({ length: 20_000 }, () => testWork())
  await setup.run(...works)
  // Its batch is the third: its time begins behind the second, after 4 s.
  await setup.clock.advance(4000 + (TIMEOUT_MS * 10) / 8)
  assert.deepEqual(
    works.flatMap(({ errors }, index) => (errors.length > 0 ? [index] : [])),
    [2500],
  )
  await setup.clock.advance(20_000)
  assert.deepEqual([setup.engine.totals().timedOut, works.every(({ isSettled }) => isSettled)], [1, true])
})

test('messages that get no answer are not late one after the other: what was served behind one is no later turn for the next', async () => {
  const setup = await open(500, new Set([500, 4500, 8500, 12_500]))
  const works = Array.from({ length: 20_000 }, () => testWork())
  await setup.run(...works)
  // The last of them is in the thirteenth batch: its time begins behind the twelfth, after 24 s.
  await setup.clock.advance(24_000 + (TIMEOUT_MS * 10) / 8)
  assert.deepEqual([setup.engine.totals().timedOut, works.every(({ isSettled }) => isSettled)], [4, true])
})

test('what waits for a store that serves others is told so, and what it is at is not', async () => {
  const setup = await open(100)
  const works = Array.from({ length: 3000 }, () => testWork())
  await setup.run(...works)
  await setup.clock.advance(5000)
  assert.equal(works[999]?.postponedMs, 0, 'of the first batch')
  assert.ok((works[1000]?.postponedMs ?? 0) > 0)
  assert.ok((works[2999]?.postponedMs ?? 0) > 0)
})
