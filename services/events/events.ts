/** Events as users see them: searched, taken away, and gone when they are old or too many. */
import type { Clock } from '../../model/clock.ts'
import type { Page, PageQuery } from '../../model/entities.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { EVENT_TYPES, type EventRecord, type EventType } from '../../model/event.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Condition } from '../../storage/entities/tables/row-store.ts'
import type { Report } from '../changes/outbox.ts'
import { RowShares } from '../cleanup/row-shares.ts'
import { Sweeps } from '../cleanup/sweeps.ts'
import { conditionsOf, type EventFilter } from './event-filters.ts'
import type { EventWriter } from './event-writer.ts'

export interface EventSettings {
  /** Age at which debug events go; 0 keeps them. */
  readonly debugTtlMs: number
  /** The same of all others. */
  readonly ttlMs: number
  /** Of each type. */
  readonly maxRowsPerTenant: number
}

export const DEFAULT_EVENT_SETTINGS: EventSettings = {
  debugTtlMs: 7 * 86_400_000,
  ttlMs: 0,
  maxRowsPerTenant: 1_000_000,
}

export interface EventParts {
  readonly entities: EntityStore
  /** Where this process notes its own. */
  readonly writer: EventWriter
  readonly clock: Clock
  readonly report: Report
  readonly settings: EventSettings
}

/** Unix ms; both belong to the range. */
export interface TimeRange {
  readonly startTime: number | undefined
  readonly endTime: number | undefined
}

const CLEANUP_INTERVAL_MS = 600_000
/** While there is more. */
const CLEANUP_PAUSE_MS = 1_000
const ROWS_PER_REMOVAL = 1_000
const ALL_TIME: TimeRange = { startTime: undefined, endTime: undefined }

export class Events {
  readonly writer: EventWriter
  private readonly parts: EventParts
  private readonly sweeps: Sweeps
  private readonly shares = new Map<EventType, RowShares>()

  constructor(parts: EventParts) {
    this.parts = parts
    this.writer = parts.writer
    this.sweeps = new Sweeps({
      ...{ clock: parts.clock, report: parts.report, intervalMs: CLEANUP_INTERVAL_MS, pauseMs: CLEANUP_PAUSE_MS },
      failure: 'Old events are not removed; trying again',
      sweep: () => this.cleanUp(),
    })
  }

  /** Of one entity and type. What this process noted before the call is in the answer. */
  async page(
    tenantId: string,
    entity: EntityId,
    asked: EventType | EventFilter,
    range: TimeRange,
    query: PageQuery,
  ): Promise<Page<EventRecord>> {
    await this.writer.flush()
    return this.parts.entities.events.page(this.searchOf(tenantId, entity, asked, range), query)
  }

  async clear(tenantId: string, entity: EntityId, filter: EventFilter, range: TimeRange): Promise<void> {
    await this.writer.flush()
    const { entities } = this.parts
    await entities.write([entities.events.clear(this.searchOf(tenantId, entity, filter, range))])
  }

  /** The newest of a type that meets the conditions; undefined where there is none. */
  async latest(tenantId: string, entity: EntityId, filter: EventFilter): Promise<EventRecord | undefined> {
    const query = { page: 0, pageSize: 1, sortProperty: 'createdTime', sortOrder: 'DESC' } as const
    return (await this.page(tenantId, entity, filter, ALL_TIME, query)).data[0]
  }

  /**
   * Where a message went, as far as its nodes were watched: what came in and left them, oldest first, at most so many. The way is whole where
   * every node of its chains is watched.
   */
  async path(tenantId: string, messageId: string, limit: number): Promise<readonly EventRecord[]> {
    await this.writer.flush()
    return this.parts.entities.events.ofMessage(tenantId, messageId, limit)
  }

  /** Nodes of a chain that did not start when they last tried, and why; in whichever process, as far as it wrote that. */
  async startErrors(
    tenantId: string,
    ruleChainId: string,
  ): Promise<readonly { readonly ruleNodeId: string; readonly error: string }[]> {
    await this.writer.flush()
    return this.parts.entities.events.startErrors(tenantId, ruleChainId)
  }

  /** Cleans up from now on. */
  start(): void {
    this.sweeps.start()
  }

  async close(): Promise<void> {
    await this.sweeps.close()
    await this.writer.close()
  }

  /** Removes a bounded number of rows of each type; whether there are more. */
  async cleanUp(): Promise<boolean> {
    let isMore = false
    for (const type of EVENT_TYPES) if (await this.cleanUpType(type)) isMore = true
    return isMore
  }

  private async cleanUpType(type: EventType): Promise<boolean> {
    const { clock, settings, entities } = this.parts
    const { events } = entities
    const ttlMs = type.startsWith('DEBUG') ? settings.debugTtlMs : settings.ttlMs
    let isMore = false
    if (ttlMs > 0) isMore = (await events.removeOlder(type, clock.now() - ttlMs, ROWS_PER_REMOVAL)) === ROWS_PER_REMOVAL
    const shares = this.shares.get(type) ?? new RowShares(settings.maxRowsPerTenant)
    this.shares.set(type, shares)
    for (const [tenantId, rows] of this.writer.takeWritten(type)) shares.noted(tenantId, rows)
    const isOver = await shares.cut(
      ROWS_PER_REMOVAL,
      (tenantIds) => events.countByTenant(type, tenantIds),
      (tenantId, rows) => events.removeOldest(type, tenantId, rows),
    )
    return isMore || isOver
  }

  private searchOf(
    tenantId: string,
    { entityType, id }: EntityId,
    asked: EventType | EventFilter,
    { startTime = 0, endTime = Number.MAX_SAFE_INTEGER }: TimeRange,
  ) {
    const ofType: Condition = { column: 'entity_type', is: entityType }
    const isFiltered = typeof asked !== 'string'
    const type = isFiltered ? asked.eventType : asked
    const where = [ofType, ...(isFiltered ? conditionsOf(asked) : [])]
    return { type, tenantId, entityId: id, startTime, endTime, where }
  }
}
