/** ALARM: rules that raise and clear the alarm of the field's name. Source: `rule-engine.md` 7.3. */
import { z } from 'zod'
import { ALARM_SEVERITIES, type AlarmSeverity } from '../../model/alarm-severity.ts'
import type { AlarmRule } from '../../model/calculated-fields/alarm-rules.ts'
import {
  hidingState,
  type ConfigurationOf,
  type FieldKind,
  type FieldTools,
  type Step,
  type StepInput,
  type StepResult,
} from '../../model/calculated-fields/kind.ts'
import type { JsonValue } from '../../model/json.ts'
import { NodeErrors } from '../errors.ts'
import { alarmDetails } from '../rules/alarm-details.ts'
import { waitsForSilence, type ConditionContext } from './alarm-conditions.ts'
import {
  fitting,
  gone,
  nextTime,
  NO_ALARM,
  rulesOf,
  seen,
  step,
  type AlarmRules,
  type AlarmState,
  type AlarmVerdict,
  type Happened,
} from './alarm-machine.ts'
import { hasNews, TimedValues } from './argument-values.ts'
import { needsOf } from './needs.ts'
import { latestOf } from '../../model/calculated-fields/latest-time.ts'

type Configuration = ConfigurationOf<'ALARM'>

const stateSchema = z.strictObject({
  active: z
    .strictObject({
      severity: z.enum(ALARM_SEVERITIES),
      startTs: z.number().default(0),
      isSeen: z.literal(true).exactOptional(),
      isRising: z.literal(true).exactOptional(),
    })
    .exactOptional(),
  clearedTs: z.number().exactOptional(),
  memories: z.record(
    z.string(),
    z.strictObject({
      count: z.int().exactOptional(),
      since: z.number().exactOptional(),
      isOver: z.boolean().exactOptional(),
      applied: z.boolean().exactOptional(),
    }),
  ),
})

export const alarm: FieldKind<'ALARM'> = {
  type: 'ALARM',
  open(configuration, tools) {
    const rules = rulesOf(configuration)
    const scripts = scriptsOf(rules, Object.keys(configuration.arguments), tools)
    return hidingState<AlarmState>({
      needs: { arguments: needsOf(configuration.arguments), alarm: true },
      parse: (stored) => stateSchema.safeParse(stored).data ?? null,
      step: (state, input) => stepOf({ configuration, rules, scripts, tools }, state ?? NO_ALARM, input),
    })
  },
}

type Scripts = ReadonlyMap<string, (args: StepInput['args']) => JsonValue>

interface Opened {
  readonly configuration: Configuration
  readonly rules: AlarmRules
  readonly scripts: Scripts
  readonly tools: FieldTools
}

function stepOf(opened: Opened, before: AlarmState, input: StepInput): Step<AlarmState> {
  const { configuration, rules } = opened
  const values = new TimedValues(input.args)
  const context = new StepContext(opened.scripts, values, input)
  const known = standing(rules, before, input)
  const kind = kindOf(input)
  const stepped = kind === undefined ? undefined : step(rules, known, happened(kind, context, input))
  const state = stepped?.state ?? known
  const results = stepped?.verdict === undefined ? [] : [resultOf(stepped.verdict, configuration, values, input)]
  return { state: isNothing(state) ? null : state, results, wakeAt: wakeAtOf(opened, state, context, input) }
}

/** What is known before the rules are looked at. */
function standing(rules: AlarmRules, before: AlarmState, { cause, alarm: told }: StepInput): AlarmState {
  if (told === undefined) return before
  const severity = severityOf(told?.severity)
  const startTs = told?.startTs ?? 0
  if (cause === 'alarm') return severity === undefined ? gone(before) : seen(before, severity, startTs)
  const { memories } = fitting(rules, before)
  return severity === undefined ? { memories } : { active: { severity, startTs, isSeen: true }, memories }
}

function severityOf(name: string | undefined): AlarmSeverity | undefined {
  return ALARM_SEVERITIES.find((severity) => severity === name)
}

