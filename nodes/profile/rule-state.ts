/**
 * Alarm rules as a state machine: how an alarm stands and what its rules have counted, with what happened, give how it stands then and what
 * is to be done. Knows no clock and no store. Source: `rule-engine.md` 7.2.
 *
 * | | a rule that is true | one that is not yet | one that is false |
 * |---|---|---|---|
 * | to raise, the most severe first | raises, says anew, or makes more severe; the weaker are not looked at | keeps its counter | forgets its counter |
 * | to clear, only where none raised and one is active | clears, and all counters are forgotten | keeps its counter | forgets it |
 */
import type { NodeAlarmSeverity } from '../../engine/rulechain/capabilities/alarms.ts'
import { NODE_ALARM_SEVERITIES } from '../../engine/rulechain/capabilities/alarms.ts'
import type { TypedValue } from '../../model/value.ts'
import { NodeErrors } from '../errors.ts'
import { isActive, scheduleOfText } from '../rules/schedule.ts'
import { numberOf, textOf } from '../rules/typed-reading.ts'
import type { AlarmDefinition, AlarmRule } from './alarm-rule.ts'
import { holds } from './predicates.ts'
import { resolved, sourced, type RuleValues } from './rule-values.ts'

/** Of one rule; a type, not an interface: it is stored as JSON. */
export type RuleCount = {
  /** How often it was true in a row. */
  readonly count: number
  /** The time of the last event for which it was true, Unix ms, and how long it was true until then. */
  readonly lastTs: number
  readonly durationMs: number
}

export const CLEAR = 'CLEAR'
/** By severity, and `CLEAR`; without an entry a rule has counted nothing. */
export type RuleCounts = { readonly [rule: string]: RuleCount }

export interface AlarmStanding {
  /** Of the active alarm. */
  readonly active: NodeAlarmSeverity | undefined
  readonly counts: RuleCounts
}

export type AlarmEvent =
  /** Values changed: `changed` names them. */
  | { readonly kind: 'values'; readonly ts: number; readonly changed: ReadonlySet<string>; readonly values: RuleValues }
  /** Time went by. */
  | { readonly kind: 'time'; readonly values: RuleValues }
  /** Somebody cleared the alarm, or deleted it. */
  | { readonly kind: 'gone' }

export interface AlarmResult {
  readonly does: 'raise' | 'clear'
  /** Of the rule that was true: what the active alarm becomes, or was. */
  readonly severity: NodeAlarmSeverity
  readonly rule: AlarmRule
  /** What the rule had counted. */
  readonly count: RuleCount
}

export interface AlarmStep {
  readonly standing: AlarmStanding
  readonly result: AlarmResult | undefined
}

/** `still`: it was true before, and time alone went by. */
type Verdict = 'true' | 'still' | 'not yet' | 'false'

interface Judged {
  readonly verdict: Verdict
  readonly count: RuleCount
}

const NOTHING: RuleCount = { count: 0, lastTs: 0, durationMs: 0 }

export function step(alarm: AlarmDefinition, standing: AlarmStanding, event: AlarmEvent, now: number): AlarmStep {
  if (event.kind === 'gone') return { standing: { active: undefined, counts: {} }, result: undefined }
  const counts = new Map(Object.entries(standing.counts))
  const keep = (name: string, { verdict, count }: Judged): void => {
    if (verdict === 'false' || count === NOTHING) counts.delete(name)
    else counts.set(name, count)
  }
  const done = (active: NodeAlarmSeverity | undefined, result?: AlarmResult): AlarmStep => ({
    standing: { active, counts: sameOr(standing.counts, counts) },
    result,
  })
  for (const { severity, rule } of alarm.create) {
    if (!isConcerned(rule, event)) continue
    const judged = judge(rule, counts.get(severity) ?? NOTHING, event, now)
    keep(severity, judged)
    const { verdict } = judged
    if (verdict !== 'true' && verdict !== 'still') continue
    counts.delete(CLEAR)
    const { active } = standing
    const isSaid = verdict === 'still' && severity === active
    if (active !== undefined && (isSaid || isWeaker(severity, active))) return done(active)
    return done(severity, { does: 'raise', severity, rule, count: judged.count })
  }
  const { active } = standing
  if (active === undefined || alarm.clear === undefined || !isConcerned(alarm.clear, event)) return done(active)
  const judged = judge(alarm.clear, counts.get(CLEAR) ?? NOTHING, event, now)
  keep(CLEAR, judged)
  if (judged.verdict !== 'true' && judged.verdict !== 'still') return done(active)
  counts.clear()
  return done(undefined, { does: 'clear', severity: active, rule: alarm.clear, count: judged.count })
}

/** When a duration will be over though nothing is heard, Unix ms: of rules that could do something then. */
export function nextTime(
  alarm: AlarmDefinition,
  { active, counts }: AlarmStanding,
  values: RuleValues,
): number | undefined {
  const times: number[] = []
  const add = (rule: AlarmRule, name: string): void => {
    const count = counts[name]
    if (rule.spec.type !== 'DURATION' || count === undefined || count.lastTs === 0) return
    const limit = limitOf(rule, values)
    // One whose time is over has done what it does.
    if (limit > 0 && count.durationMs <= limit) times.push(Math.floor(count.lastTs + limit - count.durationMs) + 1)
  }
  for (const { severity, rule } of alarm.create)
    if (active === undefined || !isWeaker(severity, active)) add(rule, severity)
  if (active !== undefined && alarm.clear !== undefined) add(alarm.clear, CLEAR)
  return times.length === 0 ? undefined : Math.min(...times)
}

