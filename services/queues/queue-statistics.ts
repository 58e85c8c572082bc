/** How queues fared, as series of an entity for each tenant, queue and process. Source: `rule-engine.md` 9.3. */
import type { Clock } from '../../model/clock.ts'
import { entityId } from '../../model/entity-id.ts'
import { errorText } from '../../model/errors.ts'
import type { TenantCounts } from '../../engine/queue/tenant-counts.ts'
import type { NodeTelemetry } from '../../engine/rulechain/capabilities/telemetry.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { queueStats, type QueueStats } from '../entities/queue-stats.ts'
import { tenants } from '../entities/tenant.ts'
import type { LimitsOfTenants } from '../tenants/limits.ts'
import type { Report } from '../changes/outbox.ts'

/** Of one queue, as the link calls it. */
export interface QueueCounts {
  readonly queueName: string
  readonly tenantId: string
  readonly counts: Readonly<TenantCounts>
}

export interface QueueStatisticsParts {
  readonly entities: EntityStore
  readonly declared: EntityRegistry
  readonly telemetry: NodeTelemetry
  readonly limits: Pick<LimitsOfTenants, 'of'>
  readonly clock: Clock
  readonly report: Report
  /** The name of this process. */
  readonly server: string
}

const DAY_SECONDS = 86_400

export class QueueStatistics {
  private readonly parts: QueueStatisticsParts

  constructor(parts: QueueStatisticsParts) {
    this.parts = parts
  }

  /** Resolves when all are stored, or told that they are not. */
  async write(all: readonly QueueCounts[]): Promise<void> {
    for (const counted of all) {
      try {
        await this.writeOne(counted)
      } catch (error) {
        const { queueName, tenantId } = counted
        this.parts.report('Queue statistics are not stored', { queueName, tenantId, error: errorText(error) })
      }
    }
  }

  private async writeOne({ queueName, tenantId, counts }: QueueCounts): Promise<void> {
    const { clock, limits, telemetry } = this.parts
    const own = `${tenantId}.`
    const stats = await this.statsOf(tenantId, queueName.startsWith(own) ? queueName.slice(own.length) : queueName)
    if (stats === undefined) return
    const { queueStatsTtlDays } = await limits.of(tenantId)
    const ts = clock.now()
    const points = Object.entries(valuesOf(counts)).map(([key, value]) => ({ key, type: 'LONG' as const, value, ts }))
    const save = {
      ...{ tenantId, entity: entityId('QUEUE_STATS', stats.id), points, sequence: 0 },
      ...{ ttlSeconds: queueStatsTtlDays * DAY_SECONDS, history: true, latest: true, notify: true },
    }
    await new Promise<void>((resolve, reject) => {
      telemetry.save(save, (error) => (error === undefined ? resolve() : reject(error)))
    })
  }

  /** Undefined where the tenant is gone. */
  private async statsOf(tenantId: string, queueName: string): Promise<QueueStats | undefined> {
    const { declared, entities, server } = this.parts
    const service = declared.of(queueStats)
    const members = { queueName, serviceId: server }
    const present = await service.findBy(tenantId, members)
    if (present !== undefined) return present
    if ((await declared.of(tenants).findAnywhere(tenantId)) === undefined) return undefined
    const made = service.fresh(tenantId, members)
    await entities.write([service.insert(made)])
    return made
  }
}

function valuesOf(counts: Readonly<TenantCounts>): Readonly<Record<string, number>> {
  const { successful, retriedFailed, retriedTimedOut, failed, timedOut } = counts
  return {
    totalMsgs: successful + retriedFailed + retriedTimedOut + failed + timedOut,
    successfulMsgs: successful,
    tmpFailed: retriedFailed,
    tmpTimeout: retriedTimedOut,
    failedMsgs: failed,
    timeoutMsgs: timedOut,
  }
}
