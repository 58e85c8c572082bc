/**
 * One live subscription. It listens first and reads its snapshot then; what was heard meanwhile and is in the snapshot is
 * dropped by its sequence, the rest follows the snapshot's frame. So nothing is missed and nothing is shown twice.
 */
import type { EntityId } from '../../model/entity-id.ts'
import type { Change, ChangeFeed } from '../../engine/subscriptions/change.ts'
import { updateFrame, type ShownValue } from './frames.ts'
import { push, type Selection, type Shown } from './selection.ts'

/** Changes kept while a snapshot is read; one more, and the snapshot is read again instead. */
const HEARD_LIMIT = 1000
/** Values of one frame before it is sent ahead of its turn's end. */
const FRAME_VALUES = 1000

export interface SubscriptionHost {
  readonly feed: ChangeFeed
  /** Sends one frame. */
  send(frame: string): void
  /** Calls `flush` of the subscription when this turn ends. */
  atTurnEnd(subscription: Subscription): void
}

interface Draft {
  readonly kind: Shown['kind']
  readonly values: Map<string, ShownValue[]>
  size: number
}

export class Subscription {
  readonly cmdId: number
  private readonly selection: Selection
  private readonly host: SubscriptionHost
  private readonly stopListening: () => void
  /** What is heard until the snapshot is sent; undefined from then on. */
  private heard: Change[] | undefined = []
  private overflowed = false
  /** Up to where the snapshot speaks: a commit's change may be told after a snapshot that already holds it. */
  private snapshotSequence = -Infinity
  private draft: Draft | undefined
  private closed = false

  /** Listens from here on; nothing is sent before {@link start}. */
  constructor(cmdId: number, entity: EntityId, selection: Selection, host: SubscriptionHost) {
    this.cmdId = cmdId
    this.selection = selection
    this.host = host
    this.stopListening = host.feed.listen(entity, (change) => this.hear(change))
  }

  /** Reads and sends the snapshot. Rejects with what the read throws; the subscription is then to be closed. */
  async start(): Promise<void> {
    for (;;) {
      const { values, sequence } = await this.selection.read()
      if (this.closed) return
      if (this.overflowed) {
        this.overflowed = false
        this.heard = []
        continue
      }
      this.host.send(updateFrame(this.cmdId, values))
      const heard = this.heard ?? []
      this.heard = undefined
      this.snapshotSequence = sequence
      for (const change of heard) this.show(change)
      return
    }
  }

  /** Sends what was collected in this turn. */
  flush(): void {
    const { draft } = this
    this.draft = undefined
    if (draft !== undefined && !this.closed) this.host.send(updateFrame(this.cmdId, draft.values))
  }

  close(): void {
    this.closed = true
    this.heard = undefined
    this.draft = undefined
    this.stopListening()
  }

  private hear(change: Change): void {
    if (this.closed) return
    if (this.heard === undefined) return this.show(change)
    if (this.heard.length < HEARD_LIMIT) this.heard.push(change)
    else this.overflowed = true
  }

  private show(change: Change): void {
    const shown = this.selection.show(change, isIn(change, this.snapshotSequence))
    if (shown === undefined) return
    // A key that went and came back in one turn is told in two frames, or a client could not tell their order.
    if (this.draft !== undefined && (this.draft.kind !== shown.kind || this.draft.size >= FRAME_VALUES)) this.flush()
    if (this.draft === undefined) {
      this.draft = { kind: shown.kind, values: new Map(), size: 0 }
      this.host.atTurnEnd(this)
    }
    for (const [key, values] of shown.values) {
      for (const value of values) push(this.draft.values, key, value)
      this.draft.size += values.length
    }
  }
}

/** Whether a snapshot that speaks up to `sequence` holds the change; what is shown and never stored is in none. */
function isIn(change: Change, sequence: number): boolean {
  return 'sequence' in change && Number.isInteger(change.sequence) && change.sequence <= sequence
}
