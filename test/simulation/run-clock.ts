/**
 * The clock of one run of the engine: when the run is killed, nothing that it asked for happens any more; while its process stands
 * still, nothing happens and the time goes on. Then the timers that are due come first, and what arrived meanwhile after them.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'

export class RunClock implements Clock {
  private readonly world: Clock
  private readonly aheadMs: number
  private isDead = false
  /** Of the world's: a process that is killed leaves none behind that keeps the test's own alive. */
  private readonly timers = new Set<TimerHandle>()
  private held: { readonly timers: (() => void)[]; readonly arrivals: (() => void)[] } | undefined

  /** `aheadMs`: of the process's wall time. */
  constructor(world: Clock, aheadMs = 0) {
    this.world = world
    this.aheadMs = aheadMs
  }

  get isAlive(): boolean {
    return !this.isDead
  }

  get isPaused(): boolean {
    return this.held !== undefined
  }

  kill(): void {
    this.isDead = true
    for (const timer of this.timers) timer.cancel()
    this.timers.clear()
  }

  pause(): void {
    this.held ??= { timers: [], arrivals: [] }
  }

  goOn(): void {
    const { held } = this
    this.held = undefined
    if (held === undefined) return
    // Each in a moment of its own, before anything new.
    for (const run of [...held.timers, ...held.arrivals]) this.world.after(0, () => this.arrive(run))
  }

  now(): number {
    return Math.floor(this.world.now()) + this.aheadMs
  }

  monotonic(): number {
    return this.world.monotonic()
  }

  after(delayMs: number, run: () => void): TimerHandle {
    let isCancelled = false
    const guarded = (): void => {
      if (!isCancelled) run()
    }
    const timer = this.world.after(delayMs, () => {
      this.timers.delete(timer)
      this.guard(guarded, 'timers')
    })
    if (this.isDead) timer.cancel()
    else this.timers.add(timer)
    return {
      cancel: () => {
        isCancelled = true
        this.timers.delete(timer)
        timer.cancel()
      },
    }
  }

  soon(run: () => void): void {
    this.world.soon(() => this.guard(run, 'arrivals'))
  }

  /** Something from outside reaches the process. */
  arrive(run: () => void): void {
    this.guard(run, 'arrivals')
  }

  private guard(run: () => void, kind: 'timers' | 'arrivals'): void {
    if (this.isDead) return
    if (this.held === undefined) run()
    else this.held[kind].push(run)
  }
}
