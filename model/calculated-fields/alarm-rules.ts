/** Alarm rules: calculated fields that raise and clear alarms of their name. Source: `rule-engine.md` 7.3. */
import { z } from 'zod'
import { ALARM_SEVERITIES } from '../alarm-severity.ts'
import { BOOLEAN_OPERATIONS, NUMERIC_OPERATIONS, STRING_OPERATIONS } from '../comparison.ts'
import { isUuid } from '../entity-id.ts'
import { decimal, flag, namedArguments, orNull, text, whole, withoutNulls } from './arguments.ts'

/** Something that is written down, or that an argument says. */
function valueOf<Value extends z.ZodType>(value: Value) {
  return z
    .object({ staticValue: value.nullish(), dynamicValueArgument: z.string().nullish() })
    .transform(withoutNulls)
    .refine(
      (members) => 'staticValue' in members || 'dynamicValueArgument' in members,
      'must have a staticValue or a dynamicValueArgument',
    )
}

const TIME_UNITS = ['NANOSECONDS', 'MICROSECONDS', 'MILLISECONDS', 'SECONDS', 'MINUTES', 'HOURS', 'DAYS'] as const
const unit = z.enum(TIME_UNITS, 'must be a unit of time')
const logical = z.enum(['AND', 'OR'], 'must be AND or OR')

const plainPredicates = [
  z.object({
    type: z.literal('STRING'),
    operation: z.enum(STRING_OPERATIONS),
    value: valueOf(z.string()),
    ignoreCase: flag,
  }),
  z.object({ type: z.literal('NUMERIC'), operation: z.enum(NUMERIC_OPERATIONS), value: valueOf(decimal) }),
  z.object({ type: z.literal('BOOLEAN'), operation: z.enum(BOOLEAN_OPERATIONS), value: valueOf(z.boolean()) }),
  z.object({ type: z.literal('NO_DATA'), unit, duration: valueOf(whole) }),
] as const

type PlainPredicate = z.infer<(typeof plainPredicates)[number]>
export type RulePredicate =
  PlainPredicate | { readonly type: 'COMPLEX'; readonly operation: 'AND' | 'OR'; readonly predicates: RulePredicate[] }

const predicate: z.ZodType<RulePredicate> = z.lazy(() =>
  z.discriminatedUnion('type', [
    ...plainPredicates,
    z.object({ type: z.literal('COMPLEX'), operation: logical, predicates: z.array(predicate).min(1) }),
  ]),
)

const filter = z.object({
  argument: text,
  valueType: z.enum(['STRING', 'NUMERIC', 'BOOLEAN', 'DATE_TIME'], 'must be a type of value'),
  operation: orNull(logical),
  predicates: z.array(predicate).min(1, 'must not be empty'),
})

const expression = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('SIMPLE'),
    filters: z.array(filter).min(1, 'must not be empty'),
    operation: orNull(logical),
  }),
  z.object({ type: z.literal('TBEL'), expression: text }),
])

const schedule = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ANY_TIME') }),
  z.object({
    type: z.literal('SPECIFIC_TIME'),
    timezone: text,
    daysOfWeek: z.array(whole.refine((day) => day >= 1 && day <= 7, 'must be from 1 to 7')),
    startsOn: whole,
    endsOn: whole,
  }),
  z.object({
    type: z.literal('CUSTOM'),
    timezone: text,
    items: z.array(z.object({ enabled: flag, dayOfWeek: whole, startsOn: whole, endsOn: whole })),
  }),
])

const common = { expression, schedule: orNull(valueOf(schedule)) }
const condition = z.discriminatedUnion('type', [
  z.object({ type: z.literal('SIMPLE'), ...common }),
  z.object({ type: z.literal('DURATION'), ...common, unit, value: valueOf(whole) }),
  z.object({ type: z.literal('REPEATING'), ...common, count: valueOf(whole) }),
])

const rule = z.object({
  condition,
  alarmDetails: orNull(z.string()),
  dashboardId: orNull(
    z
      .object({ id: z.string().refine(isUuid, 'must be a UUID') })
      .transform(({ id }) => ({ entityType: 'DASHBOARD' as const, id: id.toLowerCase() })),
  ),
})
export type AlarmRule = z.infer<typeof rule>

export const alarmConfiguration = z.object({
  type: z.literal('ALARM'),
  arguments: namedArguments,
  createRules: z
    .partialRecord(z.enum(ALARM_SEVERITIES), rule, 'must not be null')
    .refine((rules) => Object.keys(rules).length > 0, 'must not be empty'),
  clearRule: orNull(rule),
  propagate: flag,
  propagateToOwner: flag,
  propagateToTenant: flag,
  propagateRelationTypes: z
    .array(z.string())
    .max(100)
    .nullish()
    .transform((types) => types ?? []),
  output: z
    .unknown()
    .optional()
    .transform(() => null),
})

/** What a rule says at a place in the configuration. */
export interface RuleMember {
  readonly member: string
  readonly name: string
}

type Rules = Pick<z.infer<typeof alarmConfiguration>, 'createRules' | 'clearRule'>

/** Names of arguments that its rules use, and where. */
export function argumentsOfRules(rules: Rules): readonly RuleMember[] {
  return [...membersOf(rules, 'argument'), ...membersOf(rules, 'dynamicValueArgument')]
}

/** Time zones of its schedules, and where. */
export function zonesOfRules(rules: Rules): readonly RuleMember[] {
  return membersOf(rules, 'timezone')
}

function membersOf({ createRules, clearRule }: Rules, member: string): readonly RuleMember[] {
  const found: RuleMember[] = []
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      const place = `${path}.${key}`
      if (key === member && typeof inner === 'string') found.push({ member: place, name: inner })
      else walk(inner, place)
    }
  }
  for (const [severity, one] of Object.entries(createRules)) walk(one.condition, `createRules.${severity}.condition`)
  if (clearRule !== null) walk(clearRule.condition, 'clearRule.condition')
  return found
}
