/**
 * Runs a node with a memory: for each message its state, the call, and the outcome once the change is durable. A message that was there before
 * gets the outcome that it had.
 */
import { errorText } from '../../model/errors.ts'
import { stringifyJson, type JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { sentId } from '../rulechain/child-id.ts'
import type { NodeIdentity } from '../rulechain/capabilities.ts'
import { isLater, type Soon } from '../rulechain/capabilities/soon.ts'
import type { KeyedNode } from '../rulechain/capabilities/state.ts'
import type { BatchResult, NodeInstance, NodeVisit } from '../rulechain/node-instance.ts'
import type { VisitOutcome } from './done-visits.ts'
import type { CommitGroup, StateEntry } from './entry.ts'
import { StateErrors } from './errors.ts'
import type { NewOutput } from './group.ts'
import type { StatePartition } from './partition.ts'
import type { StatePlace } from './store.ts'
import { Turn } from './turn.ts'
import {
  entityKey,
  errorOf,
  isRead,
  partitionKey,
  readLater,
  tell,
  visitorOf,
  type Outcome,
  type Visitor,
} from './visitor.ts'

export interface KeyedHost {
  now(): number
  streamOf(originatorId: string): number
  /** Undefined where the stream is not this process's. */
  partition(stream: number): StatePartition | undefined
  encode(message: Message): string
  /** Throws `STATE_TOO_LARGE`, `TENANT_FULL` where so many bytes more than the entry has are too many. */
  checkRoom(tenantId: string, node: string, bytes: number, more: number): void
  /** Resolves when it is known how much the tenant has. */
  knowTenant(tenantId: string): Promise<void> | undefined
  grew(tenantId: string, bytes: number): void
  /** Up to which sequence a stream of the log is settled durably. */
  settledBelow(stream: number): number
  /** Throws what the log would refuse the message with for ever. */
  checkFits(message: Message): void
  report(level: 'warn' | 'error', text: string, fields: Readonly<Record<string, unknown>>): void
  closed(instance: StatefulInstance): void
}

/** What the host knows of an instance. */
export interface StatefulInstance extends NodeInstance {
  readonly identity: NodeIdentity
  wake(partition: StatePartition, entry: StateEntry): void
  /** The partition is here: sources begin. */
  begin(partition: StatePartition): Promise<void>
}

const FAILED_WAKE_MS = 60_000
/** What is read may be away for a moment. */
const FAILED_READ_MS = 5_000
const MAX_LOADS = 3

export class KeyedInstance<State extends JsonValue, Known> implements StatefulInstance {
  readonly identity: NodeIdentity
  private readonly node: KeyedNode<State, Known>
  private readonly host: KeyedHost
  /** Batches that wait for states to be loaded, and those that came behind them. */
  private loading = 0
  private tail: Promise<unknown> = Promise.resolve()
  /** States for which something is read before they are woken. */
  private readonly waking = new Set<string>()
  private isClosed = false
  private readonly settledBelow = (stream: number): number => this.host.settledBelow(stream)

  constructor(identity: NodeIdentity, node: KeyedNode<State, Known>, host: KeyedHost) {
    this.identity = identity
    this.node = node
    this.host = host
  }

  async handleBatch(messages: readonly Message[], result: BatchResult): Promise<void> {
    const visitors = this.visitorsOf(messages, result)
    let reading: Soon<void> | undefined
    if (this.loading === 0 && this.areLoaded(visitors)) {
      reading = this.read(visitors)
      if (!isLater(reading)) return this.run(visitors, result)
    }
    this.loading++
    const ran = this.tail.then(async () => {
      try {
        if (reading === undefined) {
          await this.load(visitors)
          this.areHere(visitors)
        }
        await (reading ?? this.read(visitors))
        // Others may have needed the room meanwhile, or a commit failed.
        for (let time = 0; !(this.areHere(visitors) && this.areRead(visitors)) && time < MAX_LOADS; time++) {
          await this.load(visitors)
          this.areHere(visitors)
          const again = this.read(visitors)
          if (isLater(again)) await again
        }
      } finally {
        this.loading--
      }
      // Runs on this turn, so that the batch behind it finds what it did.
      return { committed: this.run(visitors, result) }
    })
    // Whose batch it is hears of the error; the next one only waits for the end.
    this.tail = ran.catch(() => undefined)
    await (
      await ran
    ).committed
  }

  wake(partition: StatePartition, entry: StateEntry): void {
    const { node } = this
    if (node.readForWake === undefined) return this.woken(partition, entry, undefined)
    if (this.waking.has(entry.id)) return
    this.waking.add(entry.id)
    const due = entry.wakeAt
    // It may have been woken by another, or changed its mind; of a version that was replaced the next one reads.
    const isStill = (): boolean =>
      !this.isClosed && !partition.isLost && partition.find(entry.id) === entry && entry.wakeAt === due
    node
      .readForWake(entry.stateOf(node))
      .then((known) => {
        if (isStill()) this.woken(partition, entry, known)
      })
      .catch((error: unknown) => {
        // Else it stood before those of others that are due.
        if (isStill()) this.putOff(partition, entry, FAILED_READ_MS)
        if (!this.isClosed) this.failedOutside(error)
      })
      .finally(() => {
        this.waking.delete(entry.id)
        if (this.waking.size === 0) partition.lookSoon()
      })
  }

  private woken(partition: StatePartition, entry: StateEntry, known: Known | undefined): void {
    const due = entry.wakeAt
    // It is this one that comes.
    entry.wakeAt = null
    const turn = this.turnOf(partition, entry)
    try {
      this.node.wake?.(turn, known)
      turn.isWakeSet ||= true
      this.adopt(partition, entry, turn, `wake ${due ?? 0}`)
    } catch (error) {
      undo(turn, entry)
      this.putOff(partition, entry, FAILED_WAKE_MS)
      this.failedOutside(error)
    }
  }

  private putOff(partition: StatePartition, entry: StateEntry, ms: number): void {
    entry.wakeAt = this.host.now() + ms
    partition.changed(entry, [])
  }

  async begin(partition: StatePartition): Promise<void> {
    const { per, source } = this.node
    if (this.node.start === undefined || partition.isLost) return
    if (source === undefined ? per !== 'partition' : this.host.streamOf(source.id) !== partition.stream) return
    const id = this.idOf(source === undefined ? partitionKey(partition.stream) : entityKey(source))
    const place = this.placeOf(source?.id ?? this.identity.ruleNodeId)
    await this.host.knowTenant(place.tenantId)
    await partition.load(new Map([[id, place]]))
    const entry = partition.find(id)
    if (entry === undefined) return
    const turn = this.turnOf(partition, entry)
    try {
      this.node.start(turn)
      if (turn.isTouched) this.adopt(partition, entry, turn, `start ${turn.now}`)
    } catch (error) {
      undo(turn, entry)
      this.failedOutside(error)
    }
  }

  close(): void {
    this.isClosed = true
    this.host.closed(this)
  }

  /** Tells at once what becomes of messages whose state is not here. */
  private visitorsOf(messages: readonly Message[], result: BatchResult): readonly Visitor<Known>[] {
    const visitors: Visitor<Known>[] = []
    const isOwn = this.node.per === 'originator'
    for (let index = 0; index < messages.length; index++) {
      const message = messages[index]
      if (message === undefined) continue
      const visit = result.visit(index)
      const stream = this.host.streamOf(isOwn ? message.originator.id : visit.originatorId)
      const partition = this.host.partition(stream)
      if (partition === undefined) {
        // The stream that delivered it is gone from here, with the message; another one is another process's.
        if (this.host.streamOf(visit.originatorId) === stream)
          result.fail(index, StateErrors.NOT_OWNED({ partition: stream }))
        else result.emit(index, { flow: 'move' })
        continue
      }
      const id = this.idOf(isOwn ? entityKey(message.originator) : partitionKey(stream))
      visitors.push(visitorOf(index, message, visit, id, partition))
    }
    return visitors
  }

  private areLoaded(visitors: readonly Visitor<Known>[]): boolean {
    for (const visitor of visitors) {
      visitor.entry = visitor.partition.find(visitor.id)
      if (visitor.entry === undefined) return false
    }
    return this.host.knowTenant(this.identity.tenantId) === undefined
  }

  /** Finds all of them anew: what was found before an await may have left the memory. */
  private areHere(visitors: readonly Visitor<Known>[]): boolean {
    let areAll = true
    for (const visitor of visitors) {
      const { partition, id } = visitor
      visitor.entry = partition.find(id)
      if (visitor.entry === undefined && !partition.isLost) areAll = false
    }
    return areAll
  }

  private areRead(visitors: readonly Visitor<Known>[]): boolean {
    return this.node.read === undefined || visitors.every(isRead)
  }

  private async load(visitors: readonly Visitor<Known>[]): Promise<void> {
    await this.host.knowTenant(this.identity.tenantId)
    const byPartition = new Map<StatePartition, Map<string, StatePlace>>()
    for (const { partition, id, message } of visitors) {
      const places = byPartition.get(partition) ?? new Map<string, StatePlace>()
      const place = this.placeOf(this.node.per === 'originator' ? message.originator.id : this.identity.ruleNodeId)
      byPartition.set(partition, places.set(id, place))
    }
    await Promise.all([...byPartition].map(([partition, places]) => partition.load(places)))
  }

  /** Only for messages that were not here before, and once for one state; at once where all is at hand. Never rejects. */
  private read(visitors: readonly Visitor<Known>[]): Soon<void> {
    if (this.node.read === undefined) return undefined
    let later: Promise<void>[] | undefined
    for (const visitor of visitors) {
      const { message, visit, entry } = visitor
      if (entry === undefined || isRead(visitor)) continue
      visitor.readAt = entry
      if (entry.done.has(visit.id)) continue
      visitor.readText = entry.text
      visitor.failure = undefined
      try {
        const read = this.node.read(message, entry.stateOf(this.node))
        if (isLater(read)) (later ??= []).push(readLater(visitor, read))
        else visitor.known = read
      } catch (error) {
        visitor.failure = errorOf(error)
      }
    }
    return later === undefined ? undefined : Promise.all(later).then(() => undefined)
  }

  private async run(visitors: readonly Visitor<Known>[], result: BatchResult): Promise<void> {
    const waiting = new Map<CommitGroup, Outcome[]>()
    for (const visitor of visitors) {
      const { partition, index } = visitor
      const entry = partition.isLost ? undefined : visitor.entry
      if (entry === undefined) {
        result.fail(index, StateErrors.NOT_OWNED({ partition: partition.stream }))
        continue
      }
      const outcome = { index, outcome: this.visit(visitor, entry) }
      if (entry.group === undefined) tell(result, outcome)
      else {
        const outcomes = waiting.get(entry.group)
        if (outcomes === undefined) waiting.set(entry.group, [outcome])
        else outcomes.push(outcome)
      }
    }
    if (waiting.size === 0) return
    await Promise.all(
      [...waiting].map(
        ([group, outcomes]) =>
          new Promise<void>((resolve) => {
            group.whenDone((refusal) => {
              for (const outcome of outcomes) {
                if (refusal === undefined) tell(result, outcome)
                else result.fail(outcome.index, refusal)
              }
              resolve()
            })
          }),
      ),
    )
  }

  private visit({ message, visit, partition, known, failure }: Visitor<Known>, entry: StateEntry): Outcome['outcome'] {
    const before = entry.done.find(visit.id, message)
    if (before !== undefined) {
      if (entry.done.keep(visit.id)) partition.changed(entry, [])
      if ('output' in before) this.node.replayed?.(message, before.output)
      return before
    }
    if (failure !== undefined) return { thrown: failure }
    const turn = this.turnOf(partition, entry)
    try {
      const output = this.node.handle(turn, message, known)
      const outcome: VisitOutcome = output instanceof Error ? { error: errorText(output) } : { output }
      if (turn.isTouched) this.adopt(partition, entry, turn, visit.id, { visit, message, outcome })
      return output instanceof Error ? { thrown: output } : outcome
    } catch (error) {
      undo(turn, entry)
      return { thrown: errorOf(error) }
    }
  }

  private turnOf({ stream }: StatePartition, entry: StateEntry): Turn<State> {
    return new Turn(this.node.source ?? entry.entity, this.host.now(), entry.stateOf(this.node), entry.wakeAt, stream)
  }

  /** From here on the turn counts. Throws before it does. */
  private adopt(
    partition: StatePartition,
    entry: StateEntry,
    turn: Turn<State>,
    cause: string,
    done?: { readonly visit: NodeVisit; readonly message: Message; readonly outcome: VisitOutcome },
  ): void {
    const { tenantId, ruleNodeName } = this.identity
    const text = turn.isSet ? (turn.state === undefined ? null : stringifyJson(turn.state)) : entry.text
    const outputs =
      turn.sent.length === 0 ? NOTHING_SENT : turn.sent.map((_sent, index) => this.outputOf(entry, turn, cause, index))
    const sentBytes = outputs.reduce((sum, { stored }) => sum + stored.bytes, 0)
    const bytesBefore = entry.bytes
    if (done !== undefined) {
      for (const { message } of outputs) this.host.checkFits(message)
      const stream = this.host.streamOf(done.visit.originatorId)
      entry.done.add(done.visit, stream, done.message, done.outcome, this.settledBelow)
    }
    try {
      const more = (text?.length ?? 0) - (entry.text?.length ?? 0) + entry.bytes - bytesBefore + sentBytes
      // What a full tenant's nodes do in their time makes room, and must not be refused for want of it.
      if (more > 0) this.host.checkRoom(tenantId, ruleNodeName, text?.length ?? 0, done === undefined ? 0 : more)
    } catch (error) {
      if (done !== undefined) entry.done.undo(done.visit.id)
      this.host.grew(tenantId, entry.bytes - bytesBefore)
      throw error
    }
    if (turn.isSet) entry.keep(this.node, text, turn.state)
    if (turn.isWakeSet) entry.wakeAt = turn.wakesAt ?? null
    partition.changed(entry, outputs)
    this.host.grew(tenantId, entry.bytes - bytesBefore + sentBytes)
  }

  private outputOf(entry: StateEntry, turn: Turn<State>, cause: string, index: number): NewOutput {
    const sent = turn.sent[index]
    if (sent === undefined) throw new RangeError('no such message')
    const { ruleChainId, ruleNodeId } = this.identity
    const { relation } = sent
    const message = sent.message.with({
      id: sentId(entry.id, cause, index),
      resumption:
        relation === undefined ? undefined : { ruleChainId, ruleNodeId, relation, executions: 0, callers: [] },
    })
    message.sequence = 0
    const text = this.host.encode(message)
    const place = this.placeOf(message.originator.id)
    return { message, stored: { ...place, id: message.id, due: sent.at, message: text, bytes: text.length } }
  }

  private idOf(key: string): string {
    return `${this.identity.ruleNodeId}:${key}`
  }

  private placeOf(entityId: string): StatePlace {
    const { tenantId, ruleChainId, ruleNodeId } = this.identity
    return { tenantId, ruleChainId, ruleNodeId, entityId }
  }

  private failedOutside(error: unknown): void {
    const { ruleChainId, ruleNodeId, ruleNodeName } = this.identity
    const fields = { ruleChainId, ruleNodeId, ruleNode: ruleNodeName, reason: errorText(error) }
    this.host.report('error', 'a rule node failed when its time came; it is tried again', fields)
  }
}

const NOTHING_SENT: readonly NewOutput[] = []

/** The turn does not count. */
function undo<State>({ isChangedInPlace }: Turn<State>, entry: StateEntry): void {
  if (isChangedInPlace) entry.forgetValue()
}
