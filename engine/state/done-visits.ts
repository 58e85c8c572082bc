/**
 * Visits of messages that may come again, each with what came of it: a message that is delivered twice has the same outputs twice. A visit is
 * forgotten once the log has settled its message durably; one that did come again is kept longer, since it may be parked meanwhile.
 */
import { z } from 'zod'
import { isEntityType } from '../../model/entity-id.ts'
import { errorText } from '../../model/errors.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { type MessageFields } from '../../model/message.ts'
import type { KeyedOutput } from '../rulechain/capabilities/state.ts'
import type { Emission, NodeVisit } from '../rulechain/node-instance.ts'

/** What came of a visit: an output, or an error that failed it. */
export type VisitOutcome = { readonly output: KeyedOutput } | { readonly error: string }

interface DoneVisit {
  /** The visit, its stream, its sequence, whether it came again, what came of it. */
  readonly v: string
  readonly s: number
  readonly q: number
  k?: 1
  readonly o: JsonValue
}

/** Visits that came again are remembered beyond the log's settling up to this many. */
const MAX_KEPT = 64

const DONE = z.array(
  z.object({
    v: z.string(),
    s: z.number(),
    q: z.number(),
    k: z.literal(1).optional(),
    o: z.json(),
  }),
)

export class DoneVisits {
  private visits: DoneVisit[]
  private readonly byId = new Map<string, DoneVisit>()

  constructor(stored: string) {
    this.visits =
      stored === '' ? [] : DONE.parse(JSON.parse(stored)).map(({ k, ...visit }) => ({ ...visit, ...(k && { k }) }))
    for (const visit of this.visits) this.byId.set(visit.v, visit)
  }

  get isEmpty(): boolean {
    return this.visits.length === 0
  }

  /** What came of it before; undefined where it is new. */
  find(visitId: string, message: Message): VisitOutcome | undefined {
    const visit = this.byId.get(visitId)
    return visit === undefined ? undefined : outcomeOf(visit.o, message)
  }

  /** It came again. Whether that was not known. */
  keep(visitId: string): boolean {
    const visit = this.byId.get(visitId)
    if (visit === undefined || visit.k === 1) return false
    visit.k = 1
    return true
  }

  add(visit: NodeVisit, stream: number, message: Message, outcome: VisitOutcome): void {
    const done = { v: visit.id, s: stream, q: visit.sequence, o: jsonOf(outcome, message) }
    this.visits.push(done)
    this.byId.set(visit.id, done)
  }

  /** Takes the last one back. */
  undo(visitId: string): void {
    this.byId.delete(visitId)
    this.visits = this.visits.filter(({ v }) => v !== visitId)
  }

  /** Forgets what can not come again: `settledBelow` says how far a stream's log is settled durably. */
  prune(settledBelow: (stream: number) => number): void {
    let kept = 0
    for (const { k } of this.visits) if (k === 1) kept++
    const stays = ({ s, q, k }: DoneVisit): boolean => {
      if (q >= settledBelow(s)) return true
      return k === 1 && kept-- <= MAX_KEPT
    }
    const left = this.visits.filter(stays)
    if (left.length === this.visits.length) return
    this.visits = left
    this.byId.clear()
    for (const visit of left) this.byId.set(visit.v, visit)
  }

  /** Empty where there is none. */
  encode(): string {
    return this.visits.length === 0 ? '' : JSON.stringify(this.visits)
  }
}

function jsonOf(outcome: VisitOutcome, message: Message): JsonValue {
  if ('error' in outcome) return { error: outcome.error }
  const { output } = outcome
  if (output === undefined) return null
  if (typeof output === 'string') return output
  if ('flow' in output) return { step: { ...output } as JsonObject }
  return ('message' in output ? [output] : output).map(({ message: sent, relations, error }) => ({
    relations: [...relations],
    ...(error === undefined ? {} : { error: errorText(error) }),
    ...(sent === message ? {} : { message: fieldsOf(sent) }),
  }))
}

function fieldsOf(message: Message): JsonObject {
  const { id, ts, type, originator, customerId, metadata, dataType, data } = message
  return {
    ...{ id, ts, type, dataType, data },
    ...{ originator: [originator.entityType, originator.id], metadata: { ...metadata } },
    ...(customerId === undefined ? {} : { customerId }),
  }
}

const SENT = z.object({
  id: z.string(),
  ts: z.number(),
  type: z.string(),
  dataType: z.enum(['JSON', 'TEXT', 'BINARY']),
  data: z.string(),
  originator: z.tuple([z.string(), z.string()]),
  metadata: z.record(z.string(), z.string()),
  customerId: z.string().optional(),
})
const EMISSIONS = z.array(
  z.object({ relations: z.array(z.string()), message: SENT.optional(), error: z.string().optional() }),
)
const FAILED = z.object({ error: z.string() })
const STEP = z.object({
  step: z.discriminatedUnion('flow', [
    z.object({ flow: z.literal('acknowledge') }),
    z.object({ flow: z.literal('enter'), ruleChainId: z.string() }),
    z.object({ flow: z.literal('return'), relation: z.string() }),
    z.object({ flow: z.literal('enqueue'), relation: z.string(), queueName: z.string().optional() }),
    z.object({ flow: z.literal('later'), relation: z.string(), at: z.number() }),
    z.object({ flow: z.literal('move') }),
  ]),
})

function outcomeOf(stored: JsonValue, message: Message): VisitOutcome {
  if (stored === null) return { output: undefined }
  if (typeof stored === 'string') return { output: stored }
  const failed = FAILED.safeParse(stored)
  if (failed.success) return failed.data
  const step = STEP.safeParse(stored)
  if (step.success) {
    const found = step.data.step
    if (found.flow !== 'enqueue') return { output: found }
    const { queueName, ...enqueue } = found
    return { output: queueName === undefined ? enqueue : { ...enqueue, queueName } }
  }
  const emissions = EMISSIONS.parse(stored).map(({ relations, message: sent }): Emission => ({
    relations,
    message: sent === undefined ? message : sentAgain(message, sent),
  }))
  return { output: emissions }
}

function sentAgain(message: Message, { originator: [entityType, id], ...sent }: z.output<typeof SENT>): Message {
  if (!isEntityType(entityType)) throw new TypeError(`${entityType} is no type of entities`)
  const change: Partial<MessageFields> = { ...sent, customerId: sent.customerId, originator: { entityType, id } }
  return message.with(change)
}
