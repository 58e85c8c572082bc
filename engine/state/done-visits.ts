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

interface DoneVisit {
  /** The visit, its stream, its sequence, whether it came again, what came of it. */
  readonly v: string
  readonly s: number
  readonly q: number
  k?: 1
  /** JSON text: written often, read only where a message comes again. */
  readonly o: string
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
        : DONE.parse(JSON.parse(stored)).map(({ k, o, ...visit }) => ({
            ...{ ...visit, o: JSON.stringify(o) },
            ...(k && { k }),
          }))
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

  add(visit: NodeVisit, stream: number, message: Message, outcome: VisitOutcome): void {
    const done = { v: visit.id, s: stream, q: visit.sequence, o: JSON.stringify(jsonOf(outcome, message)) }
    this.visits.push(done)
    this.bytesOfAll += bytesOf(done)
    if (this.byId !== undefined) this.byId.set(visit.id, done)
    else if (this.visits.length > FEW) this.index()
  }

  /** Takes the last one back: it was not stored. */
  undo(visitId: string): void {
    if (this.has(visitId)) this.leaveOnly(({ v }) => v !== visitId)
  }

  /** Forgets what can not come again: `settledBelow` says how far a stream's log is settled durably. */
  prune(settledBelow: (stream: number) => number): void {
    let kept = 0
    for (const { k } of this.visits) if (k === 1) kept++
    this.leaveOnly(({ s, q, k }) => {
      if (q >= settledBelow(s)) return true
      return k === 1 && kept-- <= MAX_KEPT
    })
  }

  /** The same where they are few: asked for each visit, and what is left out is pruned with the next commit. */
  pruneSome(settledBelow: (stream: number) => number): void {
    if (this.visits.length <= FEW) this.prune(settledBelow)
  }

  /** Empty where there is none. */
  encode(): string {
    return this.visits.length === 0 ? '' : `[${this.visits.map(textOf).join(',')}]`
  }

  private visit(visitId: string): DoneVisit | undefined {
    if (this.byId !== undefined) return this.byId.get(visitId)
    for (const visit of this.visits) if (visit.v === visitId) return visit
    return undefined
  }

  /** In place: as a rule one goes where one comes. */
  private leaveOnly(stays: (visit: DoneVisit) => boolean): void {
    const { visits } = this
    let left = 0
    for (const visit of visits) if (stays(visit)) visits[left++] = visit
    if (left === visits.length) return
    visits.length = left
    this.index()
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

function textOf({ v, s, q, k, o }: DoneVisit): string {
  return `{"v":${JSON.stringify(v)},"s":${s},"q":${q}${k === 1 ? ',"k":1' : ''},"o":${o}}`
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
