/** Events: what rule chains, their nodes and calculated fields tell of themselves, for those who look for a fault. Source: `rest-api.md` 13.4. */
import type { EntityId } from './entity-id.ts'

/** What a member of an event's body holds. */
export type EventMember = 'text' | 'integer' | 'flag'

/** The body of each type, beside `server`. */
export const EVENT_BODIES = {
  ERROR: { method: 'text', error: 'text' },
  LC_EVENT: { event: 'text', success: 'flag', error: 'text' },
  STATS: { messagesProcessed: 'integer', errorsOccurred: 'integer' },
  DEBUG_RULE_NODE: {
    type: 'text',
    entityId: 'text',
    entityType: 'text',
    msgId: 'text',
    msgType: 'text',
    dataType: 'text',
    relationType: 'text',
    data: 'text',
    metadata: 'text',
    error: 'text',
  },
  DEBUG_RULE_CHAIN: { message: 'text', error: 'text' },
  DEBUG_CALCULATED_FIELD: {
    calculatedFieldId: 'text',
    entityId: 'text',
    entityType: 'text',
    msgId: 'text',
    msgType: 'text',
    arguments: 'text',
    result: 'text',
    error: 'text',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, EventMember>>>>

export type EventType = keyof typeof EVENT_BODIES

export const EVENT_TYPES: readonly EventType[] = [
  'ERROR',
  'LC_EVENT',
  'STATS',
  'DEBUG_RULE_NODE',
  'DEBUG_RULE_CHAIN',
  'DEBUG_CALCULATED_FIELD',
]

/** Members that are absent are not shown. */
export type EventBody = Readonly<Record<string, string | number | boolean | undefined>>

export interface EventRecord {
  readonly id: string
  /** Unix ms. */
  readonly createdTime: number
  readonly tenantId: string
  /** What it tells of. */
  readonly entity: EntityId
  readonly type: EventType
  /** The process that noted it. */
  readonly server: string
  readonly body: EventBody
}
