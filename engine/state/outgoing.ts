/** Messages of nodes on their way from the store to the log. A row goes when the log has its message; a crash between sends it again, under the same id. */
import type { PublishReceipt } from '../link/link.ts'
import type { Message } from '../../model/message.ts'
import type { NewOutput } from './group.ts'
import type { StoredOutput } from './store.ts'

export interface OutgoingLink {
  publish(message: Message, receipt: PublishReceipt): void
}

export interface OutgoingListener {
  /** The log has it: its row may go. */
  left(output: StoredOutput): void
  refused(): void
}

/** Handed to the log and not answered. */
const MOST_UNDER_WAY = 2000

export class Outgoing {
  private readonly link: OutgoingLink
  private readonly listener: OutgoingListener
  /** Handed to the log, until their rows are gone. */
  private readonly handed = new Map<string, StoredOutput>()
  private readonly counts = new Map<string, number>()
  /** Rows that were added here, by id: one that is kept again is the same row. */
  private readonly known = new Map<string, StoredOutput['entityId']>()
  private isClosed = false

  constructor(link: OutgoingLink, listener: OutgoingListener) {
    this.link = link
    this.listener = listener
  }

  begin(waiting: ReadonlyMap<string, number>): void {
    for (const [ruleNodeId, count] of waiting) this.count(ruleNodeId, count)
  }

  waitingOf(ruleNodeId: string): number {
    return this.counts.get(ruleNodeId) ?? 0
  }

  get underWay(): number {
    return this.handed.size
  }

  get room(): number {
    return MOST_UNDER_WAY - this.handed.size
  }

  isUnderWay(id: string): boolean {
    return this.handed.has(id)
  }

  get isNothingWaiting(): boolean {
    return this.counts.size === 0
  }

  /** As the store says, while nothing is on its way there. */
  recount(waiting: ReadonlyMap<string, number>): void {
    this.counts.clear()
    this.begin(waiting)
  }

  /** The rows of an entity went with it. */
  forget(entityId: string): void {
    for (const [id, of] of this.known) if (of === entityId) this.known.delete(id)
  }

  added({ id, ruleNodeId, entityId }: StoredOutput): void {
    if (this.known.has(id)) return
    this.known.set(id, entityId)
    this.count(ruleNodeId, 1)
  }

  removed(ids: readonly string[]): void {
    for (const id of ids) {
      const output = this.handed.get(id)
      if (output === undefined) continue
      this.handed.delete(id)
      this.known.delete(id)
      this.count(output.ruleNodeId, -1)
    }
  }

  publish({ stored, message }: NewOutput): void {
    if (this.isClosed) return
    this.handed.set(stored.id, stored)
    this.link.publish(message, {
      stored: () => this.listener.left(stored),
      refused: () => {
        this.handed.delete(stored.id)
        this.listener.refused()
      },
    })
  }

  /** What is still to be sent waits in the store. */
  close(): void {
    this.isClosed = true
  }

  private count(ruleNodeId: string, by: number): void {
    const count = (this.counts.get(ruleNodeId) ?? 0) + by
    if (count > 0) this.counts.set(ruleNodeId, count)
    else this.counts.delete(ruleNodeId)
  }
}
