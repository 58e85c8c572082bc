/** Going over many things without holding the turn: a slice of them, then whoever else waits. */
import type { Clock, TimerHandle } from '../../model/clock.ts'

/** What is visited in one turn at most, whatever the number of things. */
export const MAX_PER_TURN = 500
/** No timer of a round fires more often, and none less often. */
const MIN_TICK_MS = 10
const MAX_TICK_MS = 5000

/**
 * Visits everything in a map once a period, a few at a time, for ever. What is added comes at the end of the round under way. Where the
 * map holds more than can be visited in a period, a round takes longer.
 */
export class Rounds<Value> {
  private readonly clock: Clock
  private readonly periodMs: number
  private readonly values: ReadonlyMap<string, Value>
  private readonly visit: (value: Value) => void
  private place: Iterator<Value> | undefined
  private timer: TimerHandle | undefined
  private lastTickMs: number
  /** Visits that the time gone by asks for; below 1 where there are few. */
  private due = 0
  private isClosed = false

  constructor(clock: Clock, periodMs: number, values: ReadonlyMap<string, Value>, visit: (value: Value) => void) {
    this.clock = clock
    this.periodMs = periodMs
    this.values = values
    this.visit = visit
    this.lastTickMs = clock.monotonic()
    this.arm()
  }

  close(): void {
    this.isClosed = true
    this.timer?.cancel()
  }

  private arm(): void {
    const { size } = this.values
    const wantedMs = (this.periodMs * MAX_PER_TURN) / Math.max(1, size) / 2
    const tickMs = Math.min(this.periodMs, MAX_TICK_MS, Math.max(MIN_TICK_MS, wantedMs))
    this.timer = this.clock.after(tickMs, () => {
      this.tick()
      if (!this.isClosed) this.arm()
    })
  }

  private tick(): void {
    const now = this.clock.monotonic()
    const { size } = this.values
    this.due = Math.min(size, this.due + (size * (now - this.lastTickMs)) / this.periodMs)
    this.lastTickMs = now
    // A little less than one is one: times are not exact.
    const visits = Math.min(MAX_PER_TURN, Math.floor(this.due + 1e-6))
    this.due -= visits
    for (let count = 0; count < visits; count++) {
      const value = this.next()
      if (value === undefined) return
      this.visit(value)
    }
  }

  private next(): Value | undefined {
    const next = this.place?.next()
    if (next?.done === false) return next.value
    this.place = this.values.values()
    const first = this.place.next()
    return first.done === true ? undefined : first.value
  }
}

/** Visits everything there is once, now and in the turns to come. What is added meanwhile is visited too. Returns the way to stop. */
export function visitAll<Value>(clock: Clock, values: Iterable<Value>, visit: (value: Value) => void): () => void {
  const place = values[Symbol.iterator]()
  let isStopped = false
  const slice = (): void => {
    for (let count = 0; count < MAX_PER_TURN; count++) {
      if (isStopped) return
      const next = place.next()
      if (next.done === true) return
      visit(next.value)
    }
    clock.soon(slice)
  }
  slice()
  return () => {
    isStopped = true
  }
}
