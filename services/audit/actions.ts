/** What an audit row says of a change that is told to the rule engine too. Source: `rest-api.md` 13.4. */
import type { ActionType } from '../../model/audit.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { isJsonObject, parseJson, stringifyJson, type JsonObject } from '../../model/json.ts'
import type { KnownMessageType } from '../../model/message-type.ts'
import type { Metadata } from '../../model/message.ts'

/** What of a change's message the audit row is made of. */
export interface AuditedEvent {
  readonly type: KnownMessageType
  readonly originator: EntityId
  readonly metadata: Metadata
  readonly data: string
}

/** Types of messages that are no change by a user have none. */
const ACTIONS: Readonly<Partial<Record<KnownMessageType, ActionType>>> = {
  ENTITY_CREATED: 'ADDED',
  ENTITY_UPDATED: 'UPDATED',
  ENTITY_DELETED: 'DELETED',
  ENTITY_ASSIGNED: 'ASSIGNED_TO_CUSTOMER',
  ENTITY_UNASSIGNED: 'UNASSIGNED_FROM_CUSTOMER',
  ENTITY_ASSIGNED_FROM_TENANT: 'ASSIGNED_FROM_TENANT',
  ENTITY_ASSIGNED_TO_TENANT: 'ASSIGNED_TO_TENANT',
  ATTRIBUTES_UPDATED: 'ATTRIBUTES_UPDATED',
  ATTRIBUTES_DELETED: 'ATTRIBUTES_DELETED',
  TIMESERIES_UPDATED: 'TIMESERIES_UPDATED',
  TIMESERIES_DELETED: 'TIMESERIES_DELETED',
  // Alarms that users save.
  ALARM: 'ADDED',
  ALARM_CREATED: 'ADDED',
  ALARM_UPDATED: 'UPDATED',
  ALARM_SEVERITY_UPDATED: 'UPDATED',
  ALARM_ACK: 'ALARM_ACK',
  ALARM_CLEAR: 'ALARM_CLEAR',
  ALARM_DELETE: 'ALARM_DELETE',
  ALARM_ASSIGNED: 'ALARM_ASSIGNED',
  ALARM_UNASSIGNED: 'ALARM_UNASSIGNED',
  COMMENT_CREATED: 'ADDED_COMMENT',
  COMMENT_UPDATED: 'UPDATED_COMMENT',
  RELATION_ADD_OR_UPDATE: 'RELATION_ADD_OR_UPDATE',
  RELATION_DELETED: 'RELATION_DELETED',
  RELATIONS_DELETED: 'RELATIONS_DELETED',
  RPC_CALL_FROM_SERVER_TO_DEVICE: 'RPC_CALL',
  REST_API_REQUEST: 'REST_API_RULE_ENGINE_CALL',
}

export function actionOf(type: KnownMessageType): ActionType | undefined {
  return ACTIONS[type]
}

/** JSON text; built of the own text of the message, parsed only where its values are shown otherwise. */
export function actionDataOf(action: ActionType, { originator, metadata, data }: AuditedEvent): string {
  const id = JSON.stringify(originator.id)
  switch (action) {
    case 'DELETED':
      return `{"entityId":${id}}`
    case 'ASSIGNED_TO_CUSTOMER':
      return named(id, metadata, 'assignedCustomerId', 'assignedCustomerName')
    case 'UNASSIGNED_FROM_CUSTOMER':
      return named(id, metadata, 'unassignedCustomerId', 'unassignedCustomerName')
    case 'ASSIGNED_FROM_TENANT':
      return named(id, metadata, 'assignedFromTenantId', 'assignedFromTenantName')
    case 'ATTRIBUTES_UPDATED':
      return `{"entityId":${id},"scope":${JSON.stringify(metadata['scope'] ?? '')},"attributes":${attributesAsText(data)}}`
    case 'ATTRIBUTES_DELETED':
      return `{"entityId":${id},"scope":${JSON.stringify(metadata['scope'] ?? '')},${withoutBraces(data)}}`
    case 'TIMESERIES_UPDATED':
      return `{"entityId":${id},${withoutBraces(seriesAsText(data))}}`
    case 'TIMESERIES_DELETED':
      return `{"entityId":${id},${withoutBraces(data)}}`
    case 'RELATION_ADD_OR_UPDATE':
    case 'RELATION_DELETED':
      return `{"relation":${data}}`
    case 'RELATIONS_DELETED':
      return '{}'
    case 'ALARM_DELETE':
      return `{"alarmId":${alarmIdIn(data)},"originatorId":${id}}`
    case 'ADDED_COMMENT':
    case 'UPDATED_COMMENT':
    case 'DELETED_COMMENT':
      return `{"comment":${commentIn(metadata)}}`
    case 'REST_API_RULE_ENGINE_CALL':
    case 'RPC_CALL':
      return `{"entityId":${id},"request":${data}}`
    default:
      return `{"entity":${data}}`
  }
}

function named(id: string, metadata: Metadata, ...keys: readonly string[]): string {
  const members = keys.map((key) => `,"${key}":${JSON.stringify(metadata[key] ?? null)}`)
  return `{"entityId":${id}${members.join('')}}`
}

/** The log shows values as texts. */
function seriesAsText(data: string): string {
  const series = parseJson(data)
  const groups = isJsonObject(series) ? series['timeseries'] : undefined
  for (const group of Array.isArray(groups) ? groups : []) {
    if (isJsonObject(group) && isJsonObject(group['values'])) valuesToText(group['values'])
  }
  return stringifyJson(series)
}

function attributesAsText(data: string): string {
  const attributes = parseJson(data)
  if (isJsonObject(attributes)) valuesToText(attributes)
  return stringifyJson(attributes)
}

function valuesToText(values: JsonObject): void {
  for (const [key, value] of Object.entries(values)) if (typeof value !== 'string') values[key] = stringifyJson(value)
}

function alarmIdIn(data: string): string {
  const alarm = parseJson(data)
  const id = isJsonObject(alarm) ? alarm['id'] : undefined
  return stringifyJson((isJsonObject(id) ? id['id'] : undefined) ?? null)
}

/** What was said, of the comment that the message carries whole. */
function commentIn(metadata: Metadata): string {
  const comment = parseJson(metadata['comment'] ?? 'null')
  return stringifyJson((isJsonObject(comment) ? comment['comment'] : undefined) ?? null)
}

/** `{"a":1}` is `"a":1`. */
function withoutBraces(json: string): string {
  return json.slice(1, -1)
}
