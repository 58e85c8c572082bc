/**
 * Requests that are to be sent: they wait in the table, so a restart loses none. Who takes one moves its time on, so that no other process
 * sends it meanwhile; what a process that died had taken is sent by another one once that time has come.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import type { CommitDoubts } from '../commit-doubts.ts'
import type { EntityService } from '../entities/entity-service.ts'
import { notificationRequests, type NotificationRequest } from '../entities/notification.ts'
import { rowsOf } from '../entities/rows.ts'
import type { Report } from '../outbox.ts'
import { withProgress, type Delivery, type MailProgress } from './delivery.ts'
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
}

/** At most this late where another process made the request. */
const LOOK_MS = 5_000
const LEASE_MS = 120_000
const RENEW_MS = 60_000
/** So many mails are sent twice at most when the process is killed. */
const MAILS_PER_NOTE = 50
const TAKEN_AT_A_TIME = 1_000
/** Tenants whose requests are sent side by side: a mail server that hangs holds up its tenant alone. */
const TENANTS_AT_A_TIME = 8
const SOONEST = {
  first: [{ column: 'due_time', direction: 'ASC' }],
  query: { page: 0, pageSize: 1 },
} as const

export class DueRequests {
  private readonly parts: DueRequestsParts
  private readonly rows: RowStore
  private timer: TimerHandle | undefined
  private timerAt = Infinity
  private isStarted = false
  private isClosed = false
  private isAsked = false
  private underWay: Promise<void> | undefined

  constructor(parts: DueRequestsParts) {
    this.parts = parts
    this.rows = rowsOf(notificationRequests, parts.entities)
  }

  start(): void {
    this.isStarted = true
    this.wakeAt(this.parts.clock.now() + LOOK_MS)
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

  /** Sends what is due now, once more where it is under way. */
  run(): void {
    if (this.isClosed) return
    this.isAsked = true
    this.underWay ??= this.runAll()
      .catch((error: unknown) => {
        this.isAsked = false
        this.parts.report('Notifications that are due are not sent yet; trying again', { error: errorText(error) })
      })
      .finally(() => {
        this.underWay = undefined
        // Asked while the end was under way.
        if (this.isAsked) this.run()
        else this.wakeAt(this.parts.clock.now() + LOOK_MS)
      })
  }

  /** Resolves when nothing is being sent. */
  async settled(): Promise<void> {
    while (this.underWay !== undefined) await this.underWay
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.timer?.cancel()
    await this.settled()
  }

  private async runAll(): Promise<void> {
    const { requests, clock } = this.parts
    while (this.isAsked && !this.isClosed) {
      this.isAsked = false
      const due = { column: 'due_time', from: 0, to: clock.now() }
      const found = await requests.findWhere([due], TAKEN_AT_A_TIME)
      if (found.length > 0) await this.sendAll(found)
      if (found.length === TAKEN_AT_A_TIME) this.isAsked = true
    }
    const [next] = (await requests.pageWhere({ where: [{ column: 'due_time', after: clock.now() }], ...SOONEST })).data
    if (next?.dueTime !== undefined && next.dueTime !== null) this.wakeAt(next.dueTime)
  }

  private async sendAll(found: readonly NotificationRequest[]): Promise<void> {
    const byTenant = [...Map.groupBy(found, ({ tenantId }) => tenantId).values()]
    const sender = async (): Promise<void> => {
      for (let own = byTenant.pop(); own !== undefined; own = byTenant.pop())
        for (const request of own.toSorted((a, b) => a.createdTime - b.createdTime)) {
          if (this.isClosed) return
          await this.send(request)
        }
    }
    await Promise.all(Array.from({ length: TENANTS_AT_A_TIME }, sender))
  }

  private async send(request: NotificationRequest): Promise<void> {
    const { delivery, entities, requests, inbox, doubts, clock, maxSent } = this.parts
    let taken = request
    let mailsNoted = 0
    const take = async (holdMs: number, progress?: MailProgress): Promise<void> => {
      const context = progress === undefined ? taken.context : withProgress(taken.context, progress)
      const dueTime = clock.now() + holdMs
      taken = { ...taken, version: taken.version + 1, status: 'PROCESSING', dueTime, context }
      await entities.write([requests.update(taken)])
    }
    const hold = async (progress: MailProgress): Promise<void> => {
      if (this.isClosed) {
        await take(0, progress)
        throw new Interrupted()
      }
      const mails = progress.count + progress.failed
      const isEnough = mails - mailsNoted >= MAILS_PER_NOTE
      if (!isEnough && (taken.dueTime ?? 0) - clock.now() >= RENEW_MS) return
      await take(LEASE_MS, progress)
      mailsNoted = mails
    }
    try {
      await take(LEASE_MS)
      const { stats, statements, told } = await delivery.deliver(taken, hold)
      const context = withProgress(taken.context, undefined)
      const done = { version: taken.version + 1, status: 'SENT', stats, dueTime: null, context } as const
      const sent: NotificationRequest = { ...taken, ...done }
      const bound = this.rows.keepNewest({ tenant_id: sent.tenantId, status: 'SENT' }, maxSent)
      const tell = (): void => inbox.tell(told)
      await doubts.watch(entities.write([requests.update(sent), ...statements, bound]), tell)
      tell()
    } catch (error) {
      // The next process goes on.
      if (error instanceof Interrupted) return
      // Another process has it, or it was cancelled.
      if (isMillraceError(error) && error.code === 'entities.VERSION_CONFLICT') return
      this.parts.report('A notification request is not sent yet; it is tried again', {
        requestId: request.id,
        error: errorText(error),
      })
    }
  }
}

/** This process ends before all mails of a request are sent. */
class Interrupted extends Error {}
