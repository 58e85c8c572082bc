/** What happens on the platform, as rules see it: which rules it sets off, and what their templates may say of it. */
import { entityId, type EntityId, type EntityType } from '../../model/entity-id.ts'
import { isJsonObject, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { Statement } from '../../storage/entities/database.ts'
import { statusOf, type Alarm } from '../entities/alarm.ts'
import type { NotificationRule } from '../entities/notification.ts'
import type { AlarmChange } from './change-notifications.ts'
import { TRIGGER_FORMS } from './rule-configs.ts'
import { titleOf, type Parameters } from './templates.ts'
import type { Triggers } from './triggers.ts'

export type AlarmAction = 'CREATED' | 'SEVERITY_CHANGED' | 'ACKNOWLEDGED' | 'CLEARED'

/** Steps for the transaction in which it happens. */
export class NotificationEvents {
  private readonly triggers: Pick<Triggers, 'isWatched' | 'requestsOf'>

  constructor(triggers: Pick<Triggers, 'isWatched' | 'requestsOf'>) {
    this.triggers = triggers
  }

  async alarmChanged(change: AlarmChange): Promise<readonly Statement[]> {
    return [...(await this.alarmItself(change)), ...(await this.alarmAssigned(change))]
  }

  async alarmCommented(
    { alarm, info, by }: Omit<AlarmChange, 'before'>,
    comment: JsonValue,
    isNew: boolean,
  ): Promise<readonly Statement[]> {
    const text = isJsonObject(comment) && typeof comment['text'] === 'string' ? comment['text'] : stringifyJson(comment)
    const action = isNew ? 'added' : 'updated'
    return this.triggers.requestsOf({
      type: 'ALARM_COMMENT',
      tenantId: alarm.tenantId,
      originator: entityId('ALARM', alarm.id),
      info: { ...alarmInfo(alarm, info), comment: text, action, ...userInfo(by) },
      parameters: { ...alarmParameters(alarm, info), comment: text, action, ...userParameters(by) },
      fires: (rule) => {
        const config = TRIGGER_FORMS.ALARM_COMMENT.parse(rule.triggerConfig)
        return (isNew || config.notifyOnCommentUpdate === true) && concernsAlarm(config, alarm)
      },
    })
  }

  async deviceActive(
    tenantId: string,
    isActive: boolean,
    device: {
      readonly id: string
      readonly name: string
      readonly label: string | null
      readonly type: string
      readonly deviceProfileId: string
    },
  ): Promise<readonly Statement[]> {
    const eventType = isActive ? 'active' : 'inactive'
    const { id, name, label, type, deviceProfileId } = device
    const said = { eventType, deviceId: id, deviceName: name, deviceLabel: label ?? '', deviceType: type }
    return this.triggers.requestsOf({
      type: 'DEVICE_ACTIVITY',
      tenantId,
      originator: entityId('DEVICE', id),
      info: said,
      parameters: said,
      fires: (rule) => {
        const { notifyOn, devices, deviceProfiles } = TRIGGER_FORMS.DEVICE_ACTIVITY.parse(rule.triggerConfig)
        if (!notifyOn.includes(isActive ? 'ACTIVE' : 'INACTIVE')) return false
        if (devices !== null && devices !== undefined && devices.length > 0) return devices.includes(id)
        return isAmong(deviceProfiles, deviceProfileId)
      },
    })
  }

  /** By a user; what the platform does itself is told to nobody. */
  async entityChanged(
    tenantId: string,
    action: 'ADDED' | 'UPDATED' | 'DELETED',
    entity: EntityId,
    name: string,
    by: Principal,
  ): Promise<readonly Statement[]> {
    const said = {
      entityType: wordsOf(entity.entityType),
      entityId: entity.id,
      entityName: name,
      actionType: action.toLowerCase(),
    }
    return this.triggers.requestsOf({
      type: 'ENTITY_ACTION',
      tenantId,
      originator: entity,
      info: { ...said, ...userInfo(by) },
      parameters: { ...said, ...userParameters(by) },
      fires: (rule) => {
        const { entityTypes, created, updated, deleted } = TRIGGER_FORMS.ENTITY_ACTION.parse(rule.triggerConfig)
        const isWanted = { ADDED: created, UPDATED: updated, DELETED: deleted }[action] === true
        return isWanted && isAmong(entityTypes, entity.entityType)
      },
    })
  }

  /** Whether the system's rules want to hear how near to its limits a tenant is. */
  isLimitWatched(systemId: string): Promise<boolean> {
    return this.triggers.isWatched(systemId, 'ENTITIES_LIMIT')
  }

  async limitNeared(
    systemId: string,
    tenant: { readonly id: string; readonly title: string },
    entityType: EntityType,
    count: number,
    limit: number,
  ): Promise<readonly Statement[]> {
    const said = {
      entityType: wordsOf(entityType),
      currentCount: String(count),
      limit: String(limit),
      percents: String(Math.floor((count / limit) * 100)),
      tenantId: tenant.id,
      tenantName: tenant.title,
    }
    return this.triggers.requestsOf({
      type: 'ENTITIES_LIMIT',
      tenantId: systemId,
      originator: entityId('TENANT', tenant.id),
      info: said,
      parameters: said,
      concerned: { tenantId: tenant.id },
      once: { key: `${tenant.id}/${entityType}`, forMs: DAY_MS },
      fires: (rule) => {
        const { entityTypes, threshold } = TRIGGER_FORMS.ENTITIES_LIMIT.parse(rule.triggerConfig)
        return count >= limit * (threshold ?? 1) && isAmong(entityTypes, entityType)
      },
    })
  }

  private async alarmItself({ alarm, before, info }: AlarmChange): Promise<readonly Statement[]> {
    const action = actionOf(alarm, before)
    if (action === undefined) return []
    const said = { action: action.toLowerCase().replaceAll('_', ' ') }
    return this.triggers.requestsOf({
      type: 'ALARM',
      tenantId: alarm.tenantId,
      originator: entityId('ALARM', alarm.id),
      info: { ...alarmInfo(alarm, info), ...said },
      parameters: { ...alarmParameters(alarm, info), ...said },
      fires: (rule) => {
        const { alarmTypes, alarmSeverities, notifyOn } = TRIGGER_FORMS.ALARM.parse(rule.triggerConfig)
        const isOfSeverity =
          isAmong(alarmSeverities, alarm.severity) ||
          (before !== undefined && isAmong(alarmSeverities, before.severity))
        return notifyOn.includes(action) && isAmong(alarmTypes, alarm.type) && isOfSeverity
      },
      ends: (rule) => isOver(rule, alarm, before),
    })
  }

  private async alarmAssigned({ alarm, before, info, by }: AlarmChange): Promise<readonly Statement[]> {
    const isAssigned = alarm.assigneeId !== null
    if (alarm.assigneeId === (before?.assigneeId ?? null)) return []
    const userId = alarm.assigneeId ?? before?.assigneeId ?? undefined
    const action = isAssigned ? 'assigned' : 'unassigned'
    const said = { action, ...assigneeOf(isAssigned ? info['assignee'] : undefined) }
    return this.triggers.requestsOf({
      type: 'ALARM_ASSIGNMENT',
      tenantId: alarm.tenantId,
      originator: entityId('ALARM', alarm.id),
      info: { ...alarmInfo(alarm, info), ...said, ...userInfo(by) },
      parameters: { ...alarmParameters(alarm, info), ...said, ...userParameters(by) },
      concerned: { userId },
      fires: (rule) => {
        const config = TRIGGER_FORMS.ALARM_ASSIGNMENT.parse(rule.triggerConfig)
        return config.notifyOn.includes(isAssigned ? 'ASSIGNED' : 'UNASSIGNED') && concernsAlarm(config, alarm)
      },
    })
  }
}

const DAY_MS = 86_400_000

function actionOf(alarm: Alarm, before: Alarm | undefined): AlarmAction | undefined {
  if (before === undefined) return 'CREATED'
  if (alarm.severity !== before.severity) return 'SEVERITY_CHANGED'
  if (alarm.cleared && !before.cleared) return 'CLEARED'
  if (alarm.acknowledged && !before.acknowledged) return 'ACKNOWLEDGED'
  return undefined
}

/** It came to a state in which the rule has no more to say. */
function isOver({ triggerConfig }: NotificationRule, alarm: Alarm, before: Alarm | undefined): boolean {
  const { clearRule, alarmTypes } = TRIGGER_FORMS.ALARM.parse(triggerConfig)
  const statuses = clearRule?.alarmStatuses ?? []
  if (before === undefined || statuses.length === 0 || !isAmong(alarmTypes, alarm.type)) return false
  const isIn = (state: Alarm): boolean => statuses.some((status) => hasStatus(state, status))
  return isIn(alarm) && !isIn(before)
}

function hasStatus(alarm: Alarm, status: string): boolean {
  switch (status) {
    case 'ANY':
      return true
    case 'ACTIVE':
      return !alarm.cleared
    case 'CLEARED':
      return alarm.cleared
    case 'ACK':
      return alarm.acknowledged
    case 'UNACK':
      return !alarm.acknowledged
    default:
      return statusOf(alarm) === status
  }
}

interface AlarmsMeant {
  readonly alarmTypes?: readonly string[] | null | undefined
  readonly alarmSeverities?: readonly string[] | null | undefined
  readonly alarmStatuses?: readonly string[] | null | undefined
}

function concernsAlarm({ alarmTypes, alarmSeverities, alarmStatuses }: AlarmsMeant, alarm: Alarm): boolean {
  const statuses = alarmStatuses ?? []
  const isInStatus = statuses.length === 0 || statuses.some((status) => hasStatus(alarm, status))
  return isInStatus && isAmong(alarmTypes, alarm.type) && isAmong(alarmSeverities, alarm.severity)
}

/** None named means all. */
function isAmong(named: readonly string[] | null | undefined, wanted: string): boolean {
  return named === null || named === undefined || named.length === 0 || named.includes(wanted)
}

function alarmInfo(alarm: Alarm, info: JsonObject): JsonObject {
  const { id, type, severity, originatorType, originatorId, customerId, acknowledged, cleared } = alarm
  return {
    alarmId: id,
    alarmType: type,
    alarmOriginator: { entityType: originatorType, id: originatorId },
    alarmOriginatorName: info['originatorName'] ?? null,
    alarmOriginatorLabel: info['originatorLabel'] ?? null,
    alarmSeverity: severity,
    alarmStatus: statusOf(alarm),
    alarmCustomerId: customerId === null ? null : { entityType: 'CUSTOMER', id: customerId },
    acknowledged,
    cleared,
  }
}

function alarmParameters(alarm: Alarm, info: JsonObject): Parameters {
  const { id, type, severity, originatorType, originatorId, details } = alarm
  return {
    ...detailsOf(details),
    alarmId: id,
    alarmType: type,
    alarmSeverity: severity.toLowerCase(),
    alarmStatus: statusOf(alarm).toLowerCase().replace('_', '/'),
    alarmOriginatorEntityType: wordsOf(originatorType),
    alarmOriginatorId: originatorId,
    alarmOriginatorName: textOf(info['originatorName']),
    alarmOriginatorLabel: textOf(info['originatorLabel']),
  }
}

/** As clients see the user. */
function assigneeOf(shown: JsonValue | undefined): Parameters {
  const user = isJsonObject(shown) ? shown : {}
  const { id, email, firstName, lastName } = user
  const first = textOf(firstName)
  const last = textOf(lastName)
  return {
    assigneeId: isJsonObject(id) ? textOf(id['id']) : '',
    assigneeTitle: titleOf({ email: textOf(email), firstName: first, lastName: last }),
    assigneeEmail: textOf(email),
    assigneeFirstName: first,
    assigneeLastName: last,
  }
}

const MAX_DETAILS = 50
const MAX_DETAIL = 1_000

function detailsOf(details: JsonValue): Parameters {
  if (!isJsonObject(details)) return {}
  const shown = Object.entries(details).slice(0, MAX_DETAILS)
  return Object.fromEntries(shown.map(([name, value]) => [`details.${name}`, textOf(value).slice(0, MAX_DETAIL)]))
}

function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : stringifyJson(value)
}

function userParameters(by: Principal | undefined): Parameters {
  if (by === undefined) return {}
  const { userId, email, firstName, lastName } = by
  return {
    userId,
    userTitle: titleOf(by),
    userEmail: email,
    userFirstName: firstName ?? '',
    userLastName: lastName ?? '',
  }
}

function userInfo(by: Principal | undefined): JsonObject {
  return { ...userParameters(by) }
}

/** `DEVICE_PROFILE` is `Device profile`. */
function wordsOf(entityType: EntityType): string {
  const words = entityType.toLowerCase().replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
