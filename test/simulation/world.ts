/**
 * One history: devices send, the engine runs on a simulated disk and store, faults and crashes come by seed, and at the end
 * everything must be settled. The rule chain is real: a fan-out to two saving nodes, one of which throws at poison.
 */
import assert from 'node:assert/strict'
import type { TimerHandle } from '../../model/clock.ts'
import { Message } from '../../model/message.ts'
import { ManualClock, SeededRandom } from '../../engine/actor/testkit.ts'
import type { Durability } from '../../disk/disk.ts'
import { openSegmentLog, type SegmentLog } from '../../engine/link/segments/segment-log.ts'
import { SimulatedDisk } from '../../engine/link/testkit.ts'
import type { ParkedStore } from '../../engine/parking/parked-store.ts'
import { openDiskStore } from '../../engine/parking/testkit.ts'
import { createQueue, type Queue } from '../../engine/queue/queue.ts'
import { TENANT_ID } from '../../engine/rulechain/testkit.ts'
import type { RuleEngine } from '../../engine/rulechain/rule-engine.ts'
import { Checker, messageId } from './checker.ts'
import { RunClock } from './run-clock.ts'
import { chainBugOf, OTHER_TENANT_ID, startSimulatedChain } from './simulated-chain.ts'
import { SimulatedStore } from './simulated-store.ts'
import { TwiceLink, type Repetition } from './twice-link.ts'
import { WatchedLink, type PlantedBug } from './watched-link.ts'
import { WatchedParking } from './watched-parking.ts'

const DEVICES = 5
const MESSAGES = 24
const FAULTS_UNTIL_MS = 8000
const LIMIT_MS = 3_600_000
const PARKED_REST_MS = 30

export interface HistoryResult {
  readonly sent: number
  readonly acknowledged: number
  readonly refused: number
  readonly starts: number
  readonly crashes: number
  readonly deadLetters: number
}

/** Lives through one history, with everything delivered twice where a way is named. Throws what the checker found. */
export async function liveThrough(seed: number, bug?: PlantedBug, repetition?: Repetition): Promise<HistoryResult> {
  const world = new World(seed, bug, repetition)
  await world.run()
  return world.result()
}

interface EngineRun {
  readonly clock: RunClock
  log?: SegmentLog
  link?: WatchedLink
  engine?: RuleEngine
  queue?: Queue
  parking?: WatchedParking
  parked?: ParkedStore
  /** Being closed: takes nothing. */
  isClosing: boolean
  /** The disk failed and no write has succeeded since. */
  isDiskFailing: boolean
}

class World {
  private readonly clock = new ManualClock()
  private readonly random: SeededRandom
  private readonly disk: SimulatedDisk
  private readonly store: SimulatedStore
  private readonly checker: Checker
  private readonly bug: PlantedBug | undefined
  private readonly repetition: Repetition | undefined
  private readonly durability: Durability
  private readonly maxInFlightPerOriginator: number
  private readonly retentionMs: number
  private readonly triesBeforeParking: number
  private readonly maxHeld: number
  private readonly counters = new Array<number>(DEVICES).fill(0)
  private current: EngineRun | undefined
  private restart: TimerHandle | undefined
  private crashes = 0
  private deadLetters = 0
  private failure: { readonly error: unknown } | undefined

  constructor(seed: number, bug: PlantedBug | undefined, repetition: Repetition | undefined) {
    this.random = new SeededRandom(seed)
    this.bug = bug
    this.repetition = repetition
    this.durability = this.random.chance(0.7) ? 'power-cut' : 'process-death'
    const isStrict = this.random.chance(0.5)
    this.retentionMs = this.random.chance(0.5) ? 0 : 1000
    this.maxInFlightPerOriginator = isStrict ? 1 : 4
    this.triesBeforeParking = 1 + this.random.below(3)
    // A small one is crowded where the store is slow: then one tenant makes room for the other.
    this.maxHeld = this.random.chance(0.5) ? 12 : 6
    this.disk = new SimulatedDisk(this.clock, this.random)
    this.store = new SimulatedStore(this.clock, this.random)
    // Where a pack comes again, the next message begins before the second delivery of the one before.
    this.checker = new Checker({ isStrict: isStrict && (repetition === undefined || repetition === 'message') })
  }

