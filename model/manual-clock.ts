/** Time and chance for what runs beside the real world: a clock that its owner moves, and chance that repeats itself. */
import type { Clock, Random, TimerHandle } from './clock.ts'

interface Timer extends TimerHandle {
  readonly atMs: number
  readonly order: number
  readonly run: () => void
  cancelled: boolean
}

/**
 * A clock that stands until it is moved. `soon` turns run in order when the test lets them (`turn`, `settle`, `advance`).
 */
export class ManualClock implements Clock {
  private nowMs: number
  private elapsedMs = 0
  private order = 0
  private timers: Timer[] = []
  private turns: (() => void)[] = []

  constructor(startMs = 1_700_000_000_000) {
    this.nowMs = startMs
  }

  now(): number {
    return this.nowMs
  }

  monotonic(): number {
    return this.elapsedMs
  }

  after(delayMs: number, run: () => void): TimerHandle {
    const timer: Timer = {
      atMs: this.elapsedMs + Math.max(0, delayMs),
      order: this.order++,
      run,
      cancelled: false,
      cancel: () => {
        timer.cancelled = true
      },
    }
    this.timers.push(timer)
    return timer
  }

  soon(run: () => void): void {
    this.turns.push(run)
  }

  /** Runs what asked for a turn before now; false when nobody had. */
  turn(): boolean {
    const running = this.turns
    this.turns = []
    for (const run of running) run()
    return running.length > 0
  }

  /** Runs turns and promise continuations until nothing asks for a further one. Timers do not fire. */
  async settle(): Promise<void> {
    let quiet = 0
    while (quiet < 3) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      quiet = this.turn() ? 0 : quiet + 1
    }
  }

  /** Moves the time on, firing timers in their order, each with everything settled before and after it. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.elapsedMs + byMs
    await this.settle()
    for (let next = this.nextTimer(untilMs); next !== undefined; next = this.nextTimer(untilMs)) {
      this.moveTo(next.atMs)
      this.timers.splice(this.timers.indexOf(next), 1)
      next.run()
      await this.settle()
    }
    this.moveTo(untilMs)
  }

  /** Timers that still wait. */
  get pendingTimers(): number {
    return this.timers.filter((timer) => !timer.cancelled).length
  }

  /** When the next timer fires, in ms from now. */
  get untilNextTimerMs(): number | undefined {
    const next = this.nextTimer(Infinity)
    return next === undefined ? undefined : Math.max(0, next.atMs - this.elapsedMs)
  }

  private moveTo(elapsedMs: number): void {
    if (elapsedMs <= this.elapsedMs) return
    this.nowMs += elapsedMs - this.elapsedMs
    this.elapsedMs = elapsedMs
  }

  private nextTimer(untilMs: number): Timer | undefined {
    this.timers = this.timers.filter((timer) => !timer.cancelled)
    let next: Timer | undefined
    for (const timer of this.timers) {
      if (timer.atMs > untilMs) continue
      if (next === undefined || timer.atMs < next.atMs || (timer.atMs === next.atMs && timer.order < next.order))
        next = timer
    }
    return next
  }
}

/** Repeatable chance: the same seed gives the same numbers (mulberry32). */
export class SeededRandom implements Random {
  private state: number

  constructor(seed: number) {
    this.state = seed >>> 0
  }

  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = this.state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }

  /** A whole number in [0, below). */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  uuid(): string {
    let hex = ''
    for (let index = 0; index < 32; index++) hex += this.below(16).toString(16)
    const variant = '89ab'[this.below(4)]
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
  }
}
