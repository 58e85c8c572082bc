/**
 * One timer for the silence of all sessions: a wheel of one-second slots. A session notes the tick at which it was heard; only when
 * its slot comes round is that looked at, and the session moved to the slot where it would now be due.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'

export interface Timed {
  /** The slot it is in; kept by the wheel. */
  slot: number
  /** The tick at which it has been silent for too long. */
  dueTick(): number
  expired(): void
}

const TICK_MS = 1000
const SLOTS = 256

export class KeepAliveWheel {
  /** Seconds since the start, as sessions note them. */
  tick = 0
  private readonly clock: Clock
  private readonly slots = Array.from({ length: SLOTS }, () => new Set<Timed>())
  private timer: TimerHandle | undefined

  constructor(clock: Clock) {
    this.clock = clock
    this.arm()
  }

  /** Also moves one that is in the wheel already: for a due time that came nearer. */
  add(timed: Timed): void {
    this.slots[timed.slot]?.delete(timed)
    const ahead = Math.min(Math.max(timed.dueTick() - this.tick, 1), SLOTS - 1)
    timed.slot = (this.tick + ahead) % SLOTS
    this.slots[timed.slot]?.add(timed)
  }

  remove(timed: Timed): void {
    this.slots[timed.slot]?.delete(timed)
  }

  close(): void {
    this.timer?.cancel()
    this.timer = undefined
  }

  private arm(): void {
    this.timer = this.clock.after(TICK_MS, () => {
      this.turn()
      if (this.timer !== undefined) this.arm()
    })
  }

  private turn(): void {
    this.tick++
    const slot = this.slots[this.tick % SLOTS]
    if (slot === undefined || slot.size === 0) return
    for (const timed of [...slot]) {
      if (timed.dueTick() <= this.tick) {
        slot.delete(timed)
        timed.expired()
      } else this.add(timed)
    }
  }
}

/** Whole ticks that cover a time. */
export function ticksOf(milliseconds: number): number {
  return Math.ceil(milliseconds / TICK_MS)
}
