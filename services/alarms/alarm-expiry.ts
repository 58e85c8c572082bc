/**
 * Alarms go when they ended longer ago than the tenant's profile keeps them (`alarmsTtlDays`), and the oldest, cleared ones first, when a tenant
 * has more than its share: rules may raise them without end. A few at a time, each with its message to the rule engine.
 */
import type { Clock } from '../../model/clock.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Row } from '../../storage/entities/tables/entity-table.ts'
import type { LimitsOfTenants } from '../tenants/limits.ts'
import type { Report } from '../changes/outbox.ts'
import { Sweeps } from '../cleanup/sweeps.ts'
import type { AlarmService } from './alarm-service.ts'

export const DEFAULT_MAX_ALARMS = 1_000_000

export interface AlarmExpiryParts {
  readonly entities: EntityStore
  readonly alarms: Pick<AlarmService, 'deleteExpired'>
  readonly limits: Pick<LimitsOfTenants, 'of'>
  readonly clock: Clock
  readonly report: Report
  /** Of one tenant. */
  readonly maxAlarms: number
}

const SWEEP_MS = 600_000
/** While there are more. */
const PAUSE_MS = 1_000
/** Of one tenant in one sweep. */
const ALARMS_PER_SWEEP = 500
const DAY_MS = 86_400_000

export class AlarmExpiry {
  private readonly parts: AlarmExpiryParts
  private readonly sweeps: Sweeps
  private isClosed = false

  constructor(parts: AlarmExpiryParts) {
    this.parts = parts
    this.sweeps = new Sweeps({
      ...{ clock: parts.clock, report: parts.report, intervalMs: SWEEP_MS, pauseMs: PAUSE_MS },
      failure: 'Old alarms are not removed; trying again',
      sweep: () => this.sweep(),
    })
  }

  start(): void {
    this.sweeps.start()
  }

  close(): Promise<void> {
    this.isClosed = true
    return this.sweeps.close()
  }

  /** Deletes a bounded number; whether there are more. */
  async sweep(): Promise<boolean> {
    const { entities, limits, clock, maxAlarms } = this.parts
    let isMore = false
    for (const { tenantId, alarms } of await entities.alarms.countByTenant()) {
      const { alarmsTtlDays } = await limits.of(tenantId)
      const before = clock.now() - alarmsTtlDays * DAY_MS
      const ended = alarmsTtlDays === 0 ? [] : await entities.alarms.endedBefore(tenantId, before, ALARMS_PER_SWEEP)
      await this.delete(ended)
      const over = Math.max(0, alarms - ended.length - maxAlarms)
      const oldest = over === 0 ? [] : await entities.alarms.oldest(tenantId, Math.min(over, ALARMS_PER_SWEEP))
      await this.delete(oldest)
      isMore ||= ended.length === ALARMS_PER_SWEEP || oldest.length < over
    }
    return isMore
  }

  private async delete(rows: readonly Row[]): Promise<void> {
    for (const row of rows) {
      if (this.isClosed) return
      try {
        await this.parts.alarms.deleteExpired(row)
      } catch (error) {
        // Another process was first, or a user changed it: the next sweep looks again.
        if (!isMillraceError(error) || error.kind !== 'invalid') throw error
      }
    }
  }
}
