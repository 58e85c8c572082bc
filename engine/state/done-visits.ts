/**
 * Visits of messages that may come again, each with what came of it: a message that is delivered twice has the same outputs twice. A visit is
 * forgotten once the log has settled its message durably; one that did come again is kept longer, since it may be parked meanwhile.
 */
import { z } from 'zod'
import { isEntityType } from '../../model/entity-id.ts'
import { errorText } from '../../model/errors.ts'
import { parseJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { type MessageFields } from '../../model/message.ts'
import type { KeyedOutput } from '../rulechain/capabilities/state.ts'
import type { Emission, NodeVisit } from '../rulechain/node-instance.ts'

/** What came of a visit: an output, or an error that failed it. */
export type VisitOutcome = { readonly output: KeyedOutput } | { readonly error: string }

/** Of one that is forgotten the next one takes the place: they live as long as their state, and to collect them takes more than to change them. */
interface DoneVisit {
  /** The visit, its stream, its sequence, whether it came again, what came of it. */
  v: string
  s: number
  q: number
  k: 0 | 1
  /** JSON text: written often, read only where a message comes again. */
  o: string
}

/** What a visit takes beside its id and what came of it. */
const VISIT_BYTES = 40

/** Visits that came again are remembered beyond the log's settling up to this many. */
const MAX_KEPT = 64

const FEW = 8

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
  private readonly visits: DoneVisit[]
  /** Only where they are more than a few: a state has one or two as a rule, and there are many states. */
  private byId: Map<string, DoneVisit> | undefined
  private bytesOfAll = 0

  constructor(stored: string) {
    this.visits =
      stored === ''
        ? []
        : DONE.parse(JSON.parse(stored)).map(({ v, s, q, k, o }) => ({ v, s, q, k: k ?? 0, o: JSON.stringify(o) }))
    this.index()
  }

  get bytes(): number {
    return this.bytesOfAll
  }

  get isEmpty(): boolean {
    return this.visits.length === 0
  }

  has(visitId: string): boolean {
    return this.visit(visitId) !== undefined
  }

  /** What came of it before; undefined where it is new. */
  find(visitId: string, message: Message): VisitOutcome | undefined {
    const visit = this.visit(visitId)
    return visit === undefined ? undefined : outcomeOf(parseJson(visit.o), message)
  }

  /** It came again. Whether that was not known. */
  keep(visitId: string): boolean {
    const visit = this.visit(visitId)
    if (visit === undefined || visit.k === 1) return false
    visit.k = 1
    return true
  }

  /** What can not come again makes room first where they are few, as a rule the one before it; where they are more it goes with the next commit. */
  add(
    { id: v, sequence: q }: NodeVisit,
    s: number,
    message: Message,
    outcome: VisitOutcome,
    settledBelow: (stream: number) => number,
  ): void {
    const { visits } = this
    const o = outcomeText(outcome, message)
    if (visits.length > FEW) {
      const done: DoneVisit = { v, s, q, k: 0, o }
      visits.push(done)
      this.bytesOfAll += bytesOf(done)
      this.byId?.set(v, done)
      return
    }
    const left = this.compact(settledBelow)
    const spare = visits[left]
    if (spare === undefined) visits.push({ v, s, q, k: 0, o })
    else {
      spare.v = v
      spare.s = s
      spare.q = q
      spare.k = 0
      spare.o = o
    }
    visits.length = left + 1
    this.index()
  }

  /** Takes the last one back: it was not stored. */
  undo(visitId: string): void {
    const { visits } = this
    const place = visits.findIndex(({ v }) => v === visitId)
    if (place < 0) return
    visits.splice(place, 1)
    this.index()
  }

  /**
   * Forgets what can not come again: `settledBelow` says how far a stream's log is settled durably. In place and without a function for each: as a
   * rule one goes where one comes.
   */
  prune(settledBelow: (stream: number) => number): void {
    const left = this.compact(settledBelow)
    if (left === this.visits.length) return
    this.visits.length = left
    this.index()
  }

  /** Empty where there is none. */
  encode(): string {
    if (this.visits.length === 0) return ''
    const parts: string[] = []
    for (const { v, s, q, k, o } of this.visits) {
      parts.push(parts.length === 0 ? '[{"v":' : ',{"v":', JSON.stringify(v), ',"s":', String(s), ',"q":', String(q))
      parts.push(k === 1 ? ',"k":1,"o":' : ',"o":', o, '}')
    }
    parts.push(']')
    // Joined it is one piece of memory, where sums of texts are a tree of them.
    return parts.join('')
  }

  /** Those that stay come first, in their order; how many they are. What stands behind them is left over. */
  private compact(settledBelow: (stream: number) => number): number {
    const { visits } = this
    let kept = 0
    for (const visit of visits) kept += visit.k
    let left = 0
    for (let index = 0; index < visits.length; index++) {
      const visit = visits[index]
      if (visit === undefined) continue
      if (visit.q < settledBelow(visit.s) && !(visit.k === 1 && kept-- <= MAX_KEPT)) continue
      const other = visits[left]
      if (other !== undefined) visits[index] = other
      visits[left++] = visit
    }
    return left
  }

  private visit(visitId: string): DoneVisit | undefined {
    if (this.byId !== undefined) return this.byId.get(visitId)
    for (const visit of this.visits) if (visit.v === visitId) return visit
    return undefined
  }

  private index(): void {
    const { visits } = this
    this.bytesOfAll = 0
    for (const visit of visits) this.bytesOfAll += bytesOf(visit)
    this.byId = visits.length > FEW ? new Map(visits.map((visit) => [visit.v, visit])) : undefined
  }
}

function bytesOf({ v, o }: DoneVisit): number {
  return VISIT_BYTES + v.length + o.length
}

/** Of nearly all visits: one text for all of them. */
const SUCCESS = 'Success'
const SUCCESS_TEXT = JSON.stringify(SUCCESS)

function outcomeText(outcome: VisitOutcome, message: Message): string {
  if ('output' in outcome && outcome.output === SUCCESS) return SUCCESS_TEXT
  return JSON.stringify(jsonOf(outcome, message))
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
