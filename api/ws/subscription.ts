/**
 * One live subscription. It listens first and reads its snapshot then; what was heard meanwhile and is in the snapshot is dropped by the
 * number of its commit, the rest follows the snapshot's frame. So nothing is missed, and what is shown twice is the same point. Where changes
 * of other processes may have been missed, it reads again and sends what is new to it (docs/internals/subscriptions.md).
 */
import type { EntityId } from '../../model/entity-id.ts'
import type { Change, ChangeFeed } from '../../engine/subscriptions/change.ts'
import { isMillraceError, type MillraceError } from '../../model/errors.ts'
import { updateFrame, type ShownValue } from './frames.ts'
import type { Rereadable, TenantRereads } from './rereads.ts'
import { push, type Selection, type Shown } from './selection.ts'

/** Changes kept while a snapshot is read; one more, and the snapshot is read again instead. */
const HEARD_LIMIT = 1000
/** Values of one frame before it is sent ahead of its turn's end. */
const FRAME_VALUES = 1000

/** Has something to send. */
export interface Flushable {
  flush(): void
}

export interface SubscriptionHost {
  readonly feed: ChangeFeed
  /** Sends one frame. */
  send(frame: string): void
  /** Calls `flush` when this turn ends. */
  atTurnEnd(sender: Flushable): void
  /** Frames wait for the client to read: what can be told later in a newer form had better be. */
  readonly isSlow: boolean
  /** Calls `flush` when the client has read what waits. */
  whenDrained(sender: Flushable): void
  readonly rereads: TenantRereads
}

export interface SubscriptionAccess {
  /** Rejects `denied` where the user may not read the entity (any more). */
  readonly check: () => Promise<void>
  /** Told once, of what `check` rejected with: tells the client, and closes the subscription. */
  readonly lost: (error: MillraceError) => void
}

interface Draft {
  readonly kind: Shown['kind']
  readonly values: Map<string, ShownValue[]>
  size: number
}

export class Subscription implements Rereadable {
  readonly cmdId: number
  readonly liveKind: 'time-series' | 'attributes'
  readonly isSubscription = true
  private readonly selection: Selection
  private readonly host: SubscriptionHost
  private readonly stopListening: () => void
  private readonly stopGaps: () => void
  /** What is heard while a snapshot is read; undefined when none is. */
  private heard: Change[] | undefined = []
  /** More was heard than is kept, or something may not have been heard: what is being read is not enough. */
  private overflowed = false
  private draft: Draft | undefined
  /** What was read again, until it is known that nothing was missed meanwhile, and that it may be shown. */
  private readonly unsent: Shown[] = []
  private readonly access: SubscriptionAccess
  /** What a view shows may have changed with the view. */
  private readonly isView: boolean
  /** The entity may have changed hands since access was checked. */
  private accessInDoubt = false
  private closed = false

  /** Listens from here on; nothing is sent before {@link start}. */
  constructor(
    cmdId: number,
    liveKind: 'time-series' | 'attributes',
    entity: EntityId,
    selection: Selection,
    host: SubscriptionHost,
    access: SubscriptionAccess,
  ) {
    this.access = access
    this.isView = entity.entityType === 'ENTITY_VIEW'
    this.cmdId = cmdId
    this.liveKind = liveKind
    this.selection = selection
    this.host = host
    this.stopListening = host.feed.listen(entity, (change) => this.hear(change))
    this.stopGaps = host.feed.onGap(() => this.missed())
  }

  get isClosed(): boolean {
    return this.closed
  }

  /** Reads and sends the snapshot. Rejects with what the read throws; the subscription is then to be closed. */
  async start(): Promise<void> {
    await this.host.feed.settled()
    const values = await this.readWhole(() => this.selection.read())
    if (this.closed) return
    this.host.send(updateFrame(this.cmdId, values))
    this.follow()
  }

  /** Reads once more and sends what differs from what was shown. Rejects with what the read throws; what was heard is shown all the same. */
  async readAgain(): Promise<void> {
    if (this.closed || this.heard !== undefined) return
    this.flush()
    this.heard = []
    // Who has it now may have changed in what was missed.
    this.accessInDoubt = true
    try {
      await this.host.feed.settled()
      await this.readWhole(async () => this.unsent.push(...(await this.selection.readAgain())))
      if (this.closed) return
      for (const part of this.unsent.splice(0)) this.collect(part)
    } catch (error) {
      if (!isDenied(error)) throw error
      this.loseAccess(error)
    } finally {
      // Whose it is now is not known: what was heard is read once it is.
      if (this.accessInDoubt) this.heard = undefined
      else this.follow()
    }
  }

  /** Until what was heard meanwhile, with what was read, is all there is. */
  private async readWhole<Result>(read: () => Promise<Result>): Promise<Result> {
    for (;;) {
      await this.settleAccess()
      const result = await read()
      if (this.accessInDoubt && !this.closed) continue
      if (!this.overflowed || this.closed) return result
      this.overflowed = false
      this.heard = []
    }
  }

  /** Shows what was heard while a snapshot was read. */
  private follow(): void {
    const heard = this.heard ?? []
    this.heard = undefined
    for (const change of heard) this.show(change)
  }

  private async settleAccess(): Promise<void> {
    while (this.accessInDoubt && !this.closed) {
      this.accessInDoubt = false
      try {
        await this.access.check()
      } catch (error) {
        this.accessInDoubt = true
        throw error
      }
    }
  }

  /** Nothing more is shown until it is known whether the user may still see it. */
  private doubtAccess(): void {
    this.accessInDoubt = true
    if (this.heard !== undefined) return
    this.flush()
    this.heard = []
    this.settleAccess().then(
      () => {
        if (this.closed) return
        const { overflowed } = this
        this.overflowed = false
        this.follow()
        if (overflowed || this.isView) this.host.rereads.ask(this)
      },
      (error: unknown) => {
        if (isDenied(error)) return this.loseAccess(error)
        // The store does not answer: reading again asks again, and what is heard meanwhile is read then.
        this.heard = undefined
        this.host.rereads.ask(this)
      },
    )
  }

  private loseAccess(error: MillraceError): void {
    if (!this.closed) this.access.lost(error)
  }

  private missed(): void {
    if (this.closed) return
    this.selection.missed()
    if (this.heard === undefined) this.host.rereads.ask(this)
    else this.overflowed = true
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
    this.stopGaps()
    this.host.rereads.forget(this)
  }

  private hear(change: Change): void {
    if (this.closed) return
    if (change.kind === 'device-changed' || change.kind === 'entity-deleted') return this.doubtAccess()
    if (this.heard === undefined) {
      // Reading again is asked for, and asks for access first.
      if (this.accessInDoubt) return
      return this.show(change)
    }
    if (this.heard.length < HEARD_LIMIT) this.heard.push(change)
    else this.overflowed = true
  }

  private show(change: Change): void {
    const shown = this.selection.show(change)
    if (shown === 'unknown') this.host.rereads.ask(this)
    else if (shown !== undefined) this.collect(shown)
  }

  private collect(shown: Shown): void {
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

function isDenied(error: unknown): error is MillraceError {
  return isMillraceError(error) && error.kind === 'denied'
}
