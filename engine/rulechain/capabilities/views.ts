/** Entity views of an entity. */
import type { EntityId } from '../../../model/entity-id.ts'

export interface NodeView {
  readonly id: EntityId
  readonly source: EntityId
  /** 0 is without bound. */
  readonly startTimeMs: number
  readonly endTimeMs: number
  readonly timeseries: readonly string[]
  /** Attribute keys: client, server, shared. */
  readonly attributes: {
    readonly cs: readonly string[]
    readonly ss: readonly string[]
    readonly sh: readonly string[]
  }
}

export interface NodeViews {
  of(source: EntityId): Promise<readonly NodeView[]>
}
