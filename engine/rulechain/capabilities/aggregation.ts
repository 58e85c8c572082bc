/** Values and alarms of many entities of the tenant as one: of those that an asset, a customer, a profile or the tenant has. */
import type { AlarmSeverity } from '../../../model/alarm-severity.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import type { SummaryJob, SummaryResult } from '../../../model/group-summary.ts'
import type { LatestColumn } from '../../../model/latest-column.ts'
import type { AttributeScope } from '../../../model/value.ts'
import type { NodeAlarmStatus } from './alarms.ts'
import type { RelationLevels } from './relations.ts'

/** Of which entities groups are made. */
export const MEMBER_TYPES = ['DEVICE', 'ASSET'] as const
export type MemberType = (typeof MEMBER_TYPES)[number]

export interface MemberSelection {
  readonly entityType: MemberType
  /** Names of profiles; none means any. */
  readonly profiles: readonly string[]
  /**
   * Those that relations lead to from the parent (no types mean any). Undefined: those that the parent has, as a customer its assigned ones,
   * a profile those that use it, the tenant all.
   */
  readonly related: (RelationLevels & { readonly relationTypes: readonly string[] }) | undefined
}

export interface MemberKey {
  readonly source: 'LATEST_TELEMETRY' | AttributeScope
  readonly key: string
}

export interface MemberName {
  readonly id: string
  readonly name: string
  /** The profile's name. */
  readonly type: string
}

export interface AlarmTally {
  readonly type: string
  readonly severity: AlarmSeverity
  readonly status: NodeAlarmStatus
  readonly alarms: number
}

export interface AlarmTallyQuery {
  /** None means any. */
  readonly types: readonly string[]
  /** Created at that time (Unix ms) or later; undefined: at any time. */
  readonly since: number | undefined
}

/** One aggregation under way: what it reads is counted against its bound. */
export interface AggregationTurn {
  /** Ids, the oldest entity first. Throws `TOO_MANY_ENTITIES`, `PARENT_UNFIT` where such a parent has none of that type. */
  members(parent: EntityId, selection: MemberSelection): Promise<readonly string[]>
  /** The latest values of a key, in the order of the ids, which are those that `members` gave. Throws `TOO_LARGE`. */
  column(ids: readonly string[], key: MemberKey): Promise<LatestColumn>
  /** Those that there are, in any order. */
  names(entityType: MemberType, ids: readonly string[]): Promise<readonly MemberName[]>
  /** Alarms whose originator is one of the entities. Throws `TOO_MANY_TALLIES`. */
  alarms(ids: readonly string[], query: AlarmTallyQuery): Promise<readonly AlarmTally[]>
  /** Small ones at once, others on the worker pool. */
  summarize(job: SummaryJob): Promise<SummaryResult>
}

export interface NodeAggregation {
  /**
   * Begins when it is the tenant's turn, never at once: what the work reads is what was stored before it began. Throws `BUSY` where too many of
   * the tenant wait already, and what the work throws.
   */
  inTurn<Result>(work: (turn: AggregationTurn) => Promise<Result>): Promise<Result>
}
