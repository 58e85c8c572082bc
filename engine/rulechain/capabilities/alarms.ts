/** Alarms of the tenant's entities, as rules raise and clear them. */
import { ALARM_SEVERITIES, type AlarmSeverity } from '../../../model/alarm-severity.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import type { JsonObject, JsonValue } from '../../../model/json.ts'
import type { Soon } from './soon.ts'

export const NODE_ALARM_SEVERITIES = ALARM_SEVERITIES
export type NodeAlarmSeverity = AlarmSeverity
export const NODE_ALARM_STATUSES = ['ACTIVE_UNACK', 'ACTIVE_ACK', 'CLEARED_UNACK', 'CLEARED_ACK'] as const
export type NodeAlarmStatus = (typeof NODE_ALARM_STATUSES)[number]

export interface NodeAlarm {
  readonly id: string
  readonly originator: EntityId
  readonly type: string
  readonly severity: NodeAlarmSeverity
  readonly status: NodeAlarmStatus
  readonly startTs: number
  readonly endTs: number
  readonly details: JsonValue
  /** As messages carry it. */
  readonly json: JsonObject
}

/** At most one active alarm is there. */
export interface AlarmPlace {
  readonly originator: EntityId
  readonly type: string
}

/** How it is to stand. */
export interface NodeAlarmMembers {
  readonly severity: NodeAlarmSeverity
  readonly startTs?: number
  readonly endTs?: number
  readonly details?: JsonValue
  readonly propagate?: boolean
  readonly propagateToOwner?: boolean
  readonly propagateToTenant?: boolean
  readonly propagateRelationTypes?: readonly string[]
}

export interface NodeAlarmDraft extends AlarmPlace, NodeAlarmMembers {}

export interface RaisedAlarm {
  readonly alarm: NodeAlarm
  readonly result: 'created' | 'updated' | 'severity updated'
  readonly previousSeverity: NodeAlarmSeverity | null
}

/** Which visit of the node it is done in: the same visit is told the same again, and does nothing more. A `NodeVisit` is one. */
export interface AlarmVisit {
  readonly id: string
  /** Of the message as the log delivered it, as the next. */
  readonly originatorId: string
  /** Null where a time came and no message: it is remembered for a day. */
  readonly sequence: number | null
}

export interface Clearing {
  /** Absent: they stay. */
  readonly details?: JsonValue | undefined
}

export interface NodeAlarms {
  find(id: string): Promise<NodeAlarm | undefined>
  /** The active one of the type: there is at most one. */
  findActive(originator: EntityId, type: string): Promise<NodeAlarm | undefined>
  /**
   * Creates it, or says anew how the active one stands. `membersOf` says how, and may be asked nothing: where the visit was there before, the answer
   * is what it was. The rule engine is told by the node, in messages of its own. Undefined where `membersOf` wants none, and where the tenant may
   * create no more.
   */
  createOrUpdate(
    place: AlarmPlace,
    visit: AlarmVisit,
    membersOf: (active: NodeAlarm | undefined) => Soon<NodeAlarmMembers | undefined>,
  ): Promise<RaisedAlarm | undefined>
  /** Undefined where none of that type is active, and where `clearingOf` wants it to stay; it may be asked nothing, as above. */
  clear(
    place: AlarmPlace,
    visit: AlarmVisit,
    clearingOf: (active: NodeAlarm) => Soon<Clearing | undefined>,
  ): Promise<NodeAlarm | undefined>
}
