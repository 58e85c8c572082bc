/** What the audit log tells of each change by a user. Source: `rest-api.md` 13.4. */
import type { EntityId } from './entity-id.ts'

export const ACTION_TYPES = [
  'ADDED',
  'DELETED',
  'UPDATED',
  'ATTRIBUTES_UPDATED',
  'ATTRIBUTES_DELETED',
  'TIMESERIES_UPDATED',
  'TIMESERIES_DELETED',
  'RPC_CALL',
  'CREDENTIALS_UPDATED',
  'ASSIGNED_TO_CUSTOMER',
  'UNASSIGNED_FROM_CUSTOMER',
  'ACTIVATED',
  'SUSPENDED',
  'CREDENTIALS_READ',
  'ATTRIBUTES_READ',
  'RELATION_ADD_OR_UPDATE',
  'RELATION_DELETED',
  'RELATIONS_DELETED',
  'REST_API_RULE_ENGINE_CALL',
  'ALARM_ACK',
  'ALARM_CLEAR',
  'ALARM_DELETE',
  'ALARM_ASSIGNED',
  'ALARM_UNASSIGNED',
  'LOGIN',
  'LOGOUT',
  'LOCKOUT',
  'ASSIGNED_FROM_TENANT',
  'ASSIGNED_TO_TENANT',
  'PROVISION_SUCCESS',
  'PROVISION_FAILURE',
  'ASSIGNED_TO_EDGE',
  'UNASSIGNED_FROM_EDGE',
  'ADDED_COMMENT',
  'UPDATED_COMMENT',
  'DELETED_COMMENT',
  'SMS_SENT',
] as const
export type ActionType = (typeof ACTION_TYPES)[number]

export interface AuditEntry {
  readonly id: string
  readonly createdTime: number
  readonly tenantId: string
  /** Of the entity. */
  readonly customerId: string | null
  readonly entity: EntityId
  readonly entityName: string
  readonly userId: string
  readonly userName: string
  readonly clientAddress: string | null
  readonly actionType: ActionType
  /** JSON text. */
  readonly actionData: string
  readonly actionStatus: 'SUCCESS' | 'FAILURE'
  /** Why it failed; empty where it did not. */
  readonly actionFailureDetails: string
}
