/**
 * From the link to the rule engine and back: packs out, outcomes in. Every delivery ends in exactly one of: settled, skipped (settled
 * though it failed, where the queue ignores failures), or buried: after its last try, or at once where trying again is no use.
 * Another failed message waits and is tried again at the head of its lane, its tries noted durably, while other lanes go on.
 * `docs/internals/queues.md` has the strategies.
 *
 * Bounded by `maxHeld`: when it is reached the link keeps the rest on disk, and in the end senders are slowed.
 */
import type { Clock } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import { MAIN_QUEUE, type Delivery, type Link, type LinkConsumer } from '../link/link.ts'
import { QueueErrors } from './errors.ts'
import type { QueueFigures } from './figures.ts'
import type { Attempt, Lane } from './lane.ts'
import { Lanes, haveSameLanes, inLogOrder, isSequential } from './lanes.ts'
import { Outages } from './outages.ts'
import { PackWork, type Pack, type WorkOwner } from './pack-work.ts'
import { Packs } from './packs.ts'
import { Pauses } from './pauses.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from './settings.ts'
import { judgesPacks, runsOnAfterTimeout, verdictOf, verdictsOf, type Verdict } from './verdict.ts'
import { weightOf } from './weight.ts'
import type { WorkProcessor } from './work.ts'

export interface QueueOptions {
  readonly link: Link
  /** As the link calls it; absent is `Main`. */
  readonly queueName?: string
  readonly processor: WorkProcessor
  readonly clock: Clock
  readonly settings?: Partial<QueueSettings>
  /** Hears with which failure an outage began, and once that none is left: for the log. Must not throw. */
  readonly onOutage?: (failure: Error | undefined) => void
}

export interface Queue {
  /** Other settings hold from now on for what it holds and what comes: no message is lost or run twice for it. */
  apply(settings: Partial<QueueSettings>): void
  /**
   * Takes nothing more, ends what it holds, and gives the link's queue up: what comes goes to `Main`, behind what was held. Resolves
   * with true then, with false where it was closed before or `apply` took it back. Where it retried without end, it now does so a bounded
   * number of times.
   */
  retire(): Promise<boolean>
  /** Takes nothing more, waits for what is in process, settles it. Idempotent. */
  close(): Promise<void>
  figures(): QueueFigures
}

export type { QueueFigures } from './figures.ts'

/** Starts to consume the link at once. */
export function createQueue(options: QueueOptions): Queue {
  const queue = new PackQueue(options)
  queue.start()
  return queue
}

const MAX_FAILED_UNDER_BACKPRESSURE = 3

class PackQueue implements Queue, LinkConsumer, WorkOwner {
  private readonly link: Link
  private readonly queueName: string
  private readonly processor: WorkProcessor
  private readonly clock: Clock
  private settings: QueueSettings
  /** Settings with other lanes: they hold once nothing is in process. */
  private nextSettings: QueueSettings | undefined
  private lanes: Lanes
  private readonly failing = new Set<Lane>()
  private readonly outages: Outages
  private readonly pauses: Pauses
  private readonly packs: Packs
  /** Works that may start: handed out as one pack at the end of the turn that gathered them; batch by batch under BATCH. */
  private starting: PackWork[] = []
  private settled: Delivery[] = []
  private isTurnAsked = false
  private held = 0
  private heldWeight = 0
  private inFlight = 0
  private giveUp: (() => void) | undefined
  private retiring: { readonly promise: Promise<boolean>; readonly end: (isGone: boolean) => void } | undefined
  private isClosing = false
  private closing: Promise<void> | undefined
  private whenDrained: (() => void) | undefined
  private readonly counts = { received: 0, settled: 0, failed: 0, timedOut: 0, retried: 0, skipped: 0, buried: 0 }

  constructor(options: QueueOptions) {
    this.link = options.link
    this.queueName = options.queueName ?? MAIN_QUEUE
    this.processor = options.processor
    this.clock = options.clock
    this.outages = new Outages(options.onOutage ?? (() => undefined))
    this.settings = { ...DEFAULT_QUEUE_SETTINGS, ...options.settings }
    this.lanes = new Lanes(this.settings.submit)
    this.pauses = new Pauses(options.clock, (lanes) => this.retry(lanes))
    this.packs = new Packs(options.clock, (pack) => this.timeOut(pack))
  }

  start(): void {
    this.giveUp = this.link.consume(this, this.queueName)
  }

  room(): number {
    return this.takesNothing ? 0 : this.settings.maxHeld - this.heldWeight
  }

  deliver(batch: readonly Delivery[]): void {
    if (this.isClosing) return
    this.held += batch.length
    this.counts.received += batch.length
    for (const delivery of batch) {
      this.heldWeight += weightOf(delivery)
      const lane = this.lanes.of(delivery.message)
      const attempt = { delivery, attempt: delivery.attempt }
      if (this.mustWait(lane)) this.wait(lane, attempt)
      else this.begin(lane, attempt)
    }
    this.handOut()
  }

