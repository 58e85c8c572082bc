/**
 * From the link to the rule engine and back: packs out, outcomes in. Every delivery ends in exactly one of: settled, or
 * buried: after its last try, or at once where the error says that trying again is no use. Another failed message waits and is tried again at the head of its originator's lane, its tries noted
 * durably, while other originators go on.
 *
 * Bounded by `maxHeld`: when it is reached the link keeps the rest on disk, and in the end senders are slowed.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import type { Delivery, Link, LinkConsumer } from '../link/link.ts'
import { QueueErrors } from './errors.ts'
import { Lane, type Attempt } from './lane.ts'
import { PackWork, type Pack, type WorkOwner } from './pack-work.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from './settings.ts'
import { weightOf } from './weight.ts'
import type { WorkProcessor } from './work.ts'

export interface QueueOptions {
  readonly link: Link
  readonly processor: WorkProcessor
  readonly clock: Clock
  readonly settings?: Partial<QueueSettings>
  /** Hears with which failure an outage began, and once that none is left: for the log. Must not throw. */
  readonly onOutage?: (failure: Error | undefined) => void
}

export interface QueueFigures {
  readonly received: number
  readonly settled: number
  /** Failed tries, timeouts included. */
  readonly failed: number
  readonly timedOut: number
  readonly retried: number
  readonly buried: number
  /** Messages held now, and those of them that are in process. */
  readonly held: number
  readonly inFlight: number
  readonly packs: number
  /** Originators whose lane waits for a retry. */
  readonly failingLanes: number
}

export interface Queue {
  /** Takes nothing more, waits for what is in process, settles it. Idempotent. */
  close(): Promise<void>
  figures(): QueueFigures
}

/** Starts to consume the link at once. */
export function createQueue(options: QueueOptions): Queue {
  const queue = new PackQueue(options)
  options.link.consume(queue)
  return queue
}

/**
 * What lies in the message itself and would fail the same way again: it is buried at once and does not hold up its originator.
 * What is `terminal` here may be a chain that somebody repairs, or a stop: that is tried again.
 */
function isHopeless(error: Error): boolean {
  return isMillraceError(error) && (error.kind === 'invalid' || error.kind === 'denied')
}

/** What the message met is away or full for every message. */
function isOutage(error: Error): boolean {
  return isMillraceError(error) && error.isOutage
}

/** Retries due within the same 16 ms share one timer and one pack. */
const RETRY_GRAIN_MS = 16

class PackQueue implements Queue, LinkConsumer, WorkOwner {
  private readonly link: Link
  private readonly processor: WorkProcessor
  private readonly clock: Clock
  private readonly settings: QueueSettings
  private readonly lanes = new Map<string, Lane>()
  private readonly failing = new Set<Lane>()
  /** Lanes whose last failure was an outage. */
  private readonly away = new Set<Lane>()
  private readonly onOutage: (failure: Error | undefined) => void
  private readonly retryTimers = new Map<number, { readonly timer: TimerHandle; readonly lanes: Lane[] }>()
  /** Works that may start: handed out as one pack at the end of the turn that gathered them. */
  private starting: PackWork[] = []
  private settled: Delivery[] = []
  private isTurnAsked = false
  /** In the order of their deadlines. */
  private packs: Pack[] = []
  private packsLookedThrough = 1024
  private timeout: TimerHandle | undefined
  private held = 0
  private heldWeight = 0
  private inFlight = 0
  private isClosing = false
  private closing: Promise<void> | undefined
  private whenDrained: (() => void) | undefined
  private readonly counts = { received: 0, settled: 0, failed: 0, timedOut: 0, retried: 0, buried: 0, packs: 0 }

  constructor(options: QueueOptions) {
    this.link = options.link
    this.processor = options.processor
    this.clock = options.clock
    this.onOutage = options.onOutage ?? (() => undefined)
    this.settings = { ...DEFAULT_QUEUE_SETTINGS, ...options.settings }
  }

