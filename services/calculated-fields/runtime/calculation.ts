/** One field of one entity: its state, news that came, and what the kind makes of both. Pure, but for the script's clock. */
import type {
  ArgumentNeed,
  ArgumentUpdate,
  ArgumentValue,
  Needs,
  StepInput,
  StepResult,
} from '../../../model/calculated-fields/kind.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import { errorText } from '../../../model/errors.ts'
import type { JsonValue } from '../../../model/json.ts'
import { CalculatedFieldErrors } from '../errors.ts'
import { isTooLarge, needWithin, withinSize, type CalculationLimits } from './bounds.ts'
import type { ActiveField } from './field-index.ts'
import { sourceOf } from './field-index.ts'
import { areSame, isDynamic, isSource, valueOf, withoutValue, withUpdate, type Held } from './held.ts'
import type { News, ValuesNews } from './payload.ts'
import type { LoadedField } from './reader.ts'
import { isRelationNews } from './relation-news.ts'
import { bytesOf, isWithin, type FieldState } from './states.ts'

export interface CalculationTurn {
  readonly entity: EntityId
  readonly now: number
  /** Undefined at a wake-up. */
  readonly news: News | undefined
  readonly loaded: LoadedField | undefined
  readonly targets: readonly EntityId[]
  readonly limits: CalculationLimits
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
  const { needed, isDynamic } = neededOf(needs, turn.limits)
  let { args } = kept
  let tooLarge: readonly string[] = NOTHING
  let updates: readonly ArgumentUpdate[] = NOTHING
  let hasChanged = false
  if (loaded !== undefined) {
    const read = withinSize(needs.arguments, loaded.args, turn.limits)
    args = { ...args, ...read.args }
    tooLarge = read.tooLarge
  }
  if (turn.news?.kind === 'values') {
    const came = takeNews(needed, args, turn.news, turn)
    args = came.args
    updates = came.updates
    if (came.tooLarge.length > 0) tooLarge = [...tooLarge, ...came.tooLarge]
    hasChanged = came.hasChanged
  }
  const cause = causeOf(kept, turn, needs, isNew, hasChanged)
  if (cause === undefined) return same(kept)
  const everyMs = isDynamic ? needs.reloadEveryMs : undefined
  const reloadAt = everyMs === undefined ? undefined : reloadTime(kept, turn, isNew, everyMs)
  const values = valuesOf(needed, args, now)
  const begun: Begun = { version: record.version, kept, args, reloadAt, isWake: cause === 'wake', values, turn }
  if (tooLarge.length > 0)
    return failed(begun, CalculatedFieldErrors.VALUE_TOO_LARGE({ names: tooLarge.join(', ') }).message)
  const missing = missingOf(needed, values, needs)
  if (missing.length > 0) return failed(begun, `Required arguments are missing: ${missing.join(', ')}`)
  const isRead = loaded === undefined ? undefined : true
  const { targets } = turn
  const input: StepInput = { entity, now, cause, args: values, updates, isRead, targets, alarm: loaded?.alarm }
  try {
    const step = field.step(kept.own, input)
    const state = stateWith(begun, step.state, step.wakeAt === undefined ? undefined : Math.ceil(step.wakeAt))
    const shown = step.isUnchanged === true ? undefined : { args: values }
    return bounded({ state, results: step.results, shown }, turn.limits)
  } catch (error) {
    return failed(begun, errorText(error))
  }
}

/**
 * What a field that the news came from makes of it: what was read for it counts from here on, and nothing is calculated, or a chain that
 * changes a relation behind each result would have no end. Undefined where nothing is new; a field that has yet to begin does so with other news.
 */
export function takeLoaded(
  { field, record }: ActiveField,
  before: FieldState | undefined,
  { loaded, limits }: Pick<CalculationTurn, 'loaded' | 'limits'>,
): Calculated | undefined {
  if (loaded === undefined || field === undefined || before?.version !== record.version) return undefined
  if (before.isTooLarge === true || areSame(loaded.args, before.args)) return undefined
  const { args } = withinSize(field.needs.arguments, loaded.args, limits)
  return bounded(same({ ...before, args: { ...before.args, ...args } }), limits)
}

/** What is known before the kind calculates. Not closures: this is once a message. */
interface Begun {
  readonly version: number
  readonly kept: FieldState
  readonly args: Readonly<Record<string, Held>>
  readonly reloadAt: number | undefined
  readonly isWake: boolean
  readonly values: Readonly<Record<string, ArgumentValue>>
  readonly turn: CalculationTurn
}

function stateWith({ version, args, reloadAt }: Begun, own: JsonValue, wakeAt: number | undefined): FieldState {
  if (reloadAt === undefined) return wakeAt === undefined ? { version, args, own } : { version, args, own, wakeAt }
  return wakeAt === undefined ? { version, args, own, reloadAt } : { version, args, own, reloadAt, wakeAt }
}

function failed(begun: Begun, error: string): Calculated {
  const { kept, isWake, values, turn } = begun
  const state = stateWith(begun, kept.own, isWake ? undefined : kept.wakeAt)
  return bounded({ state, results: [], shown: { args: values, error } }, turn.limits)
}

function missingOf(
  needed: Needed,
  values: Readonly<Record<string, ArgumentValue>>,
  { optional }: Needs,
): readonly string[] {
  let missing: string[] | undefined
  for (const { name } of needed) {
    if (values[name] !== undefined || optional?.has(name) === true) continue
    if (missing === undefined) missing = [name]
    else missing.push(name)
  }
  return missing ?? NOTHING
}

