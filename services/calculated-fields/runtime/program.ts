/**
 * The node that calculates: one state an entity, stored with what it sends in one transaction (docs/internals/calculated-fields.md). It stands in a chain
 * of the tenant's that nobody sees.
 */
import type { JsonValue } from '../../../model/json.ts'
import { BACKFILL_METADATA, Message } from '../../../model/message.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import type { KeyedNode, StateTurn } from '../../../engine/rulechain/capabilities/state.ts'
import { calculationLimits, type CalculationTime } from './bounds.ts'
import { calculate, takeLoaded, type Calculated } from './calculation.ts'
import type { FieldDebug } from './debug.ts'
import type { ActiveField } from './field-index.ts'
import { payloadOf, payloadText, TRIGGER_TYPE, type News, type Payload } from './payload.ts'
import type { CalculationReader, Forward, Known } from './reader.ts'
import { leaving } from './results.ts'
import {
  entityOfState,
  haveSameKeys,
  nextWake,
  stateJson,
  stateOf,
  takeOver,
  type EntityState,
  type FieldState,
} from './states.ts'

export interface CalculationCounts {
  /** Steps, and those of them that failed. */
  calculated: number
  failed: number
  results: number
  /** News that went on to entities with such arguments. */
  forwarded: number
}

export interface ProgramParts {
  readonly tenantId: string
  readonly now: () => number
  readonly reader: Pick<CalculationReader, 'read'>
  readonly debug: FieldDebug
  readonly counts: CalculationCounts
  readonly time: CalculationTime
}

/** What caused a turn. */
interface Cause {
  readonly ts: number
  readonly msgId?: string
  readonly msgType?: string
  readonly previous: readonly string[]
  readonly news: News | undefined
  readonly isWake?: boolean
  readonly isBackfill?: boolean
}

export function calculationNode(parts: ProgramParts): KeyedNode<JsonValue, Known> {
  const { tenantId, now, reader } = parts
  const read = (entity: EntityId, payload: Payload | undefined, state: JsonValue | undefined, at: number) =>
    reader.read(tenantId, entity, payload, state === undefined ? undefined : stateOf(state), at)
  return {
    per: 'originator',
    parse: (stored) => stateJson(stateOf(stored)),
    read: (message, state) => read(message.originator, payloadOf(message.json()), state, message.ts),
    readForWake: async (state) => {
      if (state === undefined) throw new TypeError('nothing is there to wake')
      return await read(entityOfState(stateOf(state)), undefined, state, now())
    },
    handle(turn, message, known) {
      if (known === undefined) return new TypeError('nothing was read for the message')
      const { payload } = known
      const news = payload?.kind === 'members' ? undefined : payload
      const msgType = news?.kind === 'values' ? news.type : message.type
      const previous = message.calculatedFieldIds ?? []
      for (const forward of known.forwards) {
        parts.counts.forwarded++
        turn.send(forwarded(message, forward), undefined)
      }
      const { id: msgId, ts, isBackfill } = message
      run(parts, turn, message.originator, known, { ts, msgId, msgType, previous, news, isBackfill })
      return 'Success'
    },
    wake(turn, known) {
      if (turn.entity === undefined || known === undefined) return
      run(parts, turn, turn.entity, known, { ts: turn.now, previous: [], news: undefined, isWake: true })
    },
  }
}

function run(parts: ProgramParts, turn: StateTurn<JsonValue>, entity: EntityId, known: Known, cause: Cause): void {
  const before = turn.state === undefined ? undefined : stateOf(turn.state)
  const { facts } = known
  if (facts === undefined) {
    if (before !== undefined) forget(turn)
    return
  }
  const fields: Record<string, FieldState> = {}
  let hasFields = false
  for (const active of known.fields) {
    const { id } = active.record
    const held = before?.fields[id]
    const calculated = isLeftOut(active, cause)
      ? takeLoaded(active, held, { loaded: known.loaded.get(id), limits: calculationLimits(known.limits) })
      : calculatedOf(parts, active, held, entity, known, cause)
    const state = calculated?.state ?? held
    if (state !== undefined) {
      fields[id] = state
      hasFields = true
    }
    if (calculated === undefined) continue
    tell(parts, active, entity, cause, calculated)
    if (calculated.results.length === 0) continue
    const { ts: now, previous, isBackfill = false } = cause
    const leavingParts = { active, entity, facts, factsOf: known.factsOf, now, previous, isBackfill }
    for (const { message, relation } of leaving(calculated.results, leavingParts)) turn.send(message, relation)
  }
  if (!hasFields) {
    if (before !== undefined) forget(turn)
    return
  }
  const state: EntityState = { entity: before?.entity ?? [entity.entityType, entity.id], owner: facts.owner.id, fields }
  if (!isSame(before, state)) keep(turn, before, state)
  const wake = nextWake(fields, cause.isWake === true ? turn.now : undefined)
  if (wake !== turn.wakesAt) turn.wakeAt(wake)
}

/** A field that the news came from; alarms speak of the present. */
function isLeftOut({ record }: ActiveField, { previous, isBackfill }: Cause): boolean {
  return previous.includes(record.id) || (isBackfill === true && record.type === 'ALARM')
}

function calculatedOf(
  parts: ProgramParts,
  active: ActiveField,
  held: FieldState | undefined,
  entity: EntityId,
  known: Known,
  cause: Cause,
): Calculated {
  const { id } = active.record
  parts.time.begin()
  return calculate(active, held, {
    ...{ entity, now: cause.ts, news: cause.news },
    loaded: known.loaded.get(id),
    targets: known.targets.get(id) ?? [],
    limits: calculationLimits(known.limits),
  })
}

function tell(
  { debug, counts }: ProgramParts,
  active: ActiveField,
  entity: EntityId,
  cause: Cause,
  { shown, results }: Calculated,
): void {
  if (shown === undefined) return
  counts.calculated++
  counts.results += results.length
  if (shown.error !== undefined) counts.failed++
  if (!debug.isWatched(active)) return
  debug.tell(active, { entity, msgId: cause.msgId, msgType: cause.msgType, results, ...shown })
}

function keep(turn: StateTurn<JsonValue>, before: EntityState | undefined, state: EntityState): void {
  if (before !== undefined) {
    turn.changeInPlace()
    if (takeOver(before, state)) return
  }
  turn.set(stateJson(state))
}

/** Each field's state is the same object where nothing came of the turn. */
function isSame(before: EntityState | undefined, state: EntityState): boolean {
  if (before?.owner !== state.owner || !haveSameKeys(before.fields, state.fields)) return false
  for (const id in state.fields) if (before.fields[id] !== state.fields[id]) return false
  return true
}

function forget(turn: StateTurn<JsonValue>): void {
  turn.set(undefined)
  turn.wakeAt(undefined)
}

function forwarded(cause: Message, { entity, payload }: Forward): Message {
  return new Message({
    ...{ id: '', ts: cause.ts, type: TRIGGER_TYPE, tenantId: cause.tenantId, originator: entity },
    metadata: cause.isBackfill ? BACKFILL_METADATA : {},
    ...{ data: payloadText(payload), ruleChainId: cause.ruleChainId, calculatedFieldIds: cause.calculatedFieldIds },
  })
}