  room(): number {
    return this.isClosing ? 0 : this.settings.maxHeld - this.heldWeight
  }

  deliver(batch: readonly Delivery[]): void {
    if (this.isClosing) return
    this.held += batch.length
    this.counts.received += batch.length
    for (const delivery of batch) {
      this.heldWeight += weightOf(delivery)
      const originator = delivery.message.originator.id
      let lane = this.lanes.get(originator)
      if (lane === undefined) this.lanes.set(originator, (lane = new Lane(originator)))
      if (lane.hasFailed || lane.waitingCount > 0 || lane.inFlight >= this.settings.maxInFlightPerOriginator)
        this.wait(lane, delivery)
      else this.start(lane, { delivery, attempt: delivery.attempt })
    }
    this.handOut()
  }

  ended(work: PackWork, error: Error | undefined): void {
    const { lane, pack } = work
    lane.ended()
    this.inFlight--
    if (pack !== undefined && --pack.open === 0) pack.works = []
    if (error === undefined) {
      this.outageOver(lane)
      this.counts.settled++
      this.settled.push(work.delivery)
      this.release(lane)
    } else {
      this.failedOnce(work, error)
    }
    this.askTurn()
  }

  figures(): QueueFigures {
    return { ...this.counts, held: this.held, inFlight: this.inFlight, failingLanes: this.failing.size }
  }

  close(): Promise<void> {
    return (this.closing ??= this.drain())
  }

  private start(lane: Lane, attempt: Attempt): void {
    lane.inFlight++
    this.inFlight++
    this.starting.push(new PackWork(this, attempt.delivery, attempt.attempt, lane))
  }

  /** Gives the works that gathered to the processor, as one pack with one deadline. */
  private handOut(): void {
    if (this.starting.length === 0) return
    const works = this.starting
    this.starting = []
    const pack: Pack = {
      deadlineMs: this.clock.monotonic() + this.settings.processingTimeoutMs,
      works,
      open: works.length,
    }
    for (const work of works) work.pack = pack
    this.packs.push(pack)
    this.counts.packs++
    if (this.timeout === undefined) this.armTimeout()
    try {
      this.processor.process(works)
    } catch (error) {
      // It promised not to: whatever it left open has failed.
      const failure = QueueErrors.PROCESSOR_FAILED({ reason: errorText(error) }, error)
      for (const work of works) work.timeOut(failure)
    }
  }

  private failedOnce(work: PackWork, error: Error): void {
    const { lane, delivery, attempt } = work
    this.counts.failed++
    if (isOutage(error)) {
      // It keeps its tries, however long that lasts: senders are slowed, and nothing becomes a dead letter.
      lane.putBack({ delivery, attempt })
      this.failing.add(lane)
      if (this.away.size === 0) this.onOutage(error)
      this.away.add(lane)
      this.pause(lane, ++lane.outages)
      return
    }
    this.outageOver(lane)
    if (attempt > this.settings.retries || isHopeless(error)) {
      this.counts.buried++
      this.letGo(delivery)
      this.link.bury({ message: delivery.message, attempt }, errorText(error))
      this.release(lane)
      return
    }
    this.link.failed({ message: delivery.message, attempt })
    lane.putBack({ delivery, attempt: attempt + 1 })
    this.failing.add(lane)
    this.pause(lane, attempt)
  }

  private outageOver(lane: Lane): void {
    if (lane.outages === 0) return
    lane.outages = 0
    this.away.delete(lane)
    if (this.away.size === 0) this.onOutage(undefined)
  }

  /** A message of the lane is done with: what waits behind it may start. */
  private release(lane: Lane): void {
    if (!lane.hasFailed) this.failing.delete(lane)
    if (this.isClosing) return
    for (;;) {
      const next = lane.next(this.settings.maxInFlightPerOriginator)
      if (next === undefined) break
      if (next.attempt > next.delivery.attempt) this.counts.retried++
      this.start(lane, next)
    }
    if (lane.isIdle) this.lanes.delete(lane.originator)
  }

