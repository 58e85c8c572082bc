/**
 * One history of a cluster: three engines with the link of a broker, one store, on one simulated clock. Devices send, faults come by
 * seed, and at the end everything must be settled.
 */
import assert from 'node:assert/strict'
import { ManualClock, SeededRandom } from '../../engine/actor/testkit.ts'
import type { DeadLetter } from '../../engine/link/dead-letters.ts'
import { FrameLink } from '../../engine/link/frame-link.ts'
import { createQueue, type Queue } from '../../engine/queue/queue.ts'
import type { RuleEngine } from '../../engine/rulechain/rule-engine.ts'
import { ClusterChecker } from './cluster-checker.ts'
import { ClusteredLink, type ClusterBug } from './clustered-link.ts'
import { RunClock } from './run-clock.ts'
import { chainBugOf, startSimulatedChain } from './simulated-chain.ts'
import { SimulatedStreams, type SimulatedBroker } from './simulated-broker.ts'
import { SimulatedDevice, type Entry } from './simulated-device.ts'
import { SimulatedLetters } from './simulated-letters.ts'
import { SimulatedMembership } from './simulated-membership.ts'
import { SimulatedStore } from './simulated-store.ts'
import { TwiceLink, type Repetition } from './twice-link.ts'

const ENGINES = 3
const PARTITIONS = 7
const STREAMS = 4
const DEVICES = 5
const MESSAGES = 16
const FAULTS_UNTIL_MS = 9000
const LIMIT_MS = 600_000

export interface ClusterHistory {
  readonly sent: number
  readonly acknowledged: number
  readonly refused: number
  readonly starts: number
  readonly repeats: number
  readonly takeOvers: number
  readonly crashes: number
  readonly pauses: number
  readonly cuts: number
  readonly deadLetters: number
}

/** Lives through one history, with everything delivered twice where a way is named. Throws what the checker found. */
export async function liveThroughCluster(
  seed: number,
  bug?: ClusterBug,
  repetition?: Repetition,
): Promise<ClusterHistory> {
  const world = new ClusterWorld(seed, bug, repetition)
  await world.run()
  return world.result()
}

/** One life of an engine's process. */
interface EngineRun {
  readonly id: string
  readonly clock: RunClock
  readonly broker: SimulatedBroker
  readonly link: FrameLink
  readonly watched: ClusteredLink
  engine?: RuleEngine
  queue?: Queue
  isClosing: boolean
}

class ClusterWorld {
  private readonly clock = new ManualClock()
  private readonly random: SeededRandom
  private readonly bug: ClusterBug | undefined
  private readonly repetition: Repetition | undefined
  private readonly checker: ClusterChecker
  private readonly store: SimulatedStore
  private readonly letters: DeadLetter[] = []
  private readonly streams: SimulatedStreams
  private readonly membership: SimulatedMembership
  private readonly isStrict: boolean
  /** Little room has a queue full of what was delivered when the last frame comes. */
  private readonly maxHeld: number
  private readonly retentionMs: number
  private readonly runs: (EngineRun | undefined)[] = new Array<undefined>(ENGINES).fill(undefined)
  private readonly devices: readonly SimulatedDevice[]
  private readonly counts = { crashes: 0, pauses: 0, cuts: 0 }
  private failure: { readonly error: unknown } | undefined

  constructor(seed: number, bug: ClusterBug | undefined, repetition: Repetition | undefined) {
    const random = (this.random = new SeededRandom(seed))
    this.bug = bug
    this.repetition = repetition
    this.isStrict = random.chance(0.5)
    this.maxHeld = random.chance(0.5) ? 3 : 12
    this.retentionMs = random.chance(0.5) ? 0 : 300
    this.store = new SimulatedStore(this.clock, random)
    // Where a pack comes again, the next message begins before the second delivery of the one before.
    const isStrict = this.isStrict && (repetition === undefined || repetition === 'message')
    this.checker = new ClusterChecker({ state: this.store.state, letters: this.letters }, isStrict)
    const { checker, watch } = this
    this.streams = new SimulatedStreams(this.clock, random, STREAMS, {
      frameStored: (stream, position, body) => watch(() => checker.frameStored(stream, position, body)),
      frameLeaves: (stream, position) => watch(() => checker.frameLeaves(stream, position)),
      recordWritten: (stream, body) => watch(() => checker.recordWritten(stream, body)),
    })
    this.streams.deduplicates = bug !== 'no deduplication'
    this.streams.fencesRecords = bug !== 'records of a fenced owner count'
    this.membership = new SimulatedMembership(this.clock, random)
    this.devices = Array.from({ length: DEVICES }, (_, index) => this.device(index + 1))
  }

