/** Messages of nodes on their way from the store to the log. A row goes when the log has its message; a crash between sends it again, under the same id. */
import type { PublishReceipt } from '../link/link.ts'
import { errorText } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import type { NewOutput } from './group.ts'
import type { StoredOutput, WaitingOutput } from './store.ts'

export interface OutgoingLink {
  publish(message: Message, receipt: PublishReceipt): void
  /** Throws what `publish` would refuse this message with for ever. Absent: nothing. */
  checkFits?(message: Message): void
}

export interface OutgoingListener {
  /** The log has it, or never will: its row may go. */
  left(output: StoredOutput): void
  /** For now. */
  refused(): void
  /** For ever: its failure goes on instead of it, or nothing does. */
  neverTaken(output: StoredOutput, reason: string, isLost: boolean): void
}

/** Handed to the log and not answered. */
const MAX_UNDER_WAY = 2000
const FAILURE = 'Failure'
const NOTHING_HELD: readonly never[] = []

export class Outgoing {
  private readonly link: OutgoingLink
  private readonly listener: OutgoingListener
  /** Handed to the log, until their rows are gone. */
  private readonly handed = new Map<string, StoredOutput>()
  private readonly counts = new Map<string, number>()
  /** Rows, by id: one that is kept again is the same row. */
  private readonly known = new Map<string, Pick<WaitingOutput, 'ruleNodeId' | 'entityId'>>()
  /** Ids, by entity, of what is due, in the store, and not with the log: what is newer of the same entity leaves behind it. */
  private readonly held = new Map<string, Set<string>>()
  private isClosed = false

  constructor(link: OutgoingLink, listener: OutgoingListener) {
    this.link = link
    this.listener = listener
  }

  /** `now` as Unix ms. */
  begin(waiting: readonly WaitingOutput[], now: number): void {
    for (const output of waiting) {
      this.added(output)
      if (output.due <= now) this.hold(output)
    }
  }

  /** Whether something of the entity is to leave first. */
  isHeld(entityId: string): boolean {
    return this.held.has(entityId)
  }

  /** It leaves when the store is read for what is due. */
  hold({ id, entityId }: Pick<WaitingOutput, 'id' | 'entityId'>): void {
    const held = this.held.get(entityId)
    if (held === undefined) this.held.set(entityId, new Set([id]))
    else held.add(id)
  }

  release({ id, entityId }: Pick<WaitingOutput, 'id' | 'entityId'>): void {
    const held = this.held.get(entityId)
    if (held?.delete(id) === true && held.size === 0) this.held.delete(entityId)
  }

  allHeld(): readonly Pick<WaitingOutput, 'id' | 'entityId'>[] {
    return this.held.size === 0
      ? NOTHING_HELD
      : [...this.held].flatMap(([entityId, ids]) => [...ids].map((id) => ({ id, entityId })))
  }

  waitingOf(ruleNodeId: string): number {
    return this.counts.get(ruleNodeId) ?? 0
  }

  get underWay(): number {
    return this.handed.size
  }

  get room(): number {
    return MAX_UNDER_WAY - this.handed.size
  }

  isUnderWay(id: string): boolean {
    return this.handed.has(id)
  }

  /** The rows of an entity went with it. */
  forget(entityId: string): void {
    for (const [id, of] of this.known) if (of.entityId === entityId) this.gone(id)
  }

  added({ id, ruleNodeId, entityId }: WaitingOutput): void {
    if (this.known.has(id)) return
    this.known.set(id, { ruleNodeId, entityId })
    this.count(ruleNodeId, 1)
  }

  removed(ids: readonly string[]): void {
    for (const id of ids) {
      this.handed.delete(id)
      this.gone(id)
    }
  }

  publish({ stored, message }: NewOutput): void {
    if (this.isClosed) return
    this.release(stored)
    this.handed.set(stored.id, stored)
    this.hand(stored, message, false)
  }

  /** What is still to be sent waits in the store. */
  close(): void {
    this.isClosed = true
  }

  private hand(stored: StoredOutput, message: Message, isFailure: boolean): void {
    this.link.publish(message, {
      stored: () => this.listener.left(stored),
      refused: (error) => {
        if (error.kind !== 'invalid') {
          this.handed.delete(stored.id)
          this.hold(stored)
          return this.listener.refused()
        }
        // What never fits must not be tried for ever before those behind it.
        const failure = isFailure ? undefined : failureOf(message, errorText(error))
        this.listener.neverTaken(stored, errorText(error), failure === undefined)
        if (failure === undefined) this.listener.left(stored)
        else this.hand(stored, failure, true)
      },
    })
  }

  private gone(id: string): void {
    const row = this.known.get(id)
    if (row === undefined) return
    this.known.delete(id)
    this.release({ id, entityId: row.entityId })
    this.count(row.ruleNodeId, -1)
  }

  private count(ruleNodeId: string, by: number): void {
    const count = (this.counts.get(ruleNodeId) ?? 0) + by
    if (count > 0) this.counts.set(ruleNodeId, count)
    else this.counts.delete(ruleNodeId)
  }
}

/** Behind the node's `Failure`, under the same id, without what made it too large; undefined where it goes on behind no relation. */
function failureOf(message: Message, error: string): Message | undefined {
  const { resumption } = message
  if (resumption?.relation === undefined) return undefined
  return message.with({ data: '{}', metadata: { error }, resumption: { ...resumption, relation: FAILURE } })
}
