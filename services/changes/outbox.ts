/**
 * Publishes what the outbox holds, in the order of commits, and removes what the link has stored. Entries are held in
 * memory up to a bound; beyond it they wait in the table. A crash between storing and removing publishes once more.
 *
 * Where several processes share the table, each publishes what it committed, and now and then takes what one that died, or one
 * that never heard whether its commit came through, left behind.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { errorText, type MillraceError } from '../../model/errors.ts'
import type { Link, PublishReceipt } from '../../engine/link/link.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { OutboxEntry } from '../../storage/entities/outbox.ts'

/** Entries in memory; more wait in the table. */
const MAX_HELD = 10_000
const PAGE = 1_000
const RETRY_MS = 1_000
/** Of a shared table: how often it is looked through, and how long an entry found there is ours. */
const SWEEP_MS = 5_000
const LEASE_MS = 30_000

export type Report = (text: string, fields: Readonly<Record<string, unknown>>) => void

export class OutboxPublisher {
  private readonly entities: EntityStore
  private readonly link: Link
  private readonly clock: Clock
  private readonly report: Report
  private started = false
  private closed = false
  private loading = false
  /** The table has entries that were not taken into memory. */
  private behind = true
  private pausing = false
  private lastTaken = 0
  private held: OutboxEntry[] = []
  /** Of a shared table: the ids of entries held or in flight, so that looking through it takes none twice. */
  private readonly taken = new Set<number>()
  private sweep: TimerHandle | undefined
  private inFlight = 0
  private storedIds: number[] = []
  private removing = false
  /** Who wants that nothing leaves the table for a while. */
  private holders = 0
  private stopListening: (() => void) | undefined
  private readonly idle: (() => void)[] = []

  constructor(entities: EntityStore, link: Link, clock: Clock, report: Report) {
    this.entities = entities
    this.link = link
    this.clock = clock
    this.report = report
  }

  /** Publishes what a crash left; resolves when all of it is given to the link. */
  async start(): Promise<void> {
    if (this.started) return
    this.started = true
    this.stopListening = this.link.onWritable(() => this.publishHeld())
    await this.load()
    if (this.entities.outbox.isShared) this.sweepLater()
  }

  /** Takes an entry that was just committed. */
  committed(entry: OutboxEntry): void {
    if (this.entities.outbox.isShared) {
      // What finds no room is taken once its time is over.
      if (this.started && !this.closed && this.held.length < MAX_HELD) this.take([entry])
      return
    }
    if (!this.started || this.loading || this.behind || this.held.length >= MAX_HELD) {
      this.behind = true
      return
    }
    if (entry.id <= this.lastTaken) return
    this.lastTaken = entry.id
    this.take([entry])
  }

  /**
   * From now until the returned function is called no entry leaves the table: a copy of the log made now and one of the table made
   * then have each message at least once between them.
   */
  holdEntries(): () => void {
    this.holders++
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.holders--
      this.removeLater()
    }
  }

  async close(): Promise<void> {
    this.closed = true
    this.sweep?.cancel()
    this.stopListening?.()
    this.held = []
    while (this.inFlight > 0 || this.removing) await new Promise<void>((resolve) => this.idle.push(resolve))
  }

  private async load(): Promise<void> {
    if (this.loading || this.closed) return
    this.loading = true
    try {
      while (this.behind && this.held.length < MAX_HELD && !this.closed) {
        this.behind = false
        const entries = await this.nextPage()
        if (entries.length === 0) continue
        this.behind = true
        this.lastTaken = entries.at(-1)?.id ?? this.lastTaken
        this.take(entries)
      }
    } catch (error) {
      this.behind = true
      this.report('The outbox cannot be read; trying again', { error: errorText(error) })
      this.clock.after(RETRY_MS, () => void this.load())
    } finally {
      this.loading = false
    }
  }

  private nextPage(): Promise<readonly OutboxEntry[]> {
    const { outbox } = this.entities
    return outbox.isShared ? outbox.claim(LEASE_MS, PAGE) : outbox.after(this.lastTaken, PAGE)
  }

  private take(entries: readonly OutboxEntry[]): void {
    for (const entry of entries) {
      if (this.entities.outbox.isShared) {
        if (this.taken.has(entry.id)) continue
        this.taken.add(entry.id)
      }
      this.held.push(entry)
    }
    this.publishHeld()
  }

  private sweepLater(): void {
    if (this.closed) return
    this.sweep = this.clock.after(SWEEP_MS, () => {
      if (this.closed) return
      void this.renew()
        .then(() => {
          this.behind = true
          return this.load()
        })
        .finally(() => this.sweepLater())
    })
  }

  /** What waits here, for as long as the link is away, is not left to other processes: they would publish it too. */
  private async renew(): Promise<void> {
    if (this.taken.size === 0) return
    try {
      await this.entities.write([this.entities.outbox.renew([...this.taken], LEASE_MS)])
    } catch (error) {
      this.report('What waits in the outbox is not kept from other processes; trying again', {
        error: errorText(error),
      })
    }
  }

  private publishHeld(): void {
    while (!this.closed && !this.pausing && this.link.writable) {
      const entry = this.held.shift()
      if (entry === undefined) break
      this.inFlight++
      this.link.publish(entry.message, this.receiptOf(entry))
    }
    if (this.started && this.behind && this.held.length < PAGE) void this.load()
  }

  private receiptOf(entry: OutboxEntry): PublishReceipt {
    return {
      stored: () => {
        this.storedIds.push(entry.id)
        this.landed()
      },
      refused: (error) => {
        this.refused(entry, error)
        this.landed()
      },
    }
  }

  private refused(entry: OutboxEntry, error: MillraceError): void {
    const fields = { messageId: entry.message.id, messageType: entry.message.type, error: error.message }
    if (error.kind === 'retryable' && !this.closed) {
      const place = this.held.findIndex((other) => other.id > entry.id)
      this.held.splice(place < 0 ? this.held.length : place, 0, entry)
      this.pause()
    } else if (error.kind === 'invalid') {
      // It will never be taken: keeping it would try it again at every start.
      this.report('The link will never take a message of the outbox; it is dropped', fields)
      this.storedIds.push(entry.id)
    } else {
      this.taken.delete(entry.id)
      this.report('A message stays in the outbox until the next start', fields)
    }
  }

  /** After a refusal the later entries wait with it, so that the order of an entity's messages is kept. */
  private pause(): void {
    if (this.pausing) return
    this.pausing = true
    this.clock.after(RETRY_MS, () => {
      this.pausing = false
      this.publishHeld()
    })
  }

  private landed(): void {
    this.inFlight--
    this.removeLater()
    this.notifyIdle()
  }

  private removeLater(): void {
    if (!this.removing && this.holders === 0 && this.storedIds.length > 0) void this.removeStored()
  }

  private async removeStored(): Promise<void> {
    this.removing = true
    while (this.storedIds.length > 0 && this.holders === 0) {
      const ids = this.storedIds
      this.storedIds = []
      try {
        await this.entities.write([this.entities.outbox.remove(ids)])
      } catch (error) {
        this.report('Published messages stay in the outbox: they are published once more at the next start', {
          count: ids.length,
          error: errorText(error),
        })
      }
      for (const id of ids) this.taken.delete(id)
    }
    this.removing = false
    this.notifyIdle()
  }

  private notifyIdle(): void {
    if (this.inFlight > 0 || this.removing) return
    for (const resolve of this.idle.splice(0)) resolve()
  }
}