  result(): ClusterHistory {
    const { acknowledged, refused, starts, repeats, takeOvers } = this.checker
    const sent = this.devices.reduce((sum, { sentCount }) => sum + sentCount, 0)
    const deadLetters = this.letters.length
    return { sent, acknowledged, refused, starts, repeats, takeOvers, ...this.counts, deadLetters }
  }

  async run(): Promise<void> {
    for (let place = 0; place < ENGINES; place++) this.start(place)
    this.disturbLater()
    while (!this.isOver()) {
      assert.ok(this.clock.monotonic() < LIMIT_MS, this.stuck())
      await this.clock.advance(Math.max(0.01, this.clock.untilNextTimerMs ?? 10))
      if (this.failure !== undefined) throw this.failure.error
    }
    this.checker.finish()
  }

  /** Checks are made in the middle of the engine's work, which may catch what they throw: it is kept here. */
  private readonly watch = (check: () => void): void => {
    try {
      check()
    } catch (error) {
      this.failure ??= { error }
      throw error
    }
  }

  private isOver(): boolean {
    if (this.clock.monotonic() < FAULTS_UNTIL_MS || this.streams.frameCount > 0) return false
    return this.devices.every(({ isDone }) => isDone)
  }

  private stuck(): string {
    const links = this.runs.map((run) => run?.link.figures())
    return `stuck: ${JSON.stringify({ frames: this.streams.frameCount, links, sent: this.result().sent })}`
  }

  private device(number: number): SimulatedDevice {
    const { clock, random, checker, watch } = this
    const window = random.chance(0.5) ? 1 : 4
    return new SimulatedDevice({
      number,
      messages: MESSAGES,
      window,
      clock,
      random,
      checker,
      watch,
      connect: () => this.entry(),
    })
  }

  private entry(): Entry | undefined {
    const open = this.runs.filter((run) => run !== undefined && isOpen(run))
    const run = open[this.random.below(open.length)]
    return run === undefined ? undefined : { link: run.watched, isOpen: () => isOpen(run) }
  }

  private start(place: number): void {
    const { random, streams, checker, bug } = this
    const clock = new RunClock(this.clock)
    const id = `engine ${place} of ${Math.floor(this.clock.monotonic())}`
    const broker = streams.connect(clock)
    const membership = this.membership.join(id, clock)
    const letters = new SimulatedLetters(this.letters, this.clock, clock, random)
    const bounds = { maxOpenFrames: 8, maxMemoryMessages: 4, maxPendingMessages: 40, retentionMs: this.retentionMs }
    const link = new FrameLink({ broker, partitions: PARTITIONS, letters, membership, clock, random, bounds })
    const watched = new ClusteredLink(link, id, checker, clock, bug)
    const run: EngineRun = { id, clock, broker, link, watched, isClosing: false }
    this.runs[place] = run
    this.open(run).catch((error: unknown) => {
      if (run.clock.isAlive) this.failure ??= { error }
    })
  }