function same(state: FieldState): Calculated {
  return { state, results: [], shown: undefined }
}

function causeOf(
  before: FieldState,
  { news, now, loaded }: CalculationTurn,
  { targets }: Needs,
  isNew: boolean,
  hasChanged: boolean,
): StepInput['cause'] | undefined {
  if (hasChanged) return 'values'
  if (isNew) return 'begin'
  if (news === undefined && before.wakeAt !== undefined && before.wakeAt <= now) return 'wake'
  const isOfRelations = isRelationNews(news)
  if (loaded === undefined) return targets !== undefined && isOfRelations ? 'reload' : undefined
  // Most relations lead to nothing else: a result for each would be the storm of an import, and a chain that relates behind a result would have no end.
  if (isOfRelations && targets === undefined && areSame(loaded.args, before.args)) return undefined
  return news?.kind === 'alarm' && loaded.alarm !== undefined ? 'alarm' : 'reload'
}

function reloadTime({ reloadAt }: FieldState, { now }: CalculationTurn, isNew: boolean, everyMs: number): number {
  return isNew || reloadAt === undefined || reloadAt <= now ? now + everyMs : reloadAt
}

type Needed = readonly { readonly name: string; readonly need: ArgumentNeed }[]

const NOTHING: readonly never[] = []

/** What a field needs under one limit: the same for all its entities. */
const neededBefore = new WeakMap<Needs, NeededWithin>()

interface NeededWithin {
  readonly maxPoints: number
  readonly needed: Needed
  /** Whether values of any of them come from others, who may change. */
  readonly isDynamic: boolean
}

function neededOf(needs: Needs, limits: CalculationLimits): NeededWithin {
  const { maxPoints } = limits
  const before = neededBefore.get(needs)
  if (before?.maxPoints === maxPoints) return before
  const needed = Object.entries(needs.arguments).map(([name, need]) => ({ name, need: needWithin(need, limits) }))
  const within = { maxPoints, needed, isDynamic: needed.some(({ need }) => isDynamic(need)) }
  neededBefore.set(needs, within)
  return within
}

interface Taken {
  readonly args: Readonly<Record<string, Held>>
  readonly updates: readonly ArgumentUpdate[]
  /** Arguments that kept what they had: the value that came is larger than one may be. */
  readonly tooLarge: readonly string[]
  readonly hasChanged: boolean
}

function takeNews(
  needed: Needed,
  before: Readonly<Record<string, Held>>,
  news: ValuesNews,
  { entity: own, now, limits }: CalculationTurn,
): Taken {
  let args: Record<string, Held> | undefined
  let updates: ArgumentUpdate[] | undefined
  let tooLarge: string[] | undefined
  let hasChanged = false
  const from = news.from ?? own
  for (const { name, need } of needed) {
    const held = before[name]
    if (held === undefined || sourceOf(need) !== news.source || !isSource(held, need, own, from)) continue
    let present = held
    if (news.deleted.includes(need.key)) {
      // Of a series it was read what is left.
      if (news.source !== 'series') present = withoutValue(need, present, from, now)
      hasChanged = true
    }
    for (const point of valuesOfKey(news, need.key)) {
      const ts = point[1]
      const value = point[2]
      hasChanged = true
      if (isTooLarge(need, value, limits)) {
        ;(tooLarge ??= []).push(name)
        continue
      }
      const update = { name, ts, value, entity: from }
      ;(updates ??= []).push(update)
      present = withUpdate(need, present, update, now) ?? present
    }
    if (present !== held) (args ??= { ...before })[name] = present
  }
  if (updates !== undefined && updates.length > 1) updates.sort((a, b) => a.ts - b.ts)
  return { args: args ?? before, updates: updates ?? NOTHING, tooLarge: tooLarge ?? NOTHING, hasChanged }
}

/** The oldest first. */
function valuesOfKey({ values }: ValuesNews, key: string): ValuesNews['values'] {
  let own: ValuesNews['values'] | undefined
  for (const value of values) {
    if (value[0] !== key) continue
    if (own === undefined) own = [value]
    else own.push(value)
  }
  return own === undefined || own.length < 2 ? (own ?? NONE) : own.sort((a, b) => a[1] - b[1])
}

const NONE: ValuesNews['values'] = []
const NO_VALUE: Held = {}

function valuesOf(needed: Needed, args: Readonly<Record<string, Held>>, now: number): Record<string, ArgumentValue> {
  const values: Record<string, ArgumentValue> = {}
  for (const { name, need } of needed) {
    const value = valueOf(need, args[name] ?? NO_VALUE, now)
    if (value !== undefined) values[name] = value
  }
  return values
}

/** A field that holds more than it may rests, and says why. */
function bounded(calculated: Calculated, { maxStateBytes }: CalculationLimits): Calculated {
  if (maxStateBytes <= 0 || isWithin(calculated.state, maxStateBytes)) return calculated
  const bytes = bytesOf(calculated.state)
  const { version } = calculated.state
  const error = `The state is ${bytes} bytes, at most ${maxStateBytes} are allowed`
  return {
    state: { version, args: {}, own: null, isTooLarge: true },
    results: [],
    shown: { args: calculated.shown?.args ?? {}, error },
  }
}