  result(): HistoryResult {
    const { acknowledged, refused, starts } = this.checker
    const sent = this.counters.reduce((sum, count) => sum + count, 0)
    return { sent, acknowledged, refused, starts, crashes: this.crashes, deadLetters: this.deadLetters }
  }

  async run(): Promise<void> {
    this.start()
    for (let device = 0; device < DEVICES; device++) this.sendLater(device)
    this.disturbLater()
    while (!this.isOver()) {
      assert.ok(this.clock.monotonic() < LIMIT_MS, this.stuck())
      await this.clock.advance(Math.max(0.01, this.clock.untilNextTimerMs ?? 10))
      if (this.failure !== undefined) throw this.failure.error
    }
    const listing = this.current?.log?.deadLetters.list({ limit: DEVICES * MESSAGES })
    assert.ok(listing !== undefined)
    let isListed = false
    void listing.then(() => (isListed = true))
    while (!isListed) await this.clock.advance(1)
    const letters = await listing
    this.deadLetters = letters.length
    this.checker.finish(this.store.state, letters)
  }

  /** The checker's assertions are thrown in the middle of the engine's work, which may catch them: they are kept here. */
  private watch<Value>(check: () => Value): Value {
    try {
      return check()
    } catch (error) {
      this.failure ??= { error }
      throw error
    }
  }

  private isOver(): boolean {
    const { log, queue, parking } = this.current ?? {}
    if (log === undefined || queue === undefined || this.clock.monotonic() < FAULTS_UNTIL_MS) return false
    if (this.counters.some((count) => count < MESSAGES)) return false
    const { pending, unsettled } = log.figures()
    return pending === 0 && unsettled === 0 && queue.figures().held === 0 && (parking?.figures().messages ?? 0) === 0
  }

  private stuck(): string {
    const figures = {
      log: this.current?.log?.figures(),
      queue: this.current?.queue?.figures(),
      parking: this.current?.parking?.figures(),
      sent: this.counters,
    }
    return `stuck: ${JSON.stringify(figures)}`
  }

  private sendLater(device: number): void {
    if ((this.counters[device] ?? 0) >= MESSAGES) return
    this.clock.after(this.random.below(400), () => {
      const burst = 1 + this.random.below(4)
      for (let count = 0; count < burst && (this.counters[device] ?? 0) < MESSAGES; count++) this.send(device)
      this.sendLater(device)
    })
  }

  private send(device: number): void {
    const run = this.current
    if (run?.link === undefined || run.isClosing) return
    const counter = (this.counters[device] = (this.counters[device] ?? 0) + 1)
    const value = this.random.below(1_000_000)
    const message = new Message({
      id: messageId(device, counter),
      ts: this.clock.now(),
      type: 'POST_TELEMETRY_REQUEST',
      // One that holds little where the others fill the queue.
      tenantId: device === 0 ? OTHER_TENANT_ID : TENANT_ID,
      originator: { entityType: 'DEVICE', id: `device ${device}` },
      metadata: { deviceName: `device ${device}`, ts: String(this.clock.now()) },
      data: this.random.chance(0.03)
        ? `{"poison":${value}}`
        : `{"temperature":${value},"pad":"${'x'.repeat(value % 300)}"}`,
    })
    this.checker.published(message, device, counter)
    const mark = this.checker.settleMark
    run.link.publish(message, {
      stored: () => this.watch(() => this.checker.stored(message.id, mark)),
      refused: () => this.watch(() => this.checker.wasRefused(message.id)),
    })
  }

  /** One disturbance after the other, until it is time to let everything settle. */
  private disturbLater(): void {
    this.clock.after(20 + this.random.below(1500), () => {
      this.calm()
      if (this.clock.monotonic() >= FAULTS_UNTIL_MS) return
      this.disturb()
      this.disturbLater()
    })
  }

  private calm(): void {
    this.disk.faults.failedWrite = 0
    this.disk.faults.failedSync = 0
    this.disk.faults.capacity = Infinity
    this.store.failedCommit = 0
    this.store.maxLatencyMs = 5
  }

