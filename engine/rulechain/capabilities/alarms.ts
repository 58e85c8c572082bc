/** Alarms of the tenant's entities, as rules raise and clear them. */
import { ALARM_SEVERITIES, type AlarmSeverity } from '../../../model/alarm-severity.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import type { JsonObject, JsonValue } from '../../../model/json.ts'

export const NODE_ALARM_SEVERITIES = ALARM_SEVERITIES
export type NodeAlarmSeverity = AlarmSeverity
export type NodeAlarmStatus = 'ACTIVE_UNACK' | 'ACTIVE_ACK' | 'CLEARED_UNACK' | 'CLEARED_ACK'

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

export interface NodeAlarmDraft {
  readonly originator: EntityId
  readonly type: string
  readonly severity: NodeAlarmSeverity
  readonly startTs?: number
  readonly endTs?: number
  readonly details?: JsonValue
  readonly propagate?: boolean
  readonly propagateToOwner?: boolean
  readonly propagateToTenant?: boolean
  readonly propagateRelationTypes?: readonly string[]
}

export interface RaisedAlarm {
  readonly alarm: NodeAlarm
  readonly result: 'created' | 'updated' | 'severity updated'
  readonly previousSeverity: NodeAlarmSeverity | null
}

export interface NodeAlarms {
  find(id: string): Promise<NodeAlarm | undefined>
  /** The active one of the type: there is at most one. */
  findActive(originator: EntityId, type: string): Promise<NodeAlarm | undefined>
  /**
   * Creates it, or says anew how the active one stands. The rule engine is told by the node, in messages of its own. Undefined where the
   * tenant may create no more.
   */
  createOrUpdate(draft: NodeAlarmDraft): Promise<RaisedAlarm | undefined>
  /** Undefined where none of that type is active. */
  clear(originator: EntityId, type: string, details?: JsonValue): Promise<NodeAlarm | undefined>
}
