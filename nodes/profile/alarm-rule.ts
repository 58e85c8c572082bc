/** The alarm rules of a device profile, read (`rule-engine.md` 7.2). Keys that nobody knows are left alone. */
import { z } from 'zod'
import { NODE_ALARM_SEVERITIES, type NodeAlarmSeverity } from '../../engine/rulechain/capabilities/alarms.ts'
import { decimal } from '../../model/calculated-fields/arguments.ts'
import { isJsonObject, stringifyJson, type JsonValue } from '../../model/json.ts'
import type { TypedValue } from '../../model/value.ts'
import { schedule, type Schedule } from '../rules/schedule.ts'
import { UNIT_MS } from '../time-unit.ts'
import { booleanOf, numberOf, textOf } from '../rules/typed-reading.ts'
import { predicate, sourcesOf, type Predicate } from './predicates.ts'
import { KEY_TYPES, ruleValue, source, type RuleKey, type RuleValue, type Source } from './rule-values.ts'

const filterSchema = z.looseObject({
  key: z.looseObject({ type: z.enum(KEY_TYPES), key: z.string() }),
  valueType: z.enum(['STRING', 'NUMERIC', 'BOOLEAN', 'DATE_TIME']).nullish(),
  value: z.custom<JsonValue>().optional(),
  predicate,
})

const specSchema = z
  .discriminatedUnion('type', [
    z.looseObject({ type: z.literal('SIMPLE') }),
    z.looseObject({
      type: z.literal('DURATION'),
      unit: z.enum(['NANOSECONDS', 'MICROSECONDS', 'MILLISECONDS', 'SECONDS', 'MINUTES', 'HOURS', 'DAYS']),
      predicate: ruleValue(decimal),
    }),
    z.looseObject({ type: z.literal('REPEATING'), predicate: ruleValue(decimal) }),
  ])
  .nullish()
  .transform((spec): RuleSpec => {
    if (spec?.type === 'DURATION') return { type: 'DURATION', unitMs: UNIT_MS[spec.unit], value: spec.predicate }
    if (spec?.type === 'REPEATING') return { type: 'REPEATING', value: spec.predicate }
    return { type: 'SIMPLE' }
  })

const ruleSchema = z.looseObject({
  condition: z.looseObject({ condition: z.array(filterSchema), spec: specSchema }),
  schedule: z.preprocess(
    (value) => value ?? { type: 'ANY_TIME' },
    z.intersection(schedule, z.looseObject({ dynamicValue: source })),
  ),
  alarmDetails: z.string().nullish(),
  dashboardId: z.looseObject({ id: z.string() }).nullish(),
})

const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false)

const alarmSchema = z.looseObject({
  id: z.string(),
  alarmType: z.string(),
  createRules: z.partialRecord(z.enum(NODE_ALARM_SEVERITIES), ruleSchema),
  clearRule: ruleSchema.nullish(),
  propagate: flag,
  propagateToOwner: flag,
  propagateToTenant: flag,
  propagateRelationTypes: z.array(z.string()).nullish(),
})

export type RuleSpec =
  | { readonly type: 'SIMPLE' }
  | { readonly type: 'DURATION'; readonly unitMs: number; readonly value: RuleValue<number> }
  | { readonly type: 'REPEATING'; readonly value: RuleValue<number> }

export interface RuleFilter {
  readonly key: RuleKey
  /** The value itself, of a key that is a constant. */
  readonly constant: TypedValue | undefined
  readonly predicate: Predicate
}

export interface AlarmRule {
  readonly filters: readonly RuleFilter[]
  readonly spec: RuleSpec
  readonly schedule: Schedule
  /** The attribute that holds the schedule as JSON. */
  readonly scheduleSource: Source | undefined
  readonly details: string | undefined
  readonly dashboardId: string | undefined
  /** Names of keys whose change has it evaluated: `nameOf`. */
  readonly keys: ReadonlySet<string>
}

export interface AlarmDefinition {
  readonly id: string
  readonly type: string
  /** The most severe first. */
  readonly create: readonly { readonly severity: NodeAlarmSeverity; readonly rule: AlarmRule }[]
  readonly clear: AlarmRule | undefined
  readonly propagate: boolean
  readonly propagateToOwner: boolean
  readonly propagateToTenant: boolean
  readonly propagateRelationTypes: readonly string[]
}