function isConcerned({ keys }: AlarmRule, event: AlarmEvent): boolean {
  if (event.kind !== 'values') return true
  for (const key of event.changed) if (keys.has(key)) return true
  return false
}

/** How the rule stands after the event, and what it has counted by then. */
function judge(rule: AlarmRule, before: RuleCount, event: Exclude<AlarmEvent, { kind: 'gone' }>, now: number): Judged {
  const { values } = event
  if (event.kind === 'time') return judgeAtTime(rule, before, values, now)
  const ts = event.ts === 0 ? now : event.ts
  if (!applies(rule, values, ts) || !isMet(rule, values)) return { verdict: 'false', count: NOTHING }
  switch (rule.spec.type) {
    case 'SIMPLE':
      return { verdict: 'true', count: NOTHING }
    case 'REPEATING': {
      const count = { ...NOTHING, count: before.count + 1 }
      return { verdict: count.count >= requiredLimit(rule, values) ? 'true' : 'not yet', count }
    }
    case 'DURATION': {
      const count = lengthened(before, ts)
      return { verdict: count.durationMs > requiredLimit(rule, values) ? 'true' : 'not yet', count }
    }
  }
}

function lengthened(before: RuleCount, ts: number): RuleCount {
  if (before.lastTs === 0) return { count: 0, lastTs: ts, durationMs: 0 }
  if (ts <= before.lastTs) return before
  return { count: 0, lastTs: ts, durationMs: before.durationMs + (ts - before.lastTs) }
}

/** Values stayed as they were: only durations go on. What it had lasted until the last event stays counted. */
function judgeAtTime(rule: AlarmRule, before: RuleCount, values: RuleValues, now: number): Judged {
  if (rule.spec.type !== 'DURATION') return { verdict: 'not yet', count: before }
  const limit = limitOf(rule, values)
  if (limit <= 0 || before.lastTs === 0 || now <= before.lastTs) return { verdict: 'not yet', count: before }
  if (!applies(rule, values, now)) return { verdict: 'false', count: NOTHING }
  if (before.durationMs > limit) return { verdict: 'still', count: before }
  const count = lengthened(before, now)
  return count.durationMs > limit ? { verdict: 'true', count } : { verdict: 'not yet', count: before }
}

function applies({ schedule, scheduleSource }: AlarmRule, values: RuleValues, ts: number): boolean {
  const found = sourced(scheduleSource, values)
  return isActive((found && scheduleOfText(textOf(found), schedule.type)) ?? schedule, ts)
}

function isMet({ filters }: AlarmRule, values: RuleValues): boolean {
  return filters.every(({ key, constant, predicate }) => {
    const isConstant = key.type === 'CONSTANT'
    const value = isConstant ? constant : values.own(key)
    return value !== undefined && holds(predicate, value, values, isConstant)
  })
}

/** As {@link limitOf}; throws `VALUE_INVALID` where the attribute that stands for it is no whole number: nobody would hear why no alarm comes. */
function requiredLimit(rule: AlarmRule, values: RuleValues): number {
  const source = rule.spec.type === 'SIMPLE' ? undefined : rule.spec.value.source
  const found = sourced(source, values)
  if (source !== undefined && found !== undefined && wholeOf(found) === undefined)
    throw NodeErrors.VALUE_INVALID({ key: source.attribute, expected: 'a whole number' })
  return limitOf(rule, values)
}

/** Ms, or repetitions; without any the rule is never true by counting. */
function limitOf({ spec }: AlarmRule, values: RuleValues): number {
  if (spec.type === 'SIMPLE') return 0
  const limit = Math.trunc(resolved(spec.value, values, wholeOf) ?? Number.POSITIVE_INFINITY)
  return spec.type === 'DURATION' ? limit * spec.unitMs : limit
}

/** Decimals are cut; a text must be a whole number (the reference's way). */
function wholeOf(value: TypedValue): number | undefined {
  if ((value.type === 'STRING' || value.type === 'JSON') && !/^[+-]?\d+$/.test(value.value)) return undefined
  const number = numberOf(value)
  return number === undefined ? undefined : Math.trunc(number)
}

function isWeaker(one: NodeAlarmSeverity, other: NodeAlarmSeverity): boolean {
  return NODE_ALARM_SEVERITIES.indexOf(one) > NODE_ALARM_SEVERITIES.indexOf(other)
}

/** The same object where nothing changed: most events change nothing, and are not stored. */
function sameOr(before: RuleCounts, after: ReadonlyMap<string, RuleCount>): RuleCounts {
  const names = Object.keys(before)
  const isSame =
    names.length === after.size &&
    names.every((name) => {
      const [one, other] = [before[name], after.get(name)]
      return (
        one === other ||
        (one?.count === other?.count && one?.lastTs === other?.lastTs && one?.durationMs === other?.durationMs)
      )
    })
  return isSame ? before : Object.fromEntries(after)
}
