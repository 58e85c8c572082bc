/** What comes of a step, as messages: to the entity's rule chain, or to the node that stores results at once. */
import { z } from 'zod'
import type { StepResult } from '../../../model/calculated-fields/kind.ts'
import { ALARM_SEVERITIES } from '../../../model/alarm-severity.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import { stringifyJson, type JsonObject, type JsonValue } from '../../../model/json.ts'
import { BACKFILL_METADATA, Message } from '../../../model/message.ts'
import { ATTRIBUTE_SCOPES } from '../../../model/value.ts'
import type { EntityFacts } from './facts.ts'
import type { ActiveField } from './field-index.ts'
import { entitySchema, RESULT_TYPE } from './payload.ts'
import { plainJson } from './plain-json.ts'

/** A step's result on its way. */
export interface LeavingResult {
  readonly message: Message
  /** `Result` leads to the node that stores; undefined: the entity's rule chain. */
  readonly relation: 'Result' | undefined
}

const anyObject = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null)
const group = z.object({ ts: z.number(), values: anyObject })

/** Data of messages of type {@link RESULT_TYPE}. */
export const resultSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('series'),
    groups: z.array(group),
    ...{ ttl: z.number(), saveTimeSeries: z.boolean(), saveLatest: z.boolean() },
    ...{ sendWsUpdate: z.boolean(), processCfs: z.boolean() },
  }),
  z.object({
    kind: z.literal('attributes'),
    scope: z.enum(ATTRIBUTE_SCOPES),
    values: anyObject,
    ...{ sendAttributesUpdatedNotification: z.boolean(), updateAttributesOnlyOnValueChange: z.boolean() },
    ...{ saveAttribute: z.boolean(), sendWsUpdate: z.boolean(), processCfs: z.boolean() },
  }),
  z.object({
    ...{ kind: z.literal('raise'), alarmType: z.string(), severity: z.enum(ALARM_SEVERITIES), startTs: z.number() },
    ...{
      details: anyObject.nullable(),
      dashboardId: z.string().nullable(),
      metadata: z.record(z.string(), z.string()),
    },
    ...{ propagate: z.boolean(), propagateToOwner: z.boolean(), propagateToTenant: z.boolean() },
    propagateRelationTypes: z.array(z.string()),
  }),
  z.object({
    ...{ kind: z.literal('clear'), alarmType: z.string(), details: anyObject.nullable() },
    metadata: z.record(z.string(), z.string()),
  }),
  z.object({
    ...{ kind: z.literal('relation'), action: z.enum(['create', 'delete']), relationType: z.string() },
    ...{ from: entitySchema, to: entitySchema },
  }),
])
export type ResultPayload = z.infer<typeof resultSchema>

export interface LeavingParts {
  readonly active: ActiveField
  readonly entity: EntityId
  readonly facts: EntityFacts
  /** Of other entities that results go to. */
  readonly factsOf: ReadonlyMap<string, EntityFacts>
  readonly now: number
  readonly previous: readonly string[]
  readonly isBackfill: boolean
}

type Values = Extract<StepResult, { kind: 'values' }>

/** Values of one entity that follow each other go together. */
export function leaving(results: readonly StepResult[], parts: LeavingParts): readonly LeavingResult[] {
  const left: LeavingResult[] = []
  let together: Values[] = []
  const flush = (): void => {
    left.push(...valuesLeaving(together, parts))
    together = []
  }
  for (const result of results) {
    if (result.kind !== 'values') {
      flush()
      left.push(...otherLeaving(result, parts))
      continue
    }
    if (together[0] !== undefined && together[0].entity.id !== result.entity.id) flush()
    together.push(result)
  }
  flush()
  return left
}

