/**
 * Alarms: what is wrong with an entity, of a type and a severity, until it is cleared. Saved by `services/alarms`. Source: `rest-api.md`
 * section 9, `rule-engine.md` 7.1.
 */
import { ALARM_SEVERITIES, type AlarmSeverity } from '../../model/alarm-severity.ts'
import { ENTITY_TYPES } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { AlarmErrors } from '../alarms/errors.ts'
import { anyId, choice, flag, integer, internal, json, name, optionalId } from './column.ts'
import { defineEntity, type RecordOf } from './define.ts'

/** The most severe first. */
export const SEVERITIES = ALARM_SEVERITIES
export type { AlarmSeverity }
export const ALARM_STATUSES = ['ACTIVE_UNACK', 'ACTIVE_ACK', 'CLEARED_UNACK', 'CLEARED_ACK'] as const
export type AlarmStatus = (typeof ALARM_STATUSES)[number]
export const SEARCH_STATUSES = ['ANY', 'ACTIVE', 'CLEARED', 'ACK', 'UNACK'] as const
export type AlarmSearchStatus = (typeof SEARCH_STATUSES)[number]

const COLUMNS = {
  customerId: optionalId('CUSTOMER', { whenDeleted: 'forget', missing: () => AlarmErrors.ORIGINATOR_UNKNOWN() }),
  type: name(),
  originatorType: internal(choice(ENTITY_TYPES, 'DEVICE')),
  originatorId: internal(anyId()),
  severity: choice(SEVERITIES, 'INDETERMINATE'),
  acknowledged: flag(false),
  cleared: flag(false),
  assigneeId: optionalId('USER', { whenDeleted: 'forget', missing: () => AlarmErrors.ASSIGNEE_UNKNOWN() }),
  startTs: integer(0),
  endTs: integer(0),
  ackTs: integer(0),
  clearTs: integer(0),
  assignTs: integer(0),
  details: json(),
  propagate: flag(false),
  propagateToOwner: flag(false),
  propagateToTenant: flag(false),
  propagateRelationTypes: json(),
}

export type Alarm = RecordOf<typeof COLUMNS>

export const alarms = defineEntity({
  type: 'ALARM',
  label: 'Alarm',
  name: 'type',
  table: {
    name: 'alarm',
    version: 2,
    indexes: [
      { members: ['originatorId', 'createdTime'] },
      { members: ['customerId', 'createdTime'] },
      { members: ['assigneeId', 'createdTime'] },
      { members: ['type', 'createdTime'] },
      { members: ['originatorId', 'type'], isSystemWide: true, since: 2 },
      { members: ['endTs'], since: 2 },
    ],
  },
  columns: COLUMNS,
  // Of one kind an entity has at most one that is active, whoever raises it, in whichever process.
  unique: [
    { members: ['originatorId', 'type'], where: 'cleared = 0', otherwise: () => AlarmErrors.RAISED_MEANWHILE() },
  ],
  example: (ids) => ({
    type: 'High temperature',
    severity: 'MAJOR',
    originator: { entityType: 'DEVICE', id: ids['deviceId'] ?? '' },
  }),
  permissions: { TENANT_ADMIN: 'all', CUSTOMER_USER: 'all' },
  lacks: ['version', 'externalId'],
  moreJson: (alarm) => ({
    originator: { entityType: alarm.originatorType, id: alarm.originatorId },
    name: alarm.type,
    status: statusOf(alarm),
  }),
})

export function statusOf({ acknowledged, cleared }: Pick<Alarm, 'acknowledged' | 'cleared'>): AlarmStatus {
  return `${cleared ? 'CLEARED' : 'ACTIVE'}_${acknowledged ? 'ACK' : 'UNACK'}`
}

/** What an alarm is shown with beside its own. */
export interface AlarmNames {
  readonly originatorName: string | null
  readonly originatorLabel: string | null
  readonly assignee: {
    readonly id: string
    readonly firstName: string | null
    readonly lastName: string | null
    readonly email: string
  } | null
}

export function alarmInfoJson(alarm: Alarm, { originatorName, originatorLabel, assignee }: AlarmNames): JsonObject {
  const label = originatorLabel === null || originatorLabel === '' ? originatorName : originatorLabel
  return {
    ...alarms.jsonOf(alarm),
    originatorName,
    originatorLabel: label,
    originatorDisplayName: label,
    assignee: assignee && { ...assignee, id: { entityType: 'USER', id: assignee.id } },
  }
}

/** Two pairs that combine: both of a pair, `ANY`, or none of it does not limit. */
export function flagsOfList(statuses: readonly AlarmSearchStatus[]): {
  readonly cleared?: boolean
  readonly acknowledged?: boolean
} {
  const has = (status: AlarmSearchStatus): boolean => statuses.includes(status)
  if (has('ANY')) return {}
  return {
    ...(has('ACTIVE') === has('CLEARED') ? {} : { cleared: has('CLEARED') }),
    ...(has('ACK') === has('UNACK') ? {} : { acknowledged: has('ACK') }),
  }
}