  private pause(lane: Lane, attempt: number): void {
    if (lane.pausedUntilMs !== undefined || this.isClosing) return
    const { pauseBetweenRetriesMs, maxPauseBetweenRetriesMs } = this.settings
    const pauseMs = this.isCrowding(lane)
      ? 0
      : Math.min(maxPauseBetweenRetriesMs, pauseBetweenRetriesMs * 2 ** (attempt - 1))
    const due = Math.ceil((this.clock.monotonic() + pauseMs) / RETRY_GRAIN_MS) * RETRY_GRAIN_MS
    lane.pausedUntilMs = due
    const group = this.retryTimers.get(due)
    if (group !== undefined) {
      group.lanes.push(lane)
      return
    }
    const timer = this.clock.after(due - this.clock.monotonic(), () => this.retry(due))
    this.retryTimers.set(due, { timer, lanes: [lane] })
  }

  private wait(lane: Lane, delivery: Delivery): void {
    lane.wait(delivery)
    if (lane.pausedUntilMs === undefined || !this.isCrowding(lane)) return
    lane.pausedUntilMs = undefined
    this.release(lane)
  }

  /**
   * A lane that fills half of the room would hold up others: it is brought to its end without pauses. In an outage it has no end
   * to be brought to.
   */
  private isCrowding(lane: Lane): boolean {
    return lane.outages === 0 && lane.waitingWeight > this.settings.maxHeld / 2
  }

  private letGo(delivery: Delivery): void {
    this.held--
    this.heldWeight -= weightOf(delivery)
  }

  private retry(due: number): void {
    const group = this.retryTimers.get(due)
    this.retryTimers.delete(due)
    for (const lane of group?.lanes ?? []) {
      // It was let go early, and may wait for another retry by now.
      if (lane.pausedUntilMs !== due) continue
      lane.pausedUntilMs = undefined
      this.release(lane)
    }
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
    this.forgetEndedPacks()
    this.handOut()
    this.link.wake()
    if (this.isClosing && this.inFlight === 0 && this.settled.length === 0) this.whenDrained?.()
  }

  private armTimeout(): void {
    this.forgetEndedPacks()
    const oldest = this.packs[0]
    this.timeout = undefined
    if (oldest === undefined) return
    const delayMs = Math.max(0, oldest.deadlineMs - this.clock.monotonic())
    this.timeout = this.clock.after(delayMs, () => this.timeOutPacks())
  }

  private forgetEndedPacks(): void {
    let ended = 0
    while (this.packs[ended]?.open === 0) ended++
    if (ended > 0) this.packs.splice(0, ended)
    // Behind a pack that hangs: looked through only when many have gathered, so that the cost a pack stays constant.
    if (this.packs.length < this.packsLookedThrough) return
    this.packs = this.packs.filter((pack) => pack.open > 0)
    this.packsLookedThrough = Math.max(1024, this.packs.length * 2)
  }

  private timeOutPacks(): void {
    const now = this.clock.monotonic()
    const error = QueueErrors.PROCESSING_TIMEOUT({ limit: this.settings.processingTimeoutMs })
    for (const pack of this.packs) {
      if (pack.deadlineMs > now) break
      if (pack.open === 0) continue
      this.counts.timedOut += pack.open
      for (const work of pack.works) work.timeOut(error)
    }
    this.armTimeout()
    this.handOut()
  }

  private async drain(): Promise<void> {
    this.isClosing = true
    for (const { timer } of this.retryTimers.values()) timer.cancel()
    this.retryTimers.clear()
    if (this.inFlight > 0 || this.settled.length > 0) {
      await new Promise<void>((resolve) => {
        this.whenDrained = resolve
      })
    }
    this.timeout?.cancel()
  }
}
