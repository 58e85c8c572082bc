/**
 * Alarm rules of a calculated field as a state machine: how the alarm stands and what its rules have counted, with what happened, give how it
 * stands then and what is to be done. Knows no clock and no store. Source: `rule-engine.md` 7.3.
 *
 * | | a rule that is true | one that is not yet | one that is false |
 * |---|---|---|---|
 * | to raise, the most severe first | raises, says anew, or makes more severe; the weaker are not looked at | keeps its counter | forgets its counter |
 * | to clear, only where none raised and one is active | clears, and all counters are forgotten | keeps its counter | forgets it |
 */
import { ALARM_SEVERITIES, type AlarmSeverity } from '../../model/alarm-severity.ts'
import type { AlarmRule } from '../../model/calculated-fields/alarm-rules.ts'
import { isActive, nextChange } from '../rules/schedule.ts'
import {
  durationOf,
  isMet,
  repeatsOf,
  scheduleOf,
  silences,
  waitsForSilence,
  type ConditionContext,
} from './alarm-conditions.ts'

export const CLEAR = 'CLEAR'

/** Of one rule; a type, not an interface: it is stored as JSON. */
export type RuleMemory = {
  /** How often it was true in a row. */
  readonly count?: number
  /** When it became true, Unix ms. */
  readonly since?: number
  /** Its time was over when it was looked at last. */
  readonly isOver?: boolean
  /** Whether its schedule applied when it was looked at last. */
  readonly applied?: boolean
}

/** By severity, and `CLEAR`; without an entry a rule remembers nothing. */
export type RuleMemories = { readonly [rule: string]: RuleMemory }

export type ActiveAlarm = {
  readonly severity: AlarmSeverity
  /** When it begins if the last rule that raised it has made it, or as it was seen, Unix ms: what the rules made until now began no later. */
  readonly startTs: number
  /** It was seen where alarms are stored; until then, that there is none says only that it is not written yet. */
  readonly isSeen?: true
  /** A rule raised it to its severity, and it was not seen with it: a weaker one that is stored is the one before. */
  readonly isRising?: true
}

export type AlarmState = {
  readonly active?: ActiveAlarm
  /** Alarms that began until then were cleared by a rule, Unix ms: that there is one says only that the clear is not written yet. */
  readonly clearedTs?: number
  readonly memories: RuleMemories
}

export const NO_ALARM: AlarmState = { memories: {} }

export interface AlarmRules {
  /** The most severe first. */
  readonly create: readonly { readonly severity: AlarmSeverity; readonly rule: AlarmRule }[]
  readonly clear: AlarmRule | undefined
  /** Time alone changes nothing: no rule has a duration, a schedule, or waits for silence. */
  readonly isTimeless: boolean
}

export interface Happened {
  /** `values`: arguments have new ones; `rules`: the field was saved; `time`: nothing but time went by. */
  readonly kind: 'values' | 'rules' | 'time'
  /** The time of the newest argument, Unix ms. */
  readonly latestTs: number
  /** When an alarm that is raised now begins, Unix ms. */
  readonly startTs: number
  readonly context: ConditionContext
}

export interface AlarmVerdict {
  readonly does: 'raise' | 'clear'
  /** What the active alarm becomes, or was. */
  readonly severity: AlarmSeverity
  readonly rule: AlarmRule
  readonly repeats: number | undefined
  readonly durationMs: number | undefined
}

/** `nothing`: what it says is no news. */
type Verdict = 'true' | 'not yet' | 'false' | 'nothing'

interface Judged {
  readonly verdict: Verdict
  readonly memory: RuleMemory
}

const NOTHING: RuleMemory = {}

export function rulesOf({
  createRules,
  clearRule,
}: {
  readonly createRules: Partial<Record<AlarmSeverity, AlarmRule>>
  readonly clearRule: AlarmRule | null
}): AlarmRules {
  const create = ALARM_SEVERITIES.flatMap((severity) => {
    const rule = createRules[severity]
    return rule === undefined ? [] : [{ severity, rule }]
  })
  const all = [...create.map(({ rule }) => rule), ...(clearRule === null ? [] : [clearRule])]
  const isTimeless = all.every(
    ({ condition }) => condition.type !== 'DURATION' && condition.schedule === null && !waitsForSilence(condition),
  )
  return { create, clear: clearRule ?? undefined, isTimeless }
}

