/** Q2: each message has exactly one outcome, for any graph of branches, any order of their ends, any place of failure. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import { message } from '../link/testkit.ts'
import { createQueue } from './queue.ts'
import { MemoryLink } from './testkit.ts'
import type { Work } from './work.ts'

const seeds = Number(process.env['SEEDS'] ?? 300)
const firstSeed = Number(process.env['SEED'] ?? 1)

/** Walks a random graph: each open branch ends, fails, or opens further ones; some go on in a later turn, some never end. */
class RandomProcessor {
  running = 0
  /** Works of which some branch will never end: only the timeout can settle them. */
  hung = 0
  private readonly clock: ManualClock
  private readonly random: SeededRandom

  constructor(clock: ManualClock, random: SeededRandom) {
    this.clock = clock
    this.random = random
  }

  process(pack: readonly Work[]): void {
    for (const work of pack) this.walk(work, 0)
  }

  private walk(work: Work, depth: number): void {
    this.running++
    const step = (): void => {
      this.running--
      const draw = this.random.next()
      if (draw < 0.01) {
        this.hung++
        return
      }
      if (draw < 0.35 && depth < 5) {
        const further = this.random.below(4)
        work.branch(further)
        for (let branch = 0; branch <= further; branch++) this.walk(work, depth + 1)
      } else if (draw < 0.45) work.end(new Error('branch failed'))
      else work.end()
    }
    const when = this.random.next()
    if (when < 0.5) step()
    else if (when < 0.8) this.clock.soon(step)
    else this.clock.after(this.random.below(8000), step)
  }
}

async function run(seed: number): Promise<{ hung: number; failures: number }> {
  const random = new SeededRandom(seed)
  const clock = new ManualClock()
  const link = new MemoryLink()
  const processor = new RandomProcessor(clock, random)
  const settings = {
    retries: random.below(4),
    maxHeld: 20 + random.below(100),
    maxInFlightPerOriginator: 1 + random.below(5),
    processingTimeoutMs: 5000,
  }
  const queue = createQueue({ link, processor, clock, settings })
  const published = Array.from({ length: 120 }, () => message({ device: random.below(8) }))
  for (const each of published) {
    link.publish(each)
    if (random.chance(0.1)) await clock.advance(random.below(50))
  }
  for (let step = 0; step < 5000 && clock.pendingTimers > 0; step++) await clock.advance(clock.untilNextTimerMs ?? 1)
  const figures = queue.figures()
  assert.deepEqual(
    [figures.held, figures.inFlight, figures.failingLanes, link.undelivered],
    [0, 0, 0, 0],
    'nothing is stuck',
  )
  const outcomes = [...link.settled, ...link.buried.map(({ delivery }) => delivery.message)].map(({ id }) => id)
  assert.equal(outcomes.length, published.length)
  assert.deepEqual(new Set(outcomes), new Set(published.map(({ id }) => id)))
  for (const { delivery } of link.buried) assert.equal(delivery.attempt, settings.retries + 1)
  return { hung: processor.hung, failures: figures.failed }
}

test('every message of any graph has exactly one outcome and nothing is stuck', async () => {
  let hung = 0
  let failures = 0
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    try {
      const result = await run(seed)
      hung += result.hung
      failures += result.failures
    } catch (error) {
      throw new Error(`seed ${seed}; repeat: SEED=${seed} SEEDS=1 node --test engine/queue/settle.property.test.ts`, {
        cause: error,
      })
    }
  }
  assert.ok(failures > seeds && (hung > 0 || seeds < 20), `${failures} failures and ${hung} hung branches were walked`)
})
