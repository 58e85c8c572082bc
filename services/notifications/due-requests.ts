/**
 * Requests that are to be sent: they wait in the table, so a restart loses none. Who takes one moves its time on, so that no other process
 * sends it meanwhile; what a process that died had taken is sent by another one once that time has come. Each tenant has a sender of its own,
 * so that a mail server that hangs holds up its tenant alone; a tenant that needs long gives its place to those that wait for one.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import type { CommitDoubts } from '../changes/commit-doubts.ts'
import type { EntityService } from '../entities/entity-service.ts'
import { notificationRequests, type NotificationRequest } from '../entities/notification.ts'
import { rowsOf } from '../entities/rows.ts'
import type { Report } from '../changes/outbox.ts'
import { triedBy, withProgress, type Delivery, type Progress } from './delivery.ts'
import type { Inbox } from './inbox.ts'

export interface DueRequestsParts {
  readonly entities: EntityStore
  readonly requests: EntityService<typeof notificationRequests.columns>
  readonly delivery: Delivery
  readonly inbox: Inbox
  readonly doubts: CommitDoubts
  readonly clock: Clock
  readonly report: Report
  /** Removes sent requests beyond so many of a tenant. */
  readonly maxSent: number
  /** Tenants whose requests are sent side by side. */
  readonly senders: number
}

/** At most this late where another process made the request. */
const LOOK_MS = 5_000
const LEASE_MS = 120_000
const RENEW_MS = 60_000
/** So many mails and texts are sent twice at most when the process is killed. */
const SENT_PER_NOTE = 50
/** Of one tenant. */
const TAKEN_AT_A_TIME = 100
/** So long a tenant keeps its sender while others wait for one. */
const TURN_MS = 60_000
const SOONEST = {
  first: [{ column: 'due_time', direction: 'ASC' }],
  query: { page: 0, pageSize: 1 },
} as const
const OLDEST = {
  first: [{ column: 'created_time', direction: 'ASC' }],
  query: { page: 0, pageSize: TAKEN_AT_A_TIME },
} as const

export class DueRequests {
  private readonly parts: DueRequestsParts
  private readonly rows: RowStore
  private timer: TimerHandle | undefined
  private timerAt = Infinity
  private isStarted = false
  private isClosed = false
  private isAsked = false
  private looking: Promise<void> | undefined
  /** By tenant. */
  private readonly senders = new Map<string, Sender>()
  /** Tenants that have something to send and no sender, who came first in front. */
  private readonly line = new Set<string>()

  constructor(parts: DueRequestsParts) {
    this.parts = parts
    this.rows = rowsOf(notificationRequests, parts.entities)
  }

  start(): void {
    this.isStarted = true
    this.wakeAt(this.parts.clock.now() + LOOK_MS)
  }

  figures(): { readonly sending: number; readonly waiting: number } {
    return { sending: this.senders.size, waiting: this.line.size }
  }

  /** Looks at that time (Unix ms), or sooner. */
  wakeAt(time: number): void {
    const { clock } = this.parts
    if (!this.isStarted || this.isClosed || this.timerAt <= time) return
    this.timer?.cancel()
    this.timerAt = time
    this.timer = clock.after(Math.max(0, time - clock.now()), () => {
      this.timerAt = Infinity
      this.run()
    })
  }

  /** Begins to send what is due now. */
  run(): void {
    if (this.isClosed) return
    this.isAsked = true
    this.looking ??= this.look()
      .catch((error: unknown) => {
        this.isAsked = false
        this.parts.report('Notifications that are due are not looked at yet; trying again', { error: errorText(error) })
      })
      .finally(() => {
        this.looking = undefined
        // Asked while the end was under way.
        if (this.isAsked) this.run()
        else this.wakeAt(this.parts.clock.now() + LOOK_MS)
      })
  }

  /** Resolves when it is known whose requests are due. */
  async looked(): Promise<void> {
    while (this.looking !== undefined) await this.looking
  }

  /** Resolves when nothing is being sent. */
  async settled(): Promise<void> {
    while (this.looking !== undefined || this.senders.size > 0)
      await Promise.all([this.looking, ...[...this.senders.values()].map(({ underWay }) => underWay)])
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.timer?.cancel()
    await this.settled()
  }

  /** Whose requests are due: nobody waits here until they are sent. */
  private async look(): Promise<void> {
    const { requests, clock } = this.parts
    while (this.isAsked && !this.isClosed) {
      this.isAsked = false
      for (const tenantId of await this.rows.distinct('tenant_id', [this.due()])) this.line.add(String(tenantId))
      this.startSenders()
    }
    const [next] = (await requests.pageWhere({ where: [{ column: 'due_time', after: clock.now() }], ...SOONEST })).data
    if (next?.dueTime !== undefined && next.dueTime !== null) this.wakeAt(next.dueTime)
  }

