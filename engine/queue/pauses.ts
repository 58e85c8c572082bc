/**
 * Lanes that wait for a retry. Those due within the same 16 ms share one timer and one pack; where they are many, each turn takes a part of
 * them: a thousand that fail again in one turn held everybody's messages up.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'

const RETRY_GRAIN_MS = 16
/** A lane that fails again takes some 0.05 ms. */
const MAX_PER_TURN = 128

/** What waits: it has its own due time. */
export interface Paused {
  pausedUntilMs: number | undefined
}

export class Pauses<Lane extends Paused> {
  private readonly clock: Clock
  private readonly onDue: (lanes: readonly Lane[]) => void
  private readonly groups = new Map<number, { readonly timer: TimerHandle; readonly lanes: Lane[] }>()

  /** `onDue` gets lanes whose pause is over: of each, `pausedUntilMs` is undefined. */
  constructor(clock: Clock, onDue: (lanes: readonly Lane[]) => void) {
    this.clock = clock
    this.onDue = onDue
  }

  pause(lane: Lane, pauseMs: number): void {
    const due = Math.ceil((this.clock.monotonic() + pauseMs) / RETRY_GRAIN_MS) * RETRY_GRAIN_MS
    lane.pausedUntilMs = due
    const group = this.groups.get(due)
    if (group !== undefined) {
      group.lanes.push(lane)
      return
    }
    const timer = this.clock.after(due - this.clock.monotonic(), () => this.end(due))
    this.groups.set(due, { timer, lanes: [lane] })
  }

  /** Ends all pauses without a word. */
  cancel(): void {
    for (const { timer } of this.groups.values()) timer.cancel()
    this.groups.clear()
  }

  private end(due: number): void {
    const group = this.groups.get(due)
    if (group === undefined) return
    const some = group.lanes.splice(0, MAX_PER_TURN)
    if (group.lanes.length === 0) this.groups.delete(due)
    else this.clock.soon(() => this.end(due))
    // One that was let go early may wait for another retry by now.
    const lanes = some.filter((lane) => lane.pausedUntilMs === due)
    for (const lane of lanes) lane.pausedUntilMs = undefined
    this.onDue(lanes)
  }
}
