/**
 * What nodes that aggregate many entities share: when they do it, and the message that tells of it. What is told is handed in.
 *
 * A period is a source where the partition of its parent is: the outcome and the next time are one commit, so a killed process tells each period
 * once or, where nothing was durable, computes it anew. A message that comes again is told what came of it the first time.
 */
import { z } from 'zod'
import type { EntityId } from '../../model/entity-id.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import type { AggregationTurn } from '../../engine/rulechain/capabilities/aggregation.ts'
import type { KeyedOutput, StateTurn } from '../../engine/rulechain/capabilities/state.ts'
import type { NodeContext, NodeInstance } from '../../engine/rulechain/node.ts'
import { withMetadata } from '../body.ts'
import { NodeErrors } from '../errors.ts'
import { fixedParent, parentOf, selectionOf, type GroupConfiguration } from './group.ts'

/** What is told of the members; undefined where there is nothing to tell. */
export interface GroupReport {
  readonly values: JsonObject
  /** Entities that counted. */
  readonly entities: number
  /** Values that were no numbers. */
  readonly ignored: number
}

export interface GroupNodeRules {
  readonly configuration: GroupConfiguration
  readonly report: (turn: AggregationTurn, ids: readonly string[], parent: EntityId) => Promise<GroupReport | undefined>
  readonly close?: () => void
}

interface GroupOutcome {
  /** When its reads began, Unix ms. */
  readonly at: number
  readonly parent: EntityId
  readonly customerId: string | undefined
  readonly report: GroupReport | undefined
}

type Known = GroupOutcome | { readonly error: string }

const stateSchema = z.strictObject({
  of: z.string(),
  /** The last time that was told of, Unix ms. */
  at: z.number(),
})
type State = z.output<typeof stateSchema>

type Uses = 'aggregation' | 'entities' | 'state'

export async function groupNode(rules: GroupNodeRules, context: NodeContext<Uses>): Promise<NodeInstance> {
  const { configuration } = rules
  const { trigger, parent, periodSec } = configuration
  const { ruleNodeName: node, services } = context
  const fixed = await fixedParent(configuration, context)
  const outcomes = new GroupOutcomes(rules, context)
  let keyed: NodeInstance
  if (trigger === 'MESSAGE') keyed = onMessages(outcomes, parent, fixed, context)
  else if (fixed === undefined) {
    const reason = 'a period has no message: TENANT or ENTITY is expected'
    throw NodeErrors.CONFIGURATION_INVALID({ node, field: 'parent', reason })
  } else {
    const of = stringifyJson([periodSec, fixed.entityType, fixed.id])
    keyed = onPeriods(outcomes, fixed, { of, periodMs: periodSec * 1000 }, services)
  }
  return {
    ...keyed,
    handleBatch: (messages, result) => keyed.handleBatch?.(messages, result),
    close: async () => {
      await keyed.close?.()
      rules.close?.()
    },
  }
}

function onMessages(
  outcomes: GroupOutcomes,
  parent: GroupConfiguration['parent'],
  fixed: EntityId | undefined,
  context: NodeContext<Uses>,
): NodeInstance {
  return context.services.state.keyed<State, GroupOutcome>({
    per: 'originator',
    parse: (stored) => stateSchema.parse(stored),
    read: async (message) => outcomes.of(await parentOf(message, parent, fixed, context)),
    handle(turn, message, known): KeyedOutput {
      if (known?.report === undefined) return undefined
      // So that the visit is remembered with what came of it: read again, the members may have other values.
      turn.set({ of: '', at: known.at })
      const { parent: originator, customerId, report } = known
      const data = stringifyJson(report.values)
      const told = message.with({ type: 'POST_TELEMETRY_REQUEST', originator, customerId, data })
      return { message: withMetadata(told, metadataOf(report, known.at)), relations: ['Success'] }
    },
  })
}

function onPeriods(
  outcomes: GroupOutcomes,
  source: EntityId,
  { of, periodMs }: { readonly of: string; readonly periodMs: number },
  { state }: Pick<NodeContext<Uses>['services'], 'state'>,
): NodeInstance {
  const periodBefore = (time: number): number => Math.floor(time / periodMs) * periodMs
  return state.keyed<State, Known>({
    per: 'partition',
    source,
    parse: (stored) => stateSchema.parse(stored),
    start(turn) {
      if (turn.state?.of === of && turn.wakesAt !== undefined) return
      turn.set({ of, at: turn.state?.of === of ? turn.state.at : 0 })
      turn.wakeAt(periodBefore(turn.now) + periodMs)
    },
    handle: () => undefined,
    readForWake: async () => {
      try {
        return await outcomes.of(source)
      } catch (error) {
        // Tried again as it is, it would fail again; what is away is waited for.
        if (isMillraceError(error) && error.kind !== 'retryable') return { error: errorText(error) }
        throw error
      }
    },
    wake(turn, known) {
      // Periods that nobody was there for are left out: their values are not known any more.
      const at = periodBefore(turn.now)
      turn.set({ of, at })
      turn.wakeAt(at + periodMs)
      if (known !== undefined) outcomes.tell(turn, known, source, at)
    },
  })
}

class GroupOutcomes {
  private readonly rules: GroupNodeRules
  private readonly context: NodeContext<Uses>
  /** Whose turn has not come: who asks for the same before its reads begin is told the same. */
  private readonly awaited = new Map<string, Promise<GroupOutcome>>()

  constructor(rules: GroupNodeRules, context: NodeContext<Uses>) {
    this.rules = rules
    this.context = context
  }

  of(parent: EntityId): Promise<GroupOutcome> {
    const awaited = this.awaited.get(parent.id)
    if (awaited !== undefined) return awaited
    const { clock, services } = this.context
    const outcome = services.aggregation.inTurn(async (turn) => {
      this.awaited.delete(parent.id)
      const at = clock.now()
      const entity = await services.entities.find(parent)
      if (entity === undefined) throw NodeErrors.ENTITY_GONE({ type: parent.entityType, id: parent.id })
      const ids = await turn.members(parent, selectionOf(this.rules.configuration))
      const report = await this.rules.report(turn, ids, parent)
      const customerId = parent.entityType === 'CUSTOMER' ? parent.id : (entity.customerId ?? undefined)
      return { at, parent, customerId, report }
    })
    this.awaited.set(parent.id, outcome)
    // Its turn may never come.
    const forget = (): void => {
      if (this.awaited.get(parent.id) === outcome) this.awaited.delete(parent.id)
    }
    outcome.then(forget, forget)
    return outcome
  }

  /** `at`: the end of the period, Unix ms. */
  tell(turn: StateTurn<State>, known: Known, originator: EntityId, at: number): void {
    const { tenantId } = this.context
    const fields = { id: '', ts: turn.now, tenantId, originator, type: 'POST_TELEMETRY_REQUEST' }
    if ('error' in known) {
      this.context.log('warn', 'an aggregation failed', { reason: known.error })
      turn.send(new Message({ ...fields, metadata: { ts: String(at), error: known.error }, data: '{}' }), 'Failure')
      return
    }
    const { report, customerId } = known
    if (report === undefined) return
    const metadata = Object.fromEntries(metadataOf(report, at))
    turn.send(new Message({ ...fields, customerId, metadata, data: stringifyJson(report.values) }), 'Success')
  }
}

function metadataOf({ entities, ignored }: GroupReport, ts: number): readonly (readonly [string, string])[] {
  return [
    ['ts', String(ts)],
    ['entities', String(entities)],
    ['ignoredValues', String(ignored)],
  ]
}