  private due() {
    return { column: 'due_time', from: 0, to: this.parts.clock.now() }
  }

  private startSenders(): void {
    for (const tenantId of this.line) {
      const own = this.senders.get(tenantId)
      if (own === undefined && this.senders.size >= this.parts.senders) continue
      this.line.delete(tenantId)
      // It may have read what is due before the new one was there.
      if (own !== undefined) own.isAsked = true
      else if (!this.isClosed) this.startSender(tenantId)
    }
  }

  private startSender(tenantId: string): void {
    const sender: Sender = { isAsked: true, until: this.parts.clock.now() + TURN_MS, underWay: Promise.resolve() }
    this.senders.set(tenantId, sender)
    sender.underWay = this.sendAll(tenantId, sender)
      .catch((error: unknown) => {
        sender.isAsked = false
        this.parts.report('Notifications that are due are not sent yet; trying again', { error: errorText(error) })
      })
      .finally(() => {
        this.senders.delete(tenantId)
        if (sender.isAsked) this.line.add(tenantId)
        this.startSenders()
      })
  }

  private async sendAll(tenantId: string, sender: Sender): Promise<void> {
    while (sender.isAsked && !this.isClosed && !this.isTurnOver(sender)) {
      sender.isAsked = false
      const where = [{ column: 'tenant_id', is: tenantId }, this.due()]
      const found = (await this.parts.requests.pageWhere({ where, ...OLDEST })).data
      if (found.length === TAKEN_AT_A_TIME) sender.isAsked = true
      let taken = 0
      for (const request of found) {
        if (this.isClosed) return
        if (this.isTurnOver(sender)) {
          sender.isAsked = true
          return
        }
        if (await this.send(request, sender)) taken++
      }
      // The store takes nothing: the next look tries again.
      if (taken === 0) return void (sender.isAsked = false)
    }
  }

  private isTurnOver({ until }: Sender): boolean {
    return this.line.size > 0 && this.parts.clock.now() >= until
  }

  /** Whether it was this process's, or another's, to send. */
  private async send(request: NotificationRequest, sender: Sender): Promise<boolean> {
    const { delivery, entities, requests, inbox, doubts, clock, maxSent } = this.parts
    let taken = request
    let noted = 0
    const take = async (holdMs: number, progress?: Progress): Promise<void> => {
      const context = progress === undefined ? taken.context : withProgress(taken.context, progress)
      const dueTime = clock.now() + holdMs
      taken = { ...taken, version: taken.version + 1, status: 'PROCESSING', dueTime, context }
      await entities.write([requests.update(taken)])
    }
    const hold = async (progress: Progress): Promise<void> => {
      if (this.isClosed || this.isTurnOver(sender)) {
        sender.isAsked = true
        await take(0, progress)
        throw new Interrupted()
      }
      const tried = triedBy(progress)
      const isEnough = tried - noted >= SENT_PER_NOTE
      if (!isEnough && (taken.dueTime ?? 0) - clock.now() >= RENEW_MS) return
      await take(LEASE_MS, progress)
      noted = tried
    }
    try {
      await take(LEASE_MS)
      const { stats, statements, told } = await delivery.deliver(taken, hold)
      const context = withProgress(taken.context)
      const done = { version: taken.version + 1, status: 'SENT', stats, dueTime: null, context } as const
      const sent: NotificationRequest = { ...taken, ...done }
      const bound = this.rows.keepNewest({ tenant_id: sent.tenantId, status: 'SENT' }, maxSent)
      const tell = (): void => inbox.tell(told)
      await doubts.watch(entities.write([requests.update(sent), ...statements, bound]), tell)
      tell()
      return true
    } catch (error) {
      // The next process goes on, or this one when it is the tenant's turn again.
      if (error instanceof Interrupted) return true
      // Another process has it, or it was cancelled.
      if (isMillraceError(error) && error.code === 'entities.VERSION_CONFLICT') return true
      this.parts.report('A notification request is not sent yet; it is tried again', {
        requestId: request.id,
        error: errorText(error),
      })
      return taken !== request
    }
  }
}

interface Sender {
  /** There may be more to send. */
  isAsked: boolean
  /** Unix ms. */
  readonly until: number
  underWay: Promise<void>
}

/** This process, or the tenant's turn, ends before all mails of a request are sent. */
class Interrupted extends Error {}