/** What a profile's rules need to know, beside them. */
export interface ProfileRules {
  readonly alarms: readonly AlarmDefinition[]
  readonly series: readonly string[]
  readonly attributes: readonly string[]
  readonly hasFields: boolean
  /** Attributes of others that stand for written values. */
  readonly ofCustomer: readonly string[]
  readonly ofTenant: readonly string[]
}

export function nameOf({ type, key }: RuleKey): string {
  return `${type} ${key}`
}

/** Throws a `ZodError` that says which member is wrong. */
export function rulesOf(alarms: JsonValue): ProfileRules {
  const parsed = z.array(alarmSchema).parse(alarms ?? [])
  const definitions = parsed.map(definitionOf)
  const rules = definitions.flatMap(({ create, clear }) => [
    ...create.map(({ rule }) => rule),
    ...(clear === undefined ? [] : [clear]),
  ])
  const keys = rules.flatMap(({ filters }) => filters.map(({ key }) => key))
  const sources = rules.flatMap(sourcesOfRule)
  const named = (type: RuleKey['type']): string[] => keys.filter((key) => key.type === type).map(({ key }) => key)
  const from = (isFrom: (source: Source) => boolean): string[] => [
    ...new Set(sources.filter(isFrom).map(({ attribute }) => attribute)),
  ]
  const isInherited = ({ inherit }: Source): boolean => inherit
  return {
    alarms: definitions,
    series: [...new Set(named('TIME_SERIES'))],
    attributes: [...new Set([...named('ATTRIBUTE'), ...from((one) => one.from === 'CURRENT_DEVICE')])],
    hasFields: named('ENTITY_FIELD').length > 0,
    ofCustomer: from((one) => one.from === 'CURRENT_CUSTOMER' || (one.from === 'CURRENT_DEVICE' && isInherited(one))),
    ofTenant: from((one) => one.from === 'CURRENT_TENANT' || isInherited(one)),
  }
}

function definitionOf({
  id,
  alarmType,
  createRules,
  clearRule,
  ...alarm
}: z.output<typeof alarmSchema>): AlarmDefinition {
  return {
    id,
    type: alarmType,
    create: NODE_ALARM_SEVERITIES.flatMap((severity) => {
      const rule = createRules[severity]
      return rule === undefined ? [] : [{ severity, rule: ruleOf(rule) }]
    }),
    clear: clearRule === null || clearRule === undefined ? undefined : ruleOf(clearRule),
    propagate: alarm.propagate,
    propagateToOwner: alarm.propagateToOwner,
    propagateToTenant: alarm.propagateToTenant,
    propagateRelationTypes: alarm.propagateRelationTypes ?? [],
  }
}

function ruleOf({ condition, alarmDetails, dashboardId, ...rule }: z.output<typeof ruleSchema>): AlarmRule {
  const filters = condition.condition.map(({ key, value, valueType, predicate: wanted }): RuleFilter => ({
    key,
    constant: key.type === 'CONSTANT' ? constantOf(value ?? null, valueType ?? 'STRING') : undefined,
    predicate: wanted,
  }))
  const ofPredicates = filters.flatMap(({ predicate: wanted }) => sourcesOf(wanted))
  return {
    filters,
    spec: condition.spec,
    schedule: rule.schedule,
    scheduleSource: rule.schedule.dynamicValue,
    details: alarmDetails === '' ? undefined : (alarmDetails ?? undefined),
    dashboardId: dashboardId?.id,
    keys: new Set([
      ...filters.map(({ key }) => nameOf(key)),
      ...ofPredicates.map(({ attribute }) => nameOf({ type: 'ATTRIBUTE', key: attribute })),
    ]),
  }
}

function sourcesOfRule({ filters, spec, scheduleSource }: AlarmRule): readonly Source[] {
  const ofSpec = spec.type === 'SIMPLE' ? undefined : spec.value.source
  return [...filters.flatMap(({ predicate: wanted }) => sourcesOf(wanted)), ofSpec, scheduleSource].filter(
    (one) => one !== undefined,
  )
}

function constantOf(value: JsonValue, type: 'STRING' | 'NUMERIC' | 'BOOLEAN' | 'DATE_TIME'): TypedValue | undefined {
  if (value === null) return undefined
  const text = isJsonObject(value) || Array.isArray(value) ? stringifyJson(value) : String(value)
  const written: TypedValue = { type: 'STRING', value: text }
  if (type === 'STRING') return { type, value: textOf(written) }
  if (type === 'BOOLEAN') return { type, value: booleanOf(written) }
  const number = numberOf(written)
  return number === undefined ? undefined : { type: 'DOUBLE', value: number }
}
