/**
 * The states of one partition at its owner. What changes is in memory at once and in the store with the next transaction: one is under way, and
 * what comes meanwhile is the next. Nothing that follows from a change leaves before it is durable. Where a transaction fails, all that was
 * built on it is forgotten and read again.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import { StateEntry } from './entry.ts'
import { StateErrors } from './errors.ts'
import { Group, type NewOutput } from './group.ts'
import { Outgoing, type OutgoingLink } from './outgoing.ts'
import type { PartitionStore, StatePlace } from './store.ts'

/** Entries that are woken at once; more wait for the next look. */
const PAGE = 500
const RETRY_MS = 1000
/** Clocks of computers hold no longer timers; a look is cheap. */
const LONGEST_TIMER_MS = 3_600_000
/** Nobody knows the node yet, or it failed. */
const LATER_MS = 60_000
const NO_PLACES: ReadonlyMap<string, StatePlace> = new Map()

export interface PartitionHost {
  readonly clock: Clock
  readonly link: OutgoingLink
  /** Up to which sequence a stream of the log is settled durably. */
  settledBelow(stream: number): number
  decode(text: string): Message
  /** Runs the node of the entry; false where there is none. */
  wake(partition: StatePartition, entry: StateEntry): boolean
  /** Another process owns it. */
  lost(partition: StatePartition): void
  /** Bytes that the tenant has more. */
  grew(tenantId: string, bytes: number): void
  /** A commit failed: what was counted may be wrong. */
  doubtful(): void
  report(level: 'warn' | 'error', text: string, fields: Readonly<Record<string, unknown>>): void
}

export class StatePartition {
  readonly stream: number
  /** Another number each time that it comes to this process. */
  readonly stay: number
  private readonly store: PartitionStore
  private readonly host: PartitionHost
  private readonly maxEntries: number
  private readonly entries = new Map<string, StateEntry>()
  private readonly loading = new Map<string, Promise<void>>()
  private readonly outgoing: Outgoing
  private open = new Group()
  private writing: Promise<void> | undefined
  private isGone = false
  private lookTimer: TimerHandle | undefined
  private lookAt = Infinity
  private looking: Promise<void> | undefined
  /** Until then what was refused is not tried again, Unix ms. */
  private retryAt = 0
  /** The last transaction failed: the next look tries again, or the next change. */
  private hasFailed = false

  constructor(stream: number, stay: number, store: PartitionStore, host: PartitionHost, maxEntries: number) {
    this.stream = stream
    this.stay = stay
    this.store = store
    this.host = host
    this.maxEntries = maxEntries
    this.outgoing = new Outgoing(host.link, {
      left: (output) => {
        this.open.removed.push(output.id)
        host.grew(output.tenantId, -output.bytes)
        this.flushSoon()
      },
      refused: () => this.retryLater(),
      neverTaken: ({ id, tenantId, ruleChainId, ruleNodeId, entityId }, reason, isLost) =>
        host.report(
          'error',
          isLost
            ? 'the log will never take a message of a rule node: it is dropped'
            : 'the log will never take a message of a rule node: its failure goes on instead',
          { messageId: id, tenantId, ruleChainId, ruleNodeId, entityId, reason },
        ),
    })
  }

  /** Reads what waits in it. */
  async begin(): Promise<void> {
    this.outgoing.begin(await this.store.waiting(), this.host.clock.now())
    this.lookBy(this.host.clock.now())
  }

  get isLost(): boolean {
    return this.isGone
  }

  get size(): number {
    return this.entries.size
  }

  /** Messages handed to the log and not answered. */
  get underWay(): number {
    return this.outgoing.underWay
  }

  waitingOf(ruleNodeId: string): number {
    return this.outgoing.waitingOf(ruleNodeId)
  }

  /** In memory; undefined where it has to be loaded first. */
  find(id: string): StateEntry | undefined {
    const entry = this.entries.get(id)
    if (entry !== undefined) entry.isUsed = true
    return entry
  }

  /** Resolves when all of them were in memory; one query for those that were not. */
  async load(places: ReadonlyMap<string, StatePlace>): Promise<void> {
    const missing = [...places.keys()].filter((id) => !this.entries.has(id) && !this.loading.has(id))
    if (missing.length > 0) {
      const read = this.read(missing, places).finally(() => {
        for (const id of missing) this.loading.delete(id)
      })
      for (const id of missing) this.loading.set(id, read)
    }
    await Promise.all(new Set([...places.keys()].flatMap((id) => this.loading.get(id) ?? [])))
  }

