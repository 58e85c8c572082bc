/** The clock of one run of the engine: when the run is killed, nothing that it asked for happens any more. */
import type { Clock, TimerHandle } from '../../model/clock.ts'

export class RunClock implements Clock {
  private readonly world: Clock
  private isDead = false

  constructor(world: Clock) {
    this.world = world
  }

  kill(): void {
    this.isDead = true
  }

  now(): number {
    return this.world.now()
  }

  monotonic(): number {
    return this.world.monotonic()
  }

  after(delayMs: number, run: () => void): TimerHandle {
    return this.world.after(delayMs, () => this.guarded(run))
  }

  soon(run: () => void): void {
    this.world.soon(() => this.guarded(run))
  }

  private guarded(run: () => void): void {
    if (!this.isDead) run()
  }
}
