/** Tells that changes may have been missed: once a turn, with the earliest moment of all that was found in it. */
import type { Clock } from '../../model/clock.ts'

export class Gaps {
  told = 0
  private readonly clock: Clock
  private readonly report: (error: unknown) => void
  private readonly listeners = new Set<(since: number) => void>()
  /** Of what is told with this turn; Infinity for nothing. */
  private since = Infinity
  private isClosed = false

  /** `report` hears what a listener threw. */
  constructor(clock: Clock, report: (error: unknown) => void) {
    this.clock = clock
    this.report = report
  }

  listen(listener: (since: number) => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  /** `since`: Unix ms; nothing before it is missing. */
  tell(since: number): void {
    const isAsked = this.since !== Infinity
    this.since = Math.min(this.since, since, this.clock.now())
    if (isAsked) return
    this.clock.soon(() => {
      const told = this.since
      this.since = Infinity
      if (this.isClosed) return
      this.told++
      for (const listener of [...this.listeners]) this.notifyOne(listener, told)
    })
  }

  close(): void {
    this.isClosed = true
  }

  private notifyOne(listener: (since: number) => void, since: number): void {
    try {
      listener(since)
    } catch (error) {
      this.report(error)
    }
  }
}