  ended(work: PackWork): void {
    const { pack } = work
    if (pack === undefined) return
    pack.open--
    if (work.error !== undefined) this.counts.failed++
    if (work.isTimedOut) this.counts.timedOut++
    if (!pack.isJudgedAsOne) this.conclude(work, verdictOf(work, this.settings))
    else if (pack.open === 0) this.judge(pack.works)
    if (pack.open === 0) pack.works = []
    this.askTurn()
  }

  figures(): QueueFigures {
    const { counts, held, inFlight } = this
    return { ...counts, packs: this.packs.count, held, inFlight, failingLanes: this.failing.size }
  }

  apply(change: Partial<QueueSettings>): void {
    const settings = { ...DEFAULT_QUEUE_SETTINGS, ...change }
    const { retiring } = this
    this.retiring = undefined
    retiring?.end(false)
    this.nextSettings = undefined
    if (haveSameLanes(settings.submit, this.settings.submit)) {
      this.settings = settings
      // They may have more room, or have waited for other lanes that are not to come.
      for (const lane of this.lanes.all()) this.release(lane)
    } else this.nextSettings = settings
    this.askTurn()
  }

  retire(): Promise<boolean> {
    if (this.retiring !== undefined) return this.retiring.promise
    if (this.isClosing) return Promise.resolve(false)
    let end: (isGone: boolean) => void = () => undefined
    const promise = new Promise<boolean>((resolve) => (end = resolve))
    this.retiring = { promise, end }
    const retries = Math.min(this.settings.retries, DEFAULT_QUEUE_SETTINGS.retries)
    this.settings = { ...this.settings, retries }
    this.askTurn()
    return promise
  }

  close(): Promise<void> {
    return (this.closing ??= this.drain())
  }

  /** Nothing new starts: it stops, or its lanes are about to be others. */
  private get isStill(): boolean {
    return this.isClosing || this.nextSettings !== undefined
  }

  private get takesNothing(): boolean {
    return this.isStill || this.retiring !== undefined
  }

  private get maxInFlight(): number {
    return isSequential(this.settings.submit) ? 1 : this.settings.maxInFlightPerOriginator
  }

  private mustWait(lane: Lane): boolean {
    return this.isStill || lane.hasFailed || lane.waitingCount > 0 || lane.inFlight >= this.maxInFlight
  }

  private begin(lane: Lane, attempt: Attempt): void {
    lane.inFlight++
    this.starting.push(new PackWork(this, attempt.delivery, attempt.attempt, lane))
  }

  /** Gives the works that gathered to the processor, as one pack with one deadline. */
  private handOut(): void {
    if (this.starting.length === 0 || this.isStill) return
    let works = this.starting
    if (this.settings.submit === 'BATCH') {
      if (this.inFlight > 0) return
      works = this.starting.splice(0, this.settings.batchSize)
    } else this.starting = []
    this.inFlight += works.length
    this.packs.open(works, this.settings.processingTimeoutMs, judgesPacks(this.settings))
    try {
      this.processor.process(works)
    } catch (error) {
      // It promised not to: whatever it left open has failed.
      const failure = QueueErrors.PROCESSOR_FAILED({ reason: errorText(error) }, error)
      for (const work of works) work.fail(failure)
    }
  }

  private timeOut(pack: Pack): void {
    const { processing, processingTimeoutMs } = this.settings
    const error = QueueErrors.PROCESSING_TIMEOUT({ limit: processingTimeoutMs })
    const runsOn = runsOnAfterTimeout(processing)
    for (const work of pack.works) work.timeOut(error, runsOn)
  }

  private judge(works: readonly PackWork[]): void {
    const verdicts = verdictsOf(works, this.settings)
    const isOver = (verdict: Verdict | undefined): boolean =>
      verdict === 'settle' || verdict === 'skip' || verdict === 'bury'
    // First what is tried again: it holds its lane before anything behind it could start.
    for (const [index, work] of works.entries()) {
      const verdict = verdicts[index]
      if (verdict !== undefined && !isOver(verdict)) this.conclude(work, verdict)
    }
    for (const [index, work] of works.entries()) {
      const verdict = verdicts[index]
      if (verdict !== undefined && isOver(verdict)) this.conclude(work, verdict)
    }
  }

  private conclude(work: PackWork, verdict: Verdict): void {
    const { lane, delivery, attempt } = work
    lane.ended()
    this.inFlight--
    if (verdict === 'wait') {
      lane.putBack({ delivery, attempt })
      this.outages.met(lane, work.error)
      this.pause(lane, lane.outages)
      return
    }
    this.outages.over(lane)
    if ((verdict === 'retry' && !this.mustMakeRoom(lane, attempt)) || verdict === 'repeat') {
      this.link.failed(delivery, attempt)
      lane.putBack({ delivery, attempt: attempt + 1 })
      this.pause(lane, attempt)
      return
    }
    lane.failedUnderBackpressure = 0
    if (verdict === 'bury' || verdict === 'retry') {
      this.counts.buried++
      this.letGo(delivery)
      this.link.bury(delivery, errorText(work.error), attempt)
    } else {
      if (verdict === 'skip') this.counts.skipped++
      else this.counts.settled++
      this.settled.push(delivery)
    }
    this.release(lane)
  }

