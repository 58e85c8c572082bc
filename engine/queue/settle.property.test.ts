/**
 * Q2: each message has exactly one outcome, under every strategy, for any graph of branches, any order of their ends, any place of
 * failure, any change of the settings on the way. A case is one run of a queue.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROCESSING_STRATEGIES, SUBMIT_STRATEGIES } from '../../model/entities.ts'
import { defineErrors } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import { message } from '../link/testkit.ts'
import { createQueue, type Queue } from './queue.ts'
import type { QueueSettings } from './settings.ts'
import { MemoryLink } from './testkit.ts'
import type { Work } from './work.ts'

const cases = Number(process.env['SEEDS'] ?? 10_000)
const firstSeed = Number(process.env['SEED'] ?? 1)
const MESSAGES = 20

const TestErrors = defineErrors('settle-test', {
  AWAY: { kind: 'retryable', isOutage: true, status: 503, text: 'away' },
  BAD: { kind: 'invalid', status: 400, text: 'bad' },
})

interface Try {
  open: number
  hasFailed: boolean
}

/** Walks a random graph: each open branch ends, fails, or opens further ones; some go on in a later turn, some never end. */
class RandomProcessor {
  /** Works of which some branch will never end: only the timeout can settle them. */
  hung = 0
  readonly started: Message[] = []
  readonly succeeded = new Set<string>()
  /** What `watch` found first: thrown within `process` it would only be a processor that failed. */
  problem: unknown
  /** Looks at each pack before it is walked. */
  watch: (pack: readonly Work[]) => void = () => undefined
  private readonly clock: ManualClock
  private readonly random: SeededRandom

  constructor(clock: ManualClock, random: SeededRandom) {
    this.clock = clock
    this.random = random
  }

  process(pack: readonly Work[]): void {
    try {
      this.watch(pack)
    } catch (error) {
      this.problem ??= error
    }
    for (const work of pack) {
      this.started.push(work.message)
      this.walk(work, { open: 1, hasFailed: false }, 0)
    }
  }

  private walk(work: Work, attempt: Try, depth: number): void {
    const step = (): void => {
      const draw = this.random.next()
      if (draw < 0.01) {
        this.hung++
        return
      }
      if (draw < 0.35 && depth < 5) {
        const further = this.random.below(4)
        work.branch(further)
        attempt.open += further
        for (let branch = 0; branch <= further; branch++) this.walk(work, attempt, depth + 1)
        return
      }
      const error = draw < 0.42 ? this.failure() : undefined
      attempt.hasFailed ||= error !== undefined
      if (--attempt.open === 0 && !attempt.hasFailed) this.succeeded.add(work.message.id)
      work.end(error)
    }
    const when = this.random.next()
    if (when < 0.5) step()
    else if (when < 0.8) this.clock.soon(step)
    else this.clock.after(this.random.below(8000), step)
  }

  private failure(): Error {
    const draw = this.random.next()
    if (draw < 0.1) return TestErrors.AWAY()
    return draw < 0.2 ? TestErrors.BAD() : new Error('branch failed')
  }
}

/** Every pair of strategies in turn; the rest by chance. */
function settingsOf(number: number, random: SeededRandom): QueueSettings {
  const submit = SUBMIT_STRATEGIES[number % SUBMIT_STRATEGIES.length] ?? 'BURST'
  const nth = Math.floor(number / SUBMIT_STRATEGIES.length) % PROCESSING_STRATEGIES.length
  return {
    submit,
    processing: PROCESSING_STRATEGIES[nth] ?? 'RETRY_ALL',
    batchSize: 1 + random.below(5),
    retries: random.chance(0.2) ? Infinity : random.below(4),
    failurePercentage: random.chance(0.3) ? 1 + random.below(60) : 0,
    pauseBetweenRetriesMs: random.below(3) * 500,
    maxPauseBetweenRetriesMs: 4000,
    maxHeld: 4 + random.below(20),
    tenantShare: 0.25,
    crowdingTimeoutMs: 5000,
    triesBeforeParking: 1 + random.below(3),
    maxInFlightPerOriginator: 1 + random.below(5),
    processingTimeoutMs: 5000,
  }
}