/** Throws what a condition throws: nothing has changed then. */
export function step({ create, clear }: AlarmRules, before: AlarmState, happened: Happened): Stepped {
  const { active, memories } = before
  const { startTs } = happened
  let after = memories
  for (const { severity, rule } of create) {
    const { verdict, memory } = judged(rule, after[severity], happened)
    after = remembering(after, severity, verdict, memory)
    if (verdict !== 'true') continue
    after = without(after, CLEAR, after[CLEAR])
    if (active !== undefined && isWeaker(severity, active.severity)) return stepped(before, active, after)
    if (active?.severity === severity && happened.kind === 'time') return stepped(before, active, after)
    const counts = counted(rule, memory, happened.context.now)
    const raised: ActiveAlarm =
      active?.severity === severity ? { ...active, startTs } : { ...active, severity, startTs, isRising: true }
    return stepped(before, raised, after, { does: 'raise', severity, rule, ...counts })
  }
  if (active === undefined) return { state: { ...before, memories: after }, verdict: undefined }
  if (clear === undefined) return stepped(before, active, after)
  const { verdict, memory } = judged(clear, after[CLEAR], happened)
  after = remembering(after, CLEAR, verdict, memory)
  if (verdict !== 'true') return stepped(before, active, after)
  for (const [name, one] of Object.entries(after)) after = without(after, name, one)
  const { severity } = active
  const counts = counted(clear, memory, happened.context.now)
  const verdictNow: AlarmVerdict = { does: 'clear', severity, rule: clear, ...counts }
  return { state: { clearedTs: active.startTs, memories: after }, verdict: verdictNow }
}

interface Stepped {
  readonly state: AlarmState
  readonly verdict: AlarmVerdict | undefined
}

function stepped(
  { clearedTs }: AlarmState,
  active: ActiveAlarm,
  memories: RuleMemories,
  verdict?: AlarmVerdict,
): Stepped {
  return { state: clearedTs === undefined ? { active, memories } : { active, clearedTs, memories }, verdict }
}

function judged(rule: AlarmRule, before: RuleMemory = NOTHING, happened: Happened): Judged {
  return happened.kind === 'time' ? judgeAtTime(rule, before, happened) : judge(rule, before, happened)
}

function remembering(memories: RuleMemories, name: string, verdict: Verdict, memory: RuleMemory): RuleMemories {
  return verdict === 'false' ? without(memories, name, memory) : withMemory(memories, name, memory)
}

/** One is stored; of one that a rule cleared the clear is on its way. */
export function seen(state: AlarmState, severity: AlarmSeverity, startTs: number): AlarmState {
  const { active, clearedTs } = state
  if (clearedTs !== undefined && startTs <= clearedTs) return state
  if (active?.isRising === true && isWeaker(severity, active.severity))
    return { ...state, active: { ...active, isSeen: true } }
  return { ...state, active: { severity, startTs: active?.startTs ?? startTs, isSeen: true } }
}

/** None is stored. Where one was, somebody cleared or deleted it: what the rules counted goes with it. */
export function gone(state: AlarmState): AlarmState {
  const { active, memories, clearedTs } = state
  if (active?.isSeen !== true) return state
  let after = memories
  for (const [name, memory] of Object.entries(memories)) after = without(after, name, memory)
  return clearedTs === undefined ? { memories: after } : { clearedTs, memories: after }
}

/** Only what the rules of today can have counted. */
export function fitting({ create, clear }: AlarmRules, state: AlarmState): AlarmState {
  const rules = new Map<string, AlarmRule>(create.map(({ severity, rule }) => [severity, rule]))
  if (clear !== undefined) rules.set(CLEAR, clear)
  const memories = Object.entries(state.memories).flatMap(([name, memory]) => {
    const type = rules.get(name)?.condition.type
    const { count, since, isOver } = memory
    const kept: RuleMemory = {
      ...(type === 'REPEATING' && count !== undefined ? { count } : {}),
      ...(type === 'DURATION' && since !== undefined ? { since, ...(isOver === undefined ? {} : { isOver }) } : {}),
    }
    return Object.keys(kept).length === 0 ? [] : [[name, kept] as const]
  })
  return { ...state, memories: Object.fromEntries(memories) }
}