  /** The change is in memory: it becomes durable with the returned group. */
  changed(entry: StateEntry, outputs: readonly NewOutput[]): Group {
    const group = this.open
    if (entry.group !== group) group.changed.push(entry)
    entry.group = group
    this.send(outputs)
    return group
  }

  send(outputs: readonly NewOutput[]): Group {
    this.open.outputs.push(...outputs)
    this.flushSoon()
    return this.open
  }

  /** What is stored of an entity went with it. */
  forget(entityId: string): void {
    let hasChanged = false
    for (const [id, entry] of this.entries) {
      if (entry.place.entityId !== entityId) continue
      this.entries.delete(id)
      hasChanged ||= entry.group === this.open
    }
    const { open } = this
    if (hasChanged) open.changed = open.changed.filter(({ place }) => place.entityId !== entityId)
    this.outgoing.forget(entityId)
    // Whoever waits for the open transaction hears of it.
    if (!this.open.isEmpty) this.flushSoon()
  }

  /** Of a node that went. */
  forgetNode(ruleNodeId: string): void {
    for (const [id, entry] of this.entries) {
      if (entry.place.ruleNodeId === ruleNodeId && entry.group === undefined) this.entries.delete(id)
    }
  }

  /** Nothing that is done here counts any more. */
  drop(error: Error): void {
    if (this.isGone) return
    this.isGone = true
    this.lookTimer?.cancel()
    this.entries.clear()
    const group = this.open
    this.open = new Group()
    group.tell(error)
  }

  /** Resolves when what was changed is durable or refused. */
  async settled(): Promise<void> {
    await this.looking
    while (this.writing !== undefined) await this.writing
  }

  async close(): Promise<void> {
    this.lookTimer?.cancel()
    this.lookTimer = undefined
    this.outgoing.close()
    await this.settled()
    this.drop(StateErrors.CLOSED())
  }

  private async read(ids: readonly string[], places: ReadonlyMap<string, StatePlace>): Promise<void> {
    const rows = new Map((await this.store.load(ids)).map((row) => [row.id, row]))
    if (this.isGone) return
    for (const id of ids) {
      const place = places.get(id)
      if (place !== undefined) this.entries.set(id, new StateEntry(id, place, rows.get(id)))
    }
    this.evict(places)
  }

  /** Those that are durable and were not used since the last look go: to keep them in the order of their use took more than all else that finds them. */
  private evict(except: ReadonlyMap<string, StatePlace> = NO_PLACES): void {
    let looks = 2 * this.entries.size
    if (this.entries.size <= this.maxEntries) return
    for (const [id, entry] of this.entries) {
      if (looks-- === 0) return
      this.entries.delete(id)
      if (entry.group === undefined && !except.has(id) && !entry.isUsed) {
        if (this.entries.size <= this.maxEntries * 0.9) return
        continue
      }
      entry.isUsed = false
      this.entries.set(id, entry)
    }
  }

  private flushSoon(): void {
    if (this.isGone) return
    this.writing ??= this.flush().finally(() => {
      this.writing = undefined
      if (!this.hasFailed && !this.open.isEmpty) this.flushSoon()
    })
  }

  private async flush(): Promise<void> {
    // What is changed in the same turn goes together.
    await Promise.resolve()
    this.hasFailed = false
    while (!this.open.isEmpty && !this.isGone) {
      const group = this.open
      this.open = new Group()
      try {
        await this.write(group)
      } catch (error) {
        this.failed(group, error)
        return
      }
      this.committed(group)
    }
  }

  private write(group: Group): Promise<void> {
    const settledBelow = (stream: number): number => this.host.settledBelow(stream)
    const states = []
    const removedStates: string[] = []
    for (const entry of group.changed) {
      const { bytes } = entry
      entry.done.prune(settledBelow)
      this.host.grew(entry.place.tenantId, entry.bytes - bytes)
      if (!entry.isEmpty) {
        states.push(entry.stored())
        entry.isStored = true
      } else if (entry.isStored) {
        removedStates.push(entry.id)
        entry.isStored = false
      }
    }
    const outputs = group.outputs.map(({ stored }) => stored)
    return this.store.commit({ states, removedStates, outputs, removedOutputs: group.removed })
  }

  private committed(group: Group): void {
    const now = this.host.clock.now()
    let next = Infinity
    for (const entry of group.changed) {
      if (entry.group === group) entry.group = undefined
      if (entry.wakeAt !== null) next = Math.min(next, entry.wakeAt)
    }
    this.outgoing.removed(group.removed)
    for (const output of group.outputs) {
      this.outgoing.added(output.stored)
      if (output.stored.due > now) next = Math.min(next, output.stored.due)
      else if (this.outgoing.isHeld(output.stored.entityId)) {
        this.outgoing.hold(output.stored)
        next = Math.min(next, Math.max(now, this.retryAt))
      } else if (!this.isGone) this.outgoing.publish(output)
    }
    group.tell(undefined)
    this.evict()
    if (next < Infinity) this.lookBy(next)
  }

