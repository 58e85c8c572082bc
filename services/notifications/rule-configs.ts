/** What sets a rule off and whom it tells: the forms that the reference takes, and the defaults of what is left out. */
import { z } from 'zod'
import { isUuid } from '../../model/entity-id.ts'
import { ALARM_STATUSES, SEARCH_STATUSES, SEVERITIES } from '../entities/alarm.ts'

/** The first group is the tenants' to make rules of, the second the system administrators'. */
export const TENANT_TRIGGERS = [
  'ENTITY_ACTION',
  'ALARM',
  'ALARM_COMMENT',
  'ALARM_ASSIGNMENT',
  'DEVICE_ACTIVITY',
  'RULE_ENGINE_COMPONENT_LIFECYCLE_EVENT',
  'EDGE_CONNECTION',
  'EDGE_COMMUNICATION_FAILURE',
] as const
export const SYSTEM_TRIGGERS = [
  'NEW_PLATFORM_VERSION',
  'ENTITIES_LIMIT',
  'API_USAGE_LIMIT',
  'RATE_LIMITS',
  'TASK_PROCESSING_FAILURE',
  'RESOURCES_SHORTAGE',
] as const
export const TRIGGER_TYPES = [...TENANT_TRIGGERS, ...SYSTEM_TRIGGERS] as const
export type TriggerType = (typeof TRIGGER_TYPES)[number]

const MAX_NAMED = 1_000
const MAX_DELAY_SECONDS = 604_800

const uuid = z
  .string()
  .refine(isUuid, 'a UUID is expected')
  .transform((text) => text.toLowerCase())
const some = <Item extends z.ZodType>(item: Item) => z.array(item).max(MAX_NAMED).nullish()
const oneOrMore = <Item extends z.ZodType>(item: Item) => z.array(item).min(1, 'must not be empty').max(MAX_NAMED)
const flag = z.boolean().nullish()
const share = z.number().min(0).max(1).nullish()
const text = z.string().max(255)
const alarms = {
  alarmTypes: some(text),
  alarmSeverities: some(z.enum(SEVERITIES)),
}
const alarmsInStatus = { ...alarms, alarmStatuses: some(z.enum(SEARCH_STATUSES)) }
const lifecycle = z.string().max(64)

/** By what sets a rule off. */
export const TRIGGER_FORMS = {
  ENTITY_ACTION: z.object({ entityTypes: some(text), created: flag, updated: flag, deleted: flag }),
  ALARM: z.object({
    ...alarms,
    notifyOn: oneOrMore(z.enum(['CREATED', 'SEVERITY_CHANGED', 'ACKNOWLEDGED', 'CLEARED'])),
    clearRule: z.object({ alarmStatuses: some(z.enum([...SEARCH_STATUSES, ...ALARM_STATUSES])) }).nullish(),
  }),
  ALARM_COMMENT: z.object({ ...alarmsInStatus, onlyUserComments: flag, notifyOnCommentUpdate: flag }),
  ALARM_ASSIGNMENT: z.object({ ...alarmsInStatus, notifyOn: oneOrMore(z.enum(['ASSIGNED', 'UNASSIGNED'])) }),
  DEVICE_ACTIVITY: z.object({
    devices: some(uuid),
    deviceProfiles: some(uuid),
    notifyOn: oneOrMore(z.enum(['ACTIVE', 'INACTIVE'])),
  }),
  RULE_ENGINE_COMPONENT_LIFECYCLE_EVENT: z.object({
    ruleChains: some(uuid),
    ruleChainEvents: some(lifecycle),
    onlyRuleChainLifecycleFailures: flag,
    trackRuleNodeEvents: flag,
    ruleNodeEvents: some(lifecycle),
    onlyRuleNodeLifecycleFailures: flag,
  }),
  EDGE_CONNECTION: z.object({ edges: some(uuid), notifyOn: some(z.enum(['CONNECTED', 'DISCONNECTED'])) }),
  EDGE_COMMUNICATION_FAILURE: z.object({ edges: some(uuid) }),
  NEW_PLATFORM_VERSION: z.object({}),
  ENTITIES_LIMIT: z.object({ entityTypes: some(text), threshold: share }),
  API_USAGE_LIMIT: z.object({ apiFeatures: some(text), notifyOn: some(z.enum(['ENABLED', 'WARNING', 'DISABLED'])) }),
  RATE_LIMITS: z.object({ apis: some(text) }),
  TASK_PROCESSING_FAILURE: z.object({}),
  RESOURCES_SHORTAGE: z.object({ cpuThreshold: share, ramThreshold: share, storageThreshold: share }),
} satisfies Readonly<Record<TriggerType, z.ZodType>>

const ids = oneOrMore(uuid)
const seconds = z
  .string()
  .refine((key) => /^\d{1,6}$/.test(key) && Number(key) <= MAX_DELAY_SECONDS, 'seconds expected')
const escalationTable = z
  .record(seconds, ids)
  .refine((table) => Object.keys(table).length > 0, 'must not be empty')
  .refine((table) => Object.keys(table).length <= 100, 'at most 100 steps are allowed')
const escalated = z.object({ triggerType: z.literal('ALARM').optional(), escalationTable })
const listed = z.object({ triggerType: z.enum(TRIGGER_TYPES).optional(), targets: ids })

/** The delays in seconds, each with the targets that hear of it then. Throws `ZodError`. */
export function recipientsOf(type: TriggerType, config: unknown): ReadonlyMap<number, readonly string[]> {
  if (type !== 'ALARM') return new Map([[0, listed.parse(config).targets]])
  return new Map(Object.entries(escalated.parse(config).escalationTable).map(([delay, each]) => [Number(delay), each]))
}
