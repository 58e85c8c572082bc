/** One field of one entity: its state, news that came, and what the kind makes of both. Pure, but for the script's clock. */
import type { ArgumentUpdate, ArgumentValue, StepInput, StepResult } from '../../../model/calculated-fields/kind.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import { errorText } from '../../../model/errors.ts'
import type { ActiveField } from './field-index.ts'
import { sourceOf } from './field-index.ts'
import { isDynamic, valueOf, withoutValue, withUpdate, type Held } from './held.ts'
import type { News } from './payload.ts'
import { isSource, type LoadedField } from './reader.ts'
import { bytesOf, type FieldState } from './states.ts'

export interface CalculationTurn {
  readonly entity: EntityId
  readonly now: number
  /** Undefined at a wake-up. */
  readonly news: News | undefined
  readonly loaded: LoadedField | undefined
  readonly targets: readonly EntityId[]
  readonly maxStateBytes: number
}

export interface Calculated {
  readonly state: FieldState
  readonly results: readonly StepResult[]
  /** What debug events show; undefined where nothing was calculated. */
  readonly shown: { readonly args: Readonly<Record<string, ArgumentValue>>; readonly error?: string } | undefined
}

/** The same state where the news is none of this field's. */
export function calculate(active: ActiveField, before: FieldState | undefined, turn: CalculationTurn): Calculated {
  const { field, record, failure } = active
  const { loaded, now, entity } = turn
  const isNew = before === undefined || before.version !== record.version
  const kept: FieldState = isNew ? { version: record.version, args: {}, own: null } : before
  if (field === undefined)
    return isNew ? { state: kept, results: [], shown: { args: {}, error: failure ?? '' } } : same(kept)
  if (kept.isTooLarge === true) return same(kept)
  const { needs } = field
  let args: Record<string, Held> = { ...kept.args, ...loaded?.args }
  const updates: ArgumentUpdate[] = []
  let hasChanged = false
  if (turn.news?.kind === 'values') {
    const came = takeNews(active, args, turn.news, entity, now)
    args = came.args
    updates.push(...came.updates)
    hasChanged = came.hasChanged
  }
  const cause = causeOf(kept, turn, isNew, hasChanged)
  if (cause === undefined) return same(kept)
  const everyMs = Object.values(needs.arguments).some(isDynamic) ? needs.reloadEveryMs : undefined
  const reloadAt = everyMs === undefined ? {} : { reloadAt: reloadTime(kept, turn, isNew, everyMs) }
  const wakeAt = cause === 'wake' || kept.wakeAt === undefined ? {} : { wakeAt: kept.wakeAt }
  const waiting: FieldState = { version: record.version, args, own: kept.own, ...reloadAt, ...wakeAt }
  const values = valuesOf(active, args, now)
  const missing = Object.keys(needs.arguments).filter(
    (name) => values[name] === undefined && needs.optional?.has(name) !== true,
  )
  if (missing.length > 0)
    return bounded(
      {
        state: waiting,
        results: [],
        shown: { args: values, error: `Required arguments are missing: ${missing.join(', ')}` },
      },
      turn,
    )
  const input: StepInput = { entity, now, cause, args: values, updates, targets: turn.targets, alarm: loaded?.alarm }
  try {
    const step = field.step(kept.own, input)
    const next = { version: record.version, args, own: step.state, ...reloadAt }
    const state: FieldState = step.wakeAt === undefined ? next : { ...next, wakeAt: Math.ceil(step.wakeAt) }
    return bounded({ state, results: step.results, shown: { args: values } }, turn)
  } catch (error) {
    return bounded({ state: waiting, results: [], shown: { args: values, error: errorText(error) } }, turn)
  }
}

function same(state: FieldState): Calculated {
  return { state, results: [], shown: undefined }
}

function causeOf(
  before: FieldState,
  { news, now, loaded }: CalculationTurn,
  isNew: boolean,
  hasChanged: boolean,
): StepInput['cause'] | undefined {
  if (hasChanged) return 'values'
  if (isNew) return 'begin'
  if (news === undefined && before.wakeAt !== undefined && before.wakeAt <= now) return 'wake'
  if (loaded === undefined) return undefined
  return news?.kind === 'alarm' && loaded.alarm !== undefined ? 'alarm' : 'reload'
}

function reloadTime({ reloadAt }: FieldState, { now }: CalculationTurn, isNew: boolean, everyMs: number): number {
  return isNew || reloadAt === undefined || reloadAt <= now ? now + everyMs : reloadAt
}

function takeNews(
  { field }: ActiveField,
  before: Record<string, Held>,
  news: Extract<News, { kind: 'values' }>,
  own: EntityId,
  now: number,
): { readonly args: Record<string, Held>; readonly updates: readonly ArgumentUpdate[]; readonly hasChanged: boolean } {
  const args = { ...before }
  const updates: ArgumentUpdate[] = []
  let hasChanged = false
  const from = news.from ?? own
  for (const [name, need] of Object.entries(field?.needs.arguments ?? {})) {
    const held = args[name]
    if (held === undefined || sourceOf(need) !== news.source || !isSource(held, need, own, from)) continue
    let present = held
    if (news.deleted.includes(need.key)) {
      present = withoutValue(need, present, from, now)
      hasChanged = true
    }
    for (const [key, ts, value] of news.values.toSorted((a, b) => a[1] - b[1])) {
      if (key !== need.key) continue
      const update = { name, ts, value, entity: from }
      updates.push(update)
      present = withUpdate(need, present, update, now) ?? present
      hasChanged = true
    }
    args[name] = present
  }
  updates.sort((a, b) => a.ts - b.ts)
  return { args, updates, hasChanged }
}

function valuesOf(
  { field }: ActiveField,
  args: Readonly<Record<string, Held>>,
  now: number,
): Record<string, ArgumentValue> {
  const values: Record<string, ArgumentValue> = {}
  for (const [name, need] of Object.entries(field?.needs.arguments ?? {})) {
    const value = valueOf(need, args[name] ?? {}, now)
    if (value !== undefined) values[name] = value
  }
  return values
}

/** A field that holds more than it may rests, and says why. */
function bounded(calculated: Calculated, { maxStateBytes }: CalculationTurn): Calculated {
  const bytes = maxStateBytes > 0 ? bytesOf(calculated.state) : 0
  if (bytes <= maxStateBytes) return calculated
  const { version } = calculated.state
  const error = `The state is ${bytes} bytes, at most ${maxStateBytes} are allowed`
  return {
    state: { version, args: {}, own: null, isTooLarge: true },
    results: [],
    shown: { args: calculated.shown?.args ?? {}, error },
  }
}