  /** A message of the lane is done with: what waits behind it may start. */
  private release(lane: Lane): void {
    if (!lane.hasFailed) this.failing.delete(lane)
    if (this.isStill) return
    for (;;) {
      const next = lane.next(this.maxInFlight)
      if (next === undefined) break
      if (next.delivery.isGone === true) {
        this.drop(lane, next.delivery)
        continue
      }
      if (next.attempt > next.delivery.attempt) this.counts.retried++
      this.begin(lane, next)
    }
    if (lane.isIdle) this.lanes.forget(lane)
  }

  /** What another process has by now is not begun here. */
  private drop(lane: Lane, delivery: Delivery): void {
    lane.inFlight++
    lane.ended()
    this.outages.over(lane)
    if (!lane.hasFailed) this.failing.delete(lane)
    this.settled.push(delivery)
    this.askTurn()
  }

  /** The lane has a failed message; it was its so many-th failure in a row. */
  private pause(lane: Lane, failures: number): void {
    this.failing.add(lane)
    if (lane.pausedUntilMs !== undefined || this.isClosing) return
    const { pauseBetweenRetriesMs, maxPauseBetweenRetriesMs } = this.settings
    const doubled = pauseBetweenRetriesMs * 2 ** Math.min(failures - 1, 30)
    this.pauses.pause(lane, this.isCrowding(lane) ? 0 : Math.min(maxPauseBetweenRetriesMs, doubled))
  }

  private wait(lane: Lane, attempt: Attempt): void {
    lane.wait(attempt)
    if (lane.pausedUntilMs === undefined || !this.isCrowding(lane)) return
    lane.pausedUntilMs = undefined
    this.release(lane)
  }

  /**
   * A lane that fills half of the room would hold up others: it is brought to its end without pauses. In an outage, and with retries
   * without end, it has no end to be brought to; a queue of one lane has no others.
   */
  private isCrowding(lane: Lane): boolean {
    const { maxHeld, retries, submit } = this.settings
    return lane.waitingWeight > maxHeld / 2 && lane.outages === 0 && retries !== Infinity && submit !== 'SEQUENTIAL'
  }

  /**
   * Whether a message that is retried without end keeps the link from being emptied, so that in the end nobody could send: the link's
   * log ends with its oldest message. It has had the tries that are enough elsewhere, and senders were held up at several in a row.
   */
  private mustMakeRoom(lane: Lane, attempt: number): boolean {
    if (this.settings.retries !== Infinity || attempt <= DEFAULT_QUEUE_SETTINGS.retries || this.link.writable) {
      lane.failedUnderBackpressure = 0
      return false
    }
    return ++lane.failedUnderBackpressure >= MAX_FAILED_UNDER_BACKPRESSURE
  }

  private letGo(delivery: Delivery): void {
    this.held--
    this.heldWeight -= weightOf(delivery)
  }

  private retry(lanes: readonly Lane[]): void {
    for (const lane of lanes) this.release(lane)
    this.handOut()
  }

  private askTurn(): void {
    if (this.isTurnAsked) return
    this.isTurnAsked = true
    this.clock.soon(() => {
      this.isTurnAsked = false
      this.turn()
    })
  }

  /** Once a turn: settles what ended, starts what that made possible, asks the link for more. */
  private turn(): void {
    const settled = this.settled
    if (settled.length > 0) {
      this.settled = []
      for (const delivery of settled) this.letGo(delivery)
      this.link.settle(settled)
    }
    this.packs.forgetEnded()
    if (this.nextSettings !== undefined && this.inFlight === 0 && !this.isClosing) this.changeLanes(this.nextSettings)
    this.handOut()
    this.link.wake()
    if (this.inFlight > 0 || this.settled.length > 0) return
    if (this.isClosing) this.whenDrained?.()
    else if (this.retiring !== undefined && this.held === 0) this.leave(this.retiring.end)
  }

  /** Sorts what is held into the lanes of the new settings. Nothing is in process. */
  private changeLanes(settings: QueueSettings): void {
    this.pauses.cancel()
    const waiting: Attempt[] = this.starting
    this.starting = []
    this.outages.forget()
    this.failing.clear()
    waiting.push(...this.lanes.takeWaiting())
    waiting.sort(inLogOrder)
    this.settings = settings
    this.nextSettings = undefined
    this.lanes = new Lanes(settings.submit)
    for (const { delivery, attempt } of waiting) this.lanes.of(delivery.message).wait({ delivery, attempt })
    for (const lane of this.lanes.all()) this.release(lane)
  }

  private leave(end: (isGone: boolean) => void): void {
    this.isClosing = true
    this.giveUp?.()
    end(true)
    void this.close()
  }

  private async drain(): Promise<void> {
    this.isClosing = true
    this.pauses.cancel()
    if (this.inFlight > 0 || this.settled.length > 0) {
      await new Promise<void>((resolve) => {
        this.whenDrained = resolve
      })
    }
    this.packs.close()
    this.retiring?.end(false)
  }
}
