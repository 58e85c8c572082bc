import type { Clock, TimerHandle } from '../../model/clock.ts'

interface Entry<Value> {
  readonly value: Value
  touchedAt: number
}

/** Values that go when nobody touched them for a while. One timer for all. */
export class Expiring<Value> {
  private readonly clock: Clock
  private readonly lifetimeMs: number
  private readonly ended: (value: Value) => void
  /** Touched longest ago first. */
  private readonly entries = new Map<string, Entry<Value>>()
  private timer: TimerHandle | undefined

  /** `ended` is told of each value that goes, however that comes. */
  constructor(clock: Clock, lifetimeMs: number, ended: (value: Value) => void) {
    this.clock = clock
    this.lifetimeMs = lifetimeMs
    this.ended = ended
  }

  get size(): number {
    return this.entries.size
  }

  /** The key has no value yet. */
  add(key: string, value: Value): void {
    this.entries.set(key, { value, touchedAt: this.clock.monotonic() })
    this.timer ??= this.clock.after(this.lifetimeMs, this.sweep)
  }

  touch(key: string): Value | undefined {
    const entry = this.entries.get(key)
    if (entry === undefined) return undefined
    entry.touchedAt = this.clock.monotonic()
    this.entries.delete(key)
    this.entries.set(key, entry)
    return entry.value
  }

  end(key: string): void {
    const entry = this.entries.get(key)
    if (entry === undefined) return
    this.entries.delete(key)
    this.ended(entry.value)
  }

  close(): void {
    this.timer?.cancel()
    for (const key of [...this.entries.keys()]) this.end(key)
  }

  private readonly sweep = (): void => {
    this.timer = undefined
    for (const [key, { touchedAt }] of this.entries) {
      const leftMs = touchedAt + this.lifetimeMs - this.clock.monotonic()
      if (leftMs > 0) {
        this.timer = this.clock.after(leftMs, this.sweep)
        return
      }
      this.end(key)
    }
  }
}