  private failed(group: Group, error: unknown): void {
    const isStale = isMillraceError(error) && error.code === 'node-state.OWNER_STALE'
    const refusal = isMillraceError(error)
      ? error
      : StateErrors.UNAVAILABLE({ node: 'any', reason: errorText(error) }, error)
    this.host.doubtful()
    this.hasFailed = true
    const built = this.open
    this.open = new Group()
    // What the log has must not be sent again.
    this.open.removed.push(...group.removed, ...built.removed)
    this.entries.clear()
    if (isStale) {
      this.drop(refusal)
      this.host.lost(this)
    } else {
      // They may be in the store all the same: it did them, and its answer was lost.
      for (const { stored } of group.outputs) this.outgoing.hold(stored)
      this.retryLater()
    }
    group.tell(refusal)
    built.tell(refusal)
  }

  private retryLater(): void {
    this.retryAt = this.host.clock.now() + RETRY_MS
    this.lookBy(this.retryAt)
  }

  /** What could not be looked for until now can be. */
  lookSoon(): void {
    this.lookBy(this.host.clock.now())
  }

  /** Looks for what is due at that time, Unix ms, or before. */
  private lookBy(time: number): void {
    if (this.isGone || time >= this.lookAt) return
    const { clock } = this.host
    this.lookTimer?.cancel()
    this.lookAt = time
    const delay = Math.min(LONGEST_TIMER_MS, Math.max(0, time - clock.now()))
    this.lookTimer = clock.after(delay, () => {
      this.lookAt = Infinity
      this.lookTimer = undefined
      const before = this.looking ?? Promise.resolve()
      const looking = before
        .then(() => this.look())
        .catch((error: unknown) => this.troubled(error))
        .finally(() => {
          if (this.looking === looking) this.looking = undefined
        })
      this.looking = looking
    })
  }

  private troubled(error: unknown): void {
    if (this.isGone) return
    this.host.report('warn', 'what is due in a partition of node states can not be read', {
      stream: this.stream,
      reason: errorText(error),
    })
    this.lookBy(this.host.clock.now() + RETRY_MS)
  }

  private async look(): Promise<void> {
    const { clock } = this.host
    if (!this.open.isEmpty) this.flushSoon()
    await this.wakeDue()
    await this.sendDue()
    if (this.isGone) return
    const next = await this.store.nextTime()
    // What is due and still there is on its way, or was refused just now.
    if (next !== undefined) this.lookBy(next > clock.now() ? next : clock.now() + RETRY_MS)
  }

  private async wakeDue(): Promise<void> {
    const { clock } = this.host
    for (let found = PAGE; found === PAGE && !this.isGone;) {
      const rows = await this.store.woken(clock.now(), PAGE)
      found = rows.length
      await this.load(new Map(rows.map((row) => [row.id, row])))
      const isDue = ({ wakeAt }: StateEntry): boolean => wakeAt !== null && wakeAt <= clock.now()
      let underWay = 0
      for (const { id } of rows) {
        const entry = this.entries.get(id)
        if (entry === undefined || this.isGone || !isDue(entry)) continue
        if (this.host.wake(this, entry)) {
          // Something is read for it first.
          if (isDue(entry)) underWay++
          continue
        }
        entry.wakeAt = clock.now() + LATER_MS
        this.changed(entry, [])
      }
      while (this.writing !== undefined) await this.writing
      // The store would answer the same ones until what is read is there: then it is looked again.
      if (this.hasFailed || underWay === rows.length) return
    }
  }

  private async sendDue(): Promise<void> {
    const { clock } = this.host
    const room = this.outgoing.room
    if (room <= 0 || this.isGone) return
    const held = this.outgoing.allHeld()
    const most = this.outgoing.underWay + Math.min(room, PAGE)
    const rows = await this.store.due(clock.now(), most)
    if (this.isGone) return
    // What is not there was never done, or is gone.
    if (rows.length < most) for (const output of held) this.outgoing.release(output)
    for (const row of rows) {
      if (!this.outgoing.isUnderWay(row.id))
        this.outgoing.publish({ stored: row, message: this.host.decode(row.message) })
    }
    if (rows.length >= PAGE) this.lookBy(clock.now())
  }
}
