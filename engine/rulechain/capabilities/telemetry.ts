/** Saving time series. */
import type { EntityId } from '../../../model/entity-id.ts'
import type { CalculationCause } from './calculated.ts'
import type { PointsToStore } from '../../../model/value.ts'

/** One entity's points to save, with the log position that breaks ties of equal times. */
export interface TelemetrySave extends PointsToStore {
  readonly tenantId: string
  readonly entity: EntityId
  /** It came as the originator of the message and is the tenant's; where that is not said, it is asked. */
  readonly isOwn?: boolean
  /** Seconds; 0 keeps for ever. */
  readonly ttlSeconds: number
  /** Where that is 0, they are kept as long as the tenant's profile says. */
  readonly isTtlOfProfile?: boolean
  readonly sequence: number
  /** What the save touches (`rule-engine.md` 10.5). */
  readonly history: boolean
  readonly latest: boolean
  readonly notify: boolean
  /** Calculated fields hear of the points, once they are stored. */
  readonly calculated?: CalculationCause | undefined
  /** The caller's own number of it, handed back with its outcome: so one function does for a batch. */
  readonly place?: number
}

/** Called once, when the points are committed, or with the error. `place`: the save's, 0 where it has none. */
export type SaveDone = (error: Error | undefined, place: number) => void

export interface NodeTelemetry {
  /** Group commit: no promise a message. */
  save(request: TelemetrySave, done: SaveDone): void
}