/** When time alone may change something, Unix ms and later than now; undefined where it can not. Throws what a condition throws. */
export function nextTime(
  { create, clear, isTimeless }: AlarmRules,
  { active, memories }: AlarmState,
  context: ConditionContext,
): number | undefined {
  if (isTimeless) return undefined
  const { now } = context
  const times: number[] = []
  const add = (rule: AlarmRule, memory: RuleMemory = NOTHING): void => {
    const { condition } = rule
    const { since, isOver } = memory
    if (condition.type === 'DURATION') {
      if (since === undefined) return
      if (isOver !== true) times.push(Math.ceil(since + durationOf(condition, context)))
    } else if (waitsForSilence(condition)) times.push(...silences(condition, context))
    const schedule = scheduleOf(condition, context)
    const change = schedule === undefined ? undefined : nextChange(schedule, now)
    if (change !== undefined) times.push(change)
  }
  for (const { severity, rule } of create)
    if (active === undefined || isWeaker(active.severity, severity)) add(rule, memories[severity])
  if (active !== undefined && clear !== undefined) add(clear, memories[CLEAR])
  const later = times.filter((time) => time > now)
  return later.length === 0 ? undefined : Math.min(...later)
}

/** How the rule stands after new values, and what it remembers then. */
function judge({ condition }: AlarmRule, before: RuleMemory, { kind, latestTs, context }: Happened): Judged {
  const { now } = context
  const applied = applies(condition, context, kind === 'values' ? latestTs : now)
  const memory = remembered(before, applied)
  if (applied === false || !isMet(condition, context)) return { verdict: 'false', memory }
  switch (condition.type) {
    case 'SIMPLE':
      return { verdict: 'true', memory }
    case 'REPEATING':
      return repeated(memory, (before.count ?? 0) + (kind === 'values' ? 1 : 0), repeatsOf(condition, context))
    case 'DURATION': {
      const since = before.since ?? latestTs
      const limit = durationOf(condition, context)
      const isOver = limit > 0 && now > since && now - since >= limit
      return { verdict: isOver ? 'true' : 'not yet', memory: { ...memory, since, ...(isOver ? { isOver } : {}) } }
    }
  }
}

/** Values stayed as they were: durations end, arguments are silent for too long, schedules begin. */
function judgeAtTime({ condition }: AlarmRule, before: RuleMemory, { context }: Happened): Judged {
  const { now } = context
  const applied = applies(condition, context, now)
  const memory = remembered(before, applied)
  if (condition.type === 'DURATION') {
    if (applied === false) return { verdict: 'false', memory }
    const { since } = before
    const limit = durationOf(condition, context)
    if (since === undefined || limit <= 0 || now <= since) return { verdict: 'nothing', memory }
    if (now - since < limit) return { verdict: 'not yet', memory }
    return { verdict: before.isOver === true ? 'nothing' : 'true', memory: { ...memory, isOver: true } }
  }
  const begins = applied === true && before.applied !== true
  if (applied === false || !(begins || waitsForSilence(condition)) || !isMet(condition, context))
    return { verdict: 'nothing', memory }
  if (condition.type === 'SIMPLE') return { verdict: 'true', memory }
  const judged = repeated(memory, before.count ?? 0, repeatsOf(condition, context))
  return judged.verdict === 'true' ? judged : { verdict: 'nothing', memory }
}

function repeated(memory: RuleMemory, count: number, limit: number): Judged {
  return { verdict: limit > 0 && count >= limit ? 'true' : 'not yet', memory: { ...memory, count } }
}

/** Undefined where the rule has no schedule. */
function applies(condition: AlarmRule['condition'], context: ConditionContext, ts: number): boolean | undefined {
  const schedule = scheduleOf(condition, context)
  return schedule === undefined ? undefined : isActive(schedule, ts)
}

function remembered(before: RuleMemory, applied: boolean | undefined): RuleMemory {
  if (before === NOTHING && applied === undefined) return NOTHING
  const { applied: _before, ...memory } = before
  return applied === undefined ? memory : { ...memory, applied }
}

/** What it counted goes; whether its schedule applied stays. */
function without(memories: RuleMemories, name: string, memory: RuleMemory | undefined): RuleMemories {
  return withMemory(memories, name, memory?.applied === undefined ? NOTHING : { applied: memory.applied })
}

/** The same ones where nothing changes. */
function withMemory(memories: RuleMemories, name: string, memory: RuleMemory): RuleMemories {
  if (memory !== NOTHING && Object.keys(memory).length > 0) return { ...memories, [name]: memory }
  if (memories[name] === undefined) return memories
  const { [name]: _gone, ...others } = memories
  return others
}

function counted({ condition }: AlarmRule, { count, since }: RuleMemory, now: number) {
  return {
    repeats: condition.type === 'REPEATING' ? (count ?? 0) : undefined,
    durationMs: condition.type === 'DURATION' ? now - (since ?? now) : undefined,
  }
}

function isWeaker(one: AlarmSeverity, other: AlarmSeverity): boolean {
  return ALARM_SEVERITIES.indexOf(one) > ALARM_SEVERITIES.indexOf(other)
}