function valuesLeaving(values: readonly Values[], parts: LeavingParts): readonly LeavingResult[] {
  const [first] = values
  const { output } = parts.active.configuration
  if (first === undefined || output === null) return []
  const scope = output.scope ?? 'SERVER_SCOPE'
  if (output.strategy.type === 'RULE_CHAIN') return [toRuleChain(values, parts, output.type, scope)]
  if (output.type === 'TIME_SERIES') {
    const { type: _immediate, ...flags } = output.strategy
    const groups = values.map(({ ts, values: each }) => ({ ts: ts ?? parts.now, values: each }))
    return [stored(parts, first.entity, { kind: 'series', groups, ...flags })]
  }
  const { type: _immediate, ...flags } = output.strategy
  return values.map((each) => stored(parts, each.entity, { kind: 'attributes', scope, values: each.values, ...flags }))
}

function toRuleChain(
  values: readonly Values[],
  parts: LeavingParts,
  type: 'TIME_SERIES' | 'ATTRIBUTES',
  scope: string,
): LeavingResult {
  const isSeries = type === 'TIME_SERIES'
  const bodies = values.map(({ ts, values: each }): JsonValue =>
    ts === undefined || !isSeries ? each : { ts, values: each },
  )
  const data =
    bodies.length === 1
      ? (bodies[0] ?? {})
      : isSeries
        ? bodies
        : Object.fromEntries(values.flatMap((each) => Object.entries(each.values)))
  const { name } = parts.active.record
  const metadata = isSeries ? { calculatedFieldName: name } : { calculatedFieldName: name, scope }
  const message = messageOf(
    parts,
    values[0]?.entity ?? parts.entity,
    isSeries ? 'POST_TELEMETRY_REQUEST' : 'POST_ATTRIBUTES_REQUEST',
    metadata,
    data,
  )
  return { message, relation: undefined }
}

function otherLeaving(result: Exclude<StepResult, Values>, parts: LeavingParts): readonly LeavingResult[] {
  const alarmType = parts.active.record.name
  if (result.kind === 'relation') {
    const { action, from, to, relationType } = result
    return [stored(parts, parts.entity, { kind: 'relation', action, from, to, relationType })]
  }
  const { details, metadata } = result
  if (result.action === 'clear')
    return [stored(parts, result.entity, { kind: 'clear', alarmType, details, metadata: { ...metadata } })]
  const severity = ALARM_SEVERITIES.find((each) => each === result.severity)
  if (severity === undefined) throw new RangeError(`${result.severity} is no severity`)
  const { startTs, dashboardId, propagate, propagateToOwner, propagateToTenant } = result
  const flags = {
    propagate,
    propagateToOwner,
    propagateToTenant,
    propagateRelationTypes: [...result.propagateRelationTypes],
  }
  return [
    stored(parts, result.entity, {
      kind: 'raise',
      alarmType,
      severity,
      startTs,
      details,
      dashboardId,
      metadata: { ...metadata },
      ...flags,
    }),
  ]
}

function stored(parts: LeavingParts, entity: EntityId, payload: ResultPayload): LeavingResult {
  const metadata = { calculatedFieldName: parts.active.record.name }
  return {
    message: messageOf(parts, entity, RESULT_TYPE, metadata, plainJson(payload)),
    relation: 'Result',
  }
}

function messageOf(
  { active, entity: own, facts, factsOf, now, previous, isBackfill }: LeavingParts,
  entity: EntityId,
  type: string,
  metadata: Readonly<Record<string, string>>,
  data: JsonValue,
): Message {
  const route = entity.id === own.id ? facts : factsOf.get(entity.id)
  return new Message({
    // It is given one by who sends it.
    ...{ id: '', ts: now, type, tenantId: active.record.tenantId, originator: entity },
    metadata: isBackfill ? { ...metadata, ...BACKFILL_METADATA } : metadata,
    data: stringifyJson(data),
    customerId: route?.customerId ?? undefined,
    ruleChainId: route?.ruleChainId ?? undefined,
    queueName: route?.queueName ?? undefined,
    calculatedFieldIds: [...previous, active.record.id],
  })
}