function laneOf(submit: QueueSettings['submit'], { originator, tenantId }: Message): string {
  if (submit === 'SEQUENTIAL') return ''
  return submit === 'SEQUENTIAL_BY_TENANT' ? tenantId : originator.id
}

/** What may be in process side by side, and in which order messages start. */
function watchOrder(settings: QueueSettings, processor: RandomProcessor, queue: () => Queue): void {
  const isSequential = settings.submit.startsWith('SEQUENTIAL')
  const last = new Map<string, number>()
  const seen = new Set<number>()
  processor.watch = (pack) => {
    const { inFlight } = queue().figures()
    if (settings.submit === 'BATCH') assert.ok(inFlight <= settings.batchSize, `${inFlight} in a batch`)
    if (settings.submit === 'SEQUENTIAL') assert.equal(inFlight, 1)
    for (const { message: started } of pack) {
      const { sequence } = started
      const lane = laneOf(settings.submit, started)
      // Of other strategies only the first tries are in order: a failed message is passed by what was in process beside it.
      if (!isSequential && seen.has(sequence)) continue
      seen.add(sequence)
      assert.ok(sequence >= (last.get(lane) ?? 0), `${sequence} of ${lane} started behind ${last.get(lane)}`)
      last.set(lane, sequence)
    }
  }
}

function checkOutcomes(
  link: MemoryLink,
  processor: RandomProcessor,
  published: readonly Message[],
  settings: readonly QueueSettings[],
  queue: Queue,
): void {
  assert.ifError(processor.problem)
  const figures = queue.figures()
  assert.deepEqual(
    [figures.held, figures.inFlight, figures.failingLanes, link.undelivered],
    [0, 0, 0, 0],
    'nothing is stuck',
  )
  const buried = link.buried.map(({ delivery }) => delivery.message.id)
  const settled = link.settled.map(({ id }) => id)
  assert.equal(settled.length + buried.length, published.length)
  assert.deepEqual(new Set([...settled, ...buried]), new Set(published.map(({ id }) => id)))
  assert.equal(figures.settled + figures.skipped + figures.buried, published.length)
  const started = new Set(processor.started.map(({ id }) => id))
  assert.ok(
    published.every(({ id }) => started.has(id)),
    'every message was started',
  )
  const skips = settings.filter(({ processing }) => processing.startsWith('SKIP'))
  if (skips.length === settings.length) assert.deepEqual(buried, [])
  if (skips.length > 0) return
  assert.equal(figures.skipped, 0)
  assert.ok(
    settled.every((id) => processor.succeeded.has(id)),
    'what was settled had succeeded',
  )
  const retries = Math.max(...settings.map((each) => each.retries))
  for (const { delivery } of link.buried) assert.ok(delivery.attempt <= retries + 1)
}

async function run(seed: number): Promise<{ hung: number; failures: number }> {
  const random = new SeededRandom(seed)
  const clock = new ManualClock()
  const link = new MemoryLink()
  const processor = new RandomProcessor(clock, random)
  const settings = [settingsOf(seed, random)]
  const queue = createQueue({ link, processor, clock, settings: settings[0] ?? {} })
  const changes = random.chance(0.25)
  if (!changes) watchOrder(settings[0] ?? assert.fail(), processor, () => queue)
  const published = Array.from({ length: MESSAGES }, () => {
    const device = random.below(5)
    return message({ device, tenantId: `tenant ${device % 2}` })
  })
  for (const each of published) {
    link.publish(each)
    if (random.chance(0.1)) await clock.advance(random.below(50))
    if (!changes || !random.chance(0.1)) continue
    const next = settingsOf(random.below(30), random)
    settings.push(next)
    queue.apply(next)
  }
  for (let step = 0; step < 20_000 && clock.pendingTimers > 0; step++) await clock.advance(clock.untilNextTimerMs ?? 1)
  checkOutcomes(link, processor, published, settings, queue)
  return { hung: processor.hung, failures: queue.figures().failed }
}

test('Q2: under every strategy every message of any graph has exactly one outcome and nothing is stuck', async () => {
  let hung = 0
  let failures = 0
  for (let seed = firstSeed; seed < firstSeed + cases; seed++) {
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
  assert.ok(failures > cases && (hung > 0 || cases < 20), `${failures} failures and ${hung} hung branches were walked`)
})