  private async open(run: EngineRun): Promise<void> {
    const { clock, watched: link } = run
    const engine = await startSimulatedChain({
      clock,
      random: this.random,
      link,
      onError: (error) => void (this.failure ??= { error }),
      started: (message) => this.watch(() => link.started(message)),
      save: (key, value, done) => this.store.save(key, value, (error) => clock.arrive(() => done(error))),
      bug: chainBugOf(this.bug),
    })
    if (!clock.isAlive) return
    const settings = {
      maxHeld: this.maxHeld,
      maxInFlightPerOriginator: this.isStrict && this.bug !== 'lane does not wait' ? 1 : 4,
      retries: 3,
      pauseBetweenRetriesMs: 100,
      maxPauseBetweenRetriesMs: 1000,
      processingTimeoutMs: 2000,
    }
    const delivering = this.repetition === undefined ? link : new TwiceLink(link, this.repetition)
    Object.assign(run, { engine, queue: createQueue({ link: delivering, processor: engine, clock, settings }) })
  }

  /** One disturbance after the other, some on top of one another, until it is time to let everything settle. */
  private disturbLater(): void {
    this.clock.after(20 + this.random.below(1200), () => {
      if (this.clock.monotonic() >= FAULTS_UNTIL_MS) return this.calm()
      if (this.random.chance(0.6)) this.calm()
      this.disturb()
      this.disturbLater()
    })
  }

  private calm(): void {
    Object.assign(this.streams.faults, { lostRequest: 0, lostAnswer: 0, repeatedPublish: 0, maxDelayMs: 3 })
    this.streams.capacity = Infinity
    this.store.failedCommit = 0
    this.store.maxLatencyMs = 5
    this.membership.agree()
  }

  private disturb(): void {
    const { random, streams } = this
    const place = random.below(ENGINES)
    const draw = random.next()
    if (draw < 0.2) this.crash(place)
    else if (draw < 0.28) void this.restartCleanly(place)
    else if (draw < 0.43) this.pause(place)
    else if (draw < 0.55) this.cut(place)
    else if (draw < 0.62) for (let each = 0; each < ENGINES; each++) this.cut(each)
    else if (draw < 0.72) Object.assign(streams.faults, { lostRequest: 0.2, lostAnswer: 0.2, repeatedPublish: 0.3 })
    else if (draw < 0.78) streams.faults.maxDelayMs = 400
    else if (draw < 0.83) streams.capacity = 2
    else if (draw < 0.9) this.membership.disagree()
    else if (draw < 0.96) this.store.failedCommit = 0.7
    else this.store.maxLatencyMs = 5000
  }

  private crash(place: number): void {
    const run = this.runs[place]
    if (run === undefined) return
    this.counts.crashes++
    this.runs[place] = undefined
    run.clock.kill()
    run.broker.cut()
    this.membership.leave(run.id, false)
    this.clock.after(this.random.below(3000), () => this.start(place))
  }

  private async restartCleanly(place: number): Promise<void> {
    const run = this.runs[place]
    if (run?.queue === undefined || run.isClosing) return
    run.isClosing = true
    await run.queue.close()
    await run.engine?.close()
    await run.link.close()
    // It may have crashed meanwhile.
    if (this.runs[place] !== run) return
    run.clock.kill()
    run.broker.cut()
    this.membership.leave(run.id, true)
    this.start(place)
  }

  /** The process stands still, as after SIGSTOP. */
  private pause(place: number): void {
    const run = this.runs[place]
    if (run === undefined || run.clock.isPaused) return
    this.counts.pauses++
    run.clock.pause()
    this.membership.fallSilent(run.id)
    this.clock.after(200 + this.random.below(7000), () => {
      run.clock.goOn()
      this.membership.speakAgain(run.id)
    })
  }

  private cut(place: number): void {
    const run = this.runs[place]
    if (run === undefined || run.broker.isCut) return
    this.counts.cuts++
    run.broker.cut()
    this.membership.fallSilent(run.id)
    this.clock.after(100 + this.random.below(5000), () => {
      if (!run.clock.isAlive) return
      run.broker.mend()
      this.membership.speakAgain(run.id)
    })
  }
}

/** A process that stands still keeps its sockets open: devices connect and wait. */
function isOpen(run: EngineRun): boolean {
  return run.queue !== undefined && !run.isClosing && run.clock.isAlive
}