  private disturb(): void {
    const draw = this.random.next()
    if (draw < 0.35) this.crash()
    else if (draw < 0.45) void this.restartCleanly()
    else if (draw < 0.55) this.disk.faults.failedWrite = 0.3
    else if (draw < 0.65) this.disk.faults.failedSync = 0.3
    else if (draw < 0.75) this.disk.faults.capacity = this.disk.usedBytes + this.random.below(500)
    else if (draw < 0.9) this.store.failedCommit = 0.7
    else this.store.maxLatencyMs = 5000
  }

  private crash(): void {
    const kind = this.durability === 'power-cut' && this.random.chance(0.6) ? 'power-cut' : 'process-death'
    this.crashes++
    this.current?.clock.kill()
    this.current = undefined
    this.disk.crash(kind)
    this.store.crash()
    this.restart?.cancel()
    this.restart = this.clock.after(this.random.below(100), () => this.start())
  }

  private async restartCleanly(): Promise<void> {
    const run = this.current
    if (run?.log === undefined || run.isClosing) return
    run.isClosing = true
    // A disk that recovers before the end has not got the settles that it refused: those messages come again.
    const wasFailing = run.isDiskFailing
    await run.queue?.close()
    await run.engine?.close()
    await run.parking?.close()
    await run.parked?.close()
    await run.log.close()
    // A crash may have come between.
    if (this.current !== run) return
    run.clock.kill()
    if (!wasFailing && !run.isDiskFailing) this.checker.closedCleanly()
    this.store.crash()
    this.start()
  }

  private start(): void {
    const run: EngineRun = { clock: new RunClock(this.clock), isClosing: false, isDiskFailing: false }
    this.current = run
    this.checker.newRun()
    this.open(run).catch((error: unknown) => {
      if (this.current !== run) return
      // The disk would not let the log open: the supervisor of the process tries again.
      run.clock.kill()
      this.clock.after(200, () => {
        if (this.current === run) this.start()
      })
      if (!/EIO|ENOSPC/.test(String(error))) this.failure ??= { error }
    })
  }

  private async open(run: EngineRun): Promise<void> {
    const { clock } = run
    const log = await openSegmentLog({
      directory: 'log',
      disk: this.disk,
      clock,
      durability: this.durability,
      partitions: 4,
      onEvent: ({ kind }) => {
        if (kind === 'disk-failed') run.isDiskFailing = true
        else if (kind === 'disk-recovered') run.isDiskFailing = false
      },
      bounds: { segmentBytes: 3000, maxMemoryMessages: 8, maxPendingMessages: 40, retentionMs: this.retentionMs },
    })
    // As in production it rests behind a write: whoever crashes does so in rests too.
    const parked = await openDiskStore(this.disk, clock, 'parked', PARKED_REST_MS)
    const parking = new WatchedParking(
      {
        clock,
        letters: log.letters,
        partitionOf: () => 0,
        bounds: { maxBytes: 1 << 20, maxTenantBytes: 1 << 20 },
        maxInProcess: 6,
        onFull: () => undefined,
        onEvent: () => undefined,
      },
      this.checker,
      this.bug,
    )
    parking.open(parked)
    const link = new WatchedLink(log, this.checker, clock, this.bug, parking.isParked)
    const engine = await startSimulatedChain({
      clock,
      random: this.random,
      link,
      onError: (error) => void (this.failure ??= { error }),
      started: (message) => this.watch(() => this.checker.startedProcessing(message)),
      save: (key, value, done) => this.store.save(key, value, done),
      bug: chainBugOf(this.bug),
    })
    if (this.current !== run) return
    const settings = {
      maxHeld: this.maxHeld,
      maxInFlightPerOriginator: this.bug === 'lane does not wait' ? 4 : this.maxInFlightPerOriginator,
      retries: 3,
      triesBeforeParking: this.triesBeforeParking,
      pauseBetweenRetriesMs: 100,
      maxPauseBetweenRetriesMs: 1000,
      processingTimeoutMs: 2000,
    }
    const delivering = this.repetition === undefined ? link : new TwiceLink(link, this.repetition)
    const queue = createQueue({
      link: delivering,
      processor: engine,
      clock,
      settings,
      // What is parked is delivered once: there the second delivery is known.
      ...(this.repetition === undefined ? { parking } : {}),
    })
    Object.assign(run, { log, link, engine, queue, parking, parked })
  }
}
