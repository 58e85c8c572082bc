/** Conditions of alarm rules that are calculated fields (`rule-engine.md` 7.3): filters of arguments, or a script. */
import { compareNumbers } from '../../model/comparison.ts'
import type { AlarmRule, RulePredicate } from '../../model/calculated-fields/alarm-rules.ts'
import type { TypedValue } from '../../model/value.ts'
import { NodeErrors } from '../errors.ts'
import { compareFlags, compareTexts } from '../rules/comparison.ts'
import { anyScheduleOfText, type Schedule } from '../rules/schedule.ts'
import { UNIT_MS } from '../time-unit.ts'
import { booleanOf, numberOf, textOf } from '../rules/typed-reading.ts'
import type { TimedValue, TimedValues } from './argument-values.ts'

export type Condition = AlarmRule['condition']

/** What a condition is looked at with. */
export interface ConditionContext {
  readonly values: TimedValues
  /** Unix ms. */
  readonly now: number
  /** What the script says of the values. Throws where it fails, and where it says neither true nor false. */
  script(expression: string): boolean
}

/** Written down, or said by an argument. */
interface RuleValue<Value> {
  readonly staticValue?: Value | null | undefined
  readonly dynamicValueArgument?: string | null | undefined
}

/** Throws where an argument that it looks at is missing, or says nothing that can be compared. */
export function isMet({ expression }: Condition, context: ConditionContext): boolean {
  if (expression.type === 'TBEL') return context.script(expression.expression)
  // Loops, not functions of functions: each message asks each rule.
  const isAny = expression.operation === 'OR'
  for (const { argument, operation, predicates } of expression.filters)
    if (hold(operation, predicates, argumentOf(argument, context), context) === isAny) return isAny
  return !isAny
}

function hold(
  operation: 'AND' | 'OR' | null,
  predicates: readonly RulePredicate[],
  value: TimedValue,
  context: ConditionContext,
): boolean {
  const isAny = operation === 'OR'
  for (const predicate of predicates) if (holds(predicate, value, context) === isAny) return isAny
  return !isAny
}

function holds(predicate: RulePredicate, timed: TimedValue, context: ConditionContext): boolean {
  const { ts, value } = timed
  switch (predicate.type) {
    case 'COMPLEX':
      return hold(predicate.operation, predicate.predicates, timed, context)
    case 'STRING': {
      const other = resolved(predicate.value, context, textOf)
      return compareTexts(predicate.operation, textOf(value), other, predicate.ignoreCase)
    }
    case 'NUMERIC': {
      const number = numberOf(value)
      return (
        number !== undefined &&
        compareNumbers(predicate.operation, number, resolved(predicate.value, context, numberOf))
      )
    }
    case 'BOOLEAN':
      return compareFlags(predicate.operation, booleanOf(value), resolved(predicate.value, context, booleanOf))
    case 'NO_DATA': {
      const silence = silenceOf(predicate, context)
      return silence > 0 && context.now - ts >= silence
    }
  }
}

function silenceOf(
  { unit, duration }: RulePredicate & { readonly type: 'NO_DATA' },
  context: ConditionContext,
): number {
  return resolved(duration, context, wholeOf) * UNIT_MS[unit]
}

/** Ms; 0 where the condition is not one of a duration. */
export function durationOf(condition: Condition, context: ConditionContext): number {
  return condition.type === 'DURATION' ? resolved(condition.value, context, wholeOf) * UNIT_MS[condition.unit] : 0
}

/** 0 where the condition is not one of repetitions. */
export function repeatsOf(condition: Condition, context: ConditionContext): number {
  return condition.type === 'REPEATING' ? resolved(condition.count, context, wholeOf) : 0
}

/** Undefined where the rule always applies. */
export function scheduleOf({ schedule }: Condition, context: ConditionContext): Schedule | undefined {
  if (schedule === null) return undefined
  return resolved<Schedule>(schedule, context, (value) => anyScheduleOfText(textOf(value)))
}

/** When what is missing has been so for long enough, Unix ms: of everything that a condition waits for. */
export function silences({ expression }: Condition, context: ConditionContext): readonly number[] {
  if (expression.type === 'TBEL') return []
  return expression.filters.flatMap(({ argument, predicates }) => {
    const { ts } = argumentOf(argument, context)
    return predicates.flatMap(noDataIn).map((predicate) => Math.ceil(ts + silenceOf(predicate, context)))
  })
}

/** Whether time alone can make it true. */
export function waitsForSilence({ expression }: Condition): boolean {
  return expression.type === 'SIMPLE' && expression.filters.some(({ predicates }) => predicates.some(hasNoData))
}

function hasNoData(predicate: RulePredicate): boolean {
  return noDataIn(predicate).length > 0
}

function noDataIn(predicate: RulePredicate): readonly (RulePredicate & { readonly type: 'NO_DATA' })[] {
  if (predicate.type === 'COMPLEX') return predicate.predicates.flatMap(noDataIn)
  return predicate.type === 'NO_DATA' ? [predicate] : []
}

function argumentOf(name: string, { values }: ConditionContext): TimedValue {
  const value = values.get(name)
  if (value === undefined) throw NodeErrors.VALUE_MISSING({ key: name, place: 'arguments' })
  return value
}

function resolved<Value>(
  { staticValue, dynamicValueArgument }: RuleValue<Value>,
  context: ConditionContext,
  read: (value: TypedValue) => Value | undefined,
): Value {
  if (staticValue !== null && staticValue !== undefined) return staticValue
  const name = dynamicValueArgument ?? ''
  const value = read(argumentOf(name, context).value)
  if (value === undefined) throw NodeErrors.VALUE_INVALID({ key: name, expected: 'what the rule compares with' })
  return value
}

function wholeOf(value: TypedValue): number | undefined {
  const number = numberOf(value)
  return number === undefined ? undefined : Math.trunc(number)
}
