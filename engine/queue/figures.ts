/** What a queue has done and holds, for those who watch it. */

export interface QueueFigures {
  readonly received: number
  readonly settled: number
  /** Failed tries, timeouts included. */
  readonly failed: number
  readonly timedOut: number
  readonly retried: number
  /** Failed, and settled all the same, since the queue ignores failures. */
  readonly skipped: number
  readonly buried: number
  /** Messages held now, and those of them that are in process. */
  readonly held: number
  readonly inFlight: number
  readonly packs: number
  /** Lanes that wait for a retry. */
  readonly failingLanes: number
}

export const NO_FIGURES: QueueFigures = {
  received: 0,
  settled: 0,
  failed: 0,
  timedOut: 0,
  retried: 0,
  skipped: 0,
  buried: 0,
  held: 0,
  inFlight: 0,
  packs: 0,
  failingLanes: 0,
}

export function sumOf(one: QueueFigures, other: QueueFigures): QueueFigures {
  return {
    received: one.received + other.received,
    settled: one.settled + other.settled,
    failed: one.failed + other.failed,
    timedOut: one.timedOut + other.timedOut,
    retried: one.retried + other.retried,
    skipped: one.skipped + other.skipped,
    buried: one.buried + other.buried,
    held: one.held + other.held,
    inFlight: one.inFlight + other.inFlight,
    packs: one.packs + other.packs,
    failingLanes: one.failingLanes + other.failingLanes,
  }
}