/** Undefined where the rules are not looked at. */
function kindOf(input: StepInput): Happened['kind'] | undefined {
  switch (input.cause) {
    case 'values':
      return hasNews(input) ? 'values' : undefined
    case 'wake':
      return 'time'
    case 'begin':
    case 'reload':
      return 'rules'
    // Whoever cleared it wants it gone until something happens.
    case 'alarm':
      return undefined
  }
}

function happened(kind: Happened['kind'], context: ConditionContext, input: StepInput): Happened {
  return { kind, latestTs: latestOf(input.args) ?? input.now, startTs: startTsOf(input), context }
}

function startTsOf({ args, now }: StepInput): number {
  const latest = latestOf(args) ?? now
  return latest <= 0 || latest > now ? now : latest
}

class StepContext implements ConditionContext {
  readonly values: TimedValues
  private readonly scripts: Scripts
  private readonly input: StepInput

  constructor(scripts: Scripts, values: TimedValues, input: StepInput) {
    this.scripts = scripts
    this.values = values
    this.input = input
  }

  get now(): number {
    return this.input.now
  }

  script(expression: string): boolean {
    const result = this.scripts.get(expression)?.(this.input.args)
    if (typeof result !== 'boolean') throw NodeErrors.CONDITION_NOT_BOOLEAN()
    return result
  }
}

function scriptsOf({ create, clear }: AlarmRules, names: readonly string[], tools: FieldTools): Scripts {
  const rules = [...create.map(({ rule }) => rule), ...(clear === undefined ? [] : [clear])]
  const expressions = rules.flatMap(({ condition: { expression } }: AlarmRule) =>
    expression.type === 'TBEL' ? [expression.expression] : [],
  )
  return new Map(expressions.map((expression) => [expression, tools.compileWithArguments(expression, names)]))
}

/** Where the time can not be told now, the tenant's interval looks again; also for data that is missing still when an alarm was cleared. */
function wakeAtOf(
  { rules, tools }: Opened,
  state: AlarmState,
  context: ConditionContext,
  { cause }: StepInput,
): number | undefined {
  const again = (): number => context.now + tools.limit('alarmsReevaluationInterval') * 1000
  try {
    const next = nextTime(rules, state, context)
    const isCleared = cause === 'alarm' && state.active === undefined
    if (!isCleared || !rules.create.some(({ rule }) => waitsForSilence(rule.condition))) return next
    return Math.min(next ?? Number.POSITIVE_INFINITY, again())
  } catch {
    // An argument says nothing that can be compared: the step that needs it fails, and says so.
    return again()
  }
}

function resultOf(
  { does, severity, rule, repeats, durationMs }: AlarmVerdict,
  configuration: Configuration,
  values: TimedValues,
  input: StepInput,
): StepResult {
  const { entity } = input
  const text = rule.alarmDetails === null || rule.alarmDetails === '' ? undefined : rule.alarmDetails
  const dashboardId = rule.dashboardId?.id
  const details = alarmDetails(text, dashboardId, values.named())
  const metadata = {
    ...(repeats === undefined ? {} : { alarmConditionRepeats: String(repeats) }),
    ...(durationMs === undefined ? {} : { alarmConditionDuration: String(durationMs) }),
  }
  if (does === 'clear') return { kind: 'alarm', entity, action: 'clear', details, metadata }
  const { propagate, propagateToOwner, propagateToTenant, propagateRelationTypes } = configuration
  return {
    ...{ kind: 'alarm', entity, action: 'raise', severity, startTs: startTsOf(input), details, metadata },
    dashboardId: dashboardId ?? null,
    ...{ propagate, propagateToOwner, propagateToTenant, propagateRelationTypes },
  }
}

function isNothing({ active, clearedTs, memories }: AlarmState): boolean {
  if (active !== undefined || clearedTs !== undefined) return false
  for (const _rule in memories) return false
  return true
}
