/**
 * Where what the platform does becomes requests by the rules. Those who tell of it wait for nothing: it is kept in memory up to a bound, for each
 * tenant and for all, and what is beyond it is not told.
 */
import { lruMap } from '../../model/lru-map.ts'
import type { Clock } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { ComponentStep } from '../events/chain-events.ts'
import type { Report } from '../changes/outbox.ts'
import type { RateRefusal } from '../tenants/rate-limits.ts'
import type { PlatformEvents } from './platform-events.ts'

export interface PlatformWatchParts {
  readonly entities: Pick<EntityStore, 'write'>
  readonly clock: Clock
  readonly events: Pick<PlatformEvents, 'componentChanged' | 'rateReached'>
  readonly committed: (statements: readonly Statement[]) => void
  readonly report: Report
}

const MAX_WAITING = 10_000
const MAX_WAITING_OF_TENANT = 1_000
/** A limit that refuses thousands of calls a second is looked at once in this time. */
const REFUSAL_INTERVAL_MS = 1_000
const MAX_REFUSALS_KNOWN = 10_000

interface Waiting {
  readonly tenantId: string
  readonly statements: () => Promise<readonly Statement[]>
}

export class PlatformWatch {
  private readonly parts: PlatformWatchParts
  private waiting: Waiting[] = []
  /** With those that are being told. */
  private waitingCount = 0
  private readonly waitingOfTenants = new Map<string, number>()
  /** When (monotonic ms) each refusal may be looked at again. */
  private readonly lookedAt = lruMap<number>(MAX_REFUSALS_KNOWN)
  private underWay: Promise<void> | undefined
  private isOverflowTold = false
  private isClosed = false

  constructor(parts: PlatformWatchParts) {
    this.parts = parts
  }

  componentChanged(step: ComponentStep): void {
    this.add(step.tenantId, () => this.parts.events.componentChanged(step))
  }

  rateReached(refusal: RateRefusal): void {
    const { tenantId, api, level } = refusal
    const key = `${tenantId}/${level?.id ?? ''}/${api}`
    const now = this.parts.clock.monotonic()
    if ((this.lookedAt.get(key) ?? -Infinity) > now) return
    this.lookedAt.set(key, now + REFUSAL_INTERVAL_MS)
    this.add(tenantId, () => this.parts.events.rateReached(refusal))
  }

  /** Resolves when all that was heard of is told. */
  async settled(): Promise<void> {
    while (this.underWay !== undefined) await this.underWay
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.settled()
  }

  private add(tenantId: string, statements: Waiting['statements']): void {
    if (this.isClosed) return
    const own = this.waitingOfTenants.get(tenantId) ?? 0
    if (own >= MAX_WAITING_OF_TENANT || this.waitingCount >= MAX_WAITING) return this.overflow(tenantId)
    this.waitingOfTenants.set(tenantId, own + 1)
    this.waiting.push({ tenantId, statements })
    this.waitingCount++
    this.underWay ??= this.tellAll().finally(() => {
      this.underWay = undefined
    })
  }

  private overflow(tenantId: string): void {
    if (this.isOverflowTold) return
    this.isOverflowTold = true
    this.parts.report('Rules are not told of all that the platform does: too much waits', { tenantId })
  }

  private async tellAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const all = this.waiting
      this.waiting = []
      for (const { tenantId, statements } of all) {
        await this.tell(tenantId, statements)
        this.waitingCount--
        const left = (this.waitingOfTenants.get(tenantId) ?? 1) - 1
        if (left > 0) this.waitingOfTenants.set(tenantId, left)
        else this.waitingOfTenants.delete(tenantId)
      }
    }
    this.isOverflowTold = false
  }

  private async tell(tenantId: string, statementsOf: Waiting['statements']): Promise<void> {
    try {
      const statements = await statementsOf()
      if (statements.length === 0) return
      await this.parts.entities.write(statements)
      this.parts.committed(statements)
    } catch (error) {
      this.parts.report('Rules are not told of what the platform did', { tenantId, error: errorText(error) })
    }
  }
}
