/**
 * The audit log: one row for each change by a user, in the transaction of the change, and one for each change that failed. Rows go when
 * they are older than the setting says, and the oldest of a tenant when it has too many.
 */
import type { ActionType, AuditEntry } from '../../model/audit.ts'
import type { Clock, Random } from '../../model/clock.ts'
import type { Page, PageQuery } from '../../model/entities.ts'
import { entityId, NULL_UUID, type EntityId } from '../../model/entity-id.ts'
import { errorText } from '../../model/errors.ts'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { AuditFilter } from '../../storage/entities/audit-log.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Report } from '../changes/outbox.ts'
import { RowShares } from '../cleanup/row-shares.ts'
import { Sweeps } from '../cleanup/sweeps.ts'

export type { AuditFilter }

export interface AuditSettings {
  /** Age at which rows go; 0 keeps them. */
  readonly ttlMs: number
  readonly maxRowsPerTenant: number
}

export const DEFAULT_AUDIT_SETTINGS: AuditSettings = { ttlMs: 365 * 86_400_000, maxRowsPerTenant: 1_000_000 }

/** What was done to what. */
export interface AuditedAction {
  readonly actionType: ActionType
  /** Its id is the null id where it was not there yet. */
  readonly entity: EntityId
  /** Looked up where it is absent. */
  readonly entityName?: string | undefined
  readonly customerId?: string | null | undefined
  /** JSON text. */
  readonly actionData: string
}

export interface AuditLogParts {
  readonly entities: EntityStore
  readonly clock: Clock
  readonly random: Random
  readonly report: Report
  readonly settings: AuditSettings
  /** Undefined for what is not there. */
  readonly nameOf: (entity: EntityId) => Promise<string | undefined>
}

/** A row is read with 9,999 others: one that is longer says what it was about, and how long it was. */
const MAX_DATA_LENGTH = 16_384
const MAX_NAME_LENGTH = 255
const MAX_REASON_LENGTH = 1_000
const NO_NAME = 'N/A'

const CLEANUP_INTERVAL_MS = 600_000
/** While there is more. */
const CLEANUP_PAUSE_MS = 1_000
const ROWS_PER_REMOVAL = 1_000

export class AuditLog {
  private readonly parts: AuditLogParts
  private readonly sweeps: Sweeps
  private readonly shares: RowShares
  private made = 0

  constructor(parts: AuditLogParts) {
    this.parts = parts
    this.shares = new RowShares(parts.settings.maxRowsPerTenant)
    this.sweeps = new Sweeps({
      ...{ clock: parts.clock, report: parts.report, intervalMs: CLEANUP_INTERVAL_MS, pauseMs: CLEANUP_PAUSE_MS },
      failure: 'Old rows of the audit log are not removed; trying again',
      sweep: () => this.cleanUp(),
    })
  }

  /** A step of the transaction that makes the change. */
  async succeeded(principal: Principal, action: AuditedAction): Promise<Statement> {
    return this.parts.entities.auditLog.add(await this.entryOf(principal, action, ''))
  }

  /** Written in a transaction of its own. Never rejects: what failed is told to the caller by its own error. */
  async failed(principal: Principal, action: AuditedAction, reason: unknown): Promise<void> {
    try {
      const entry = await this.entryOf(principal, action, errorText(reason) || 'unknown')
      await this.parts.entities.write([this.parts.entities.auditLog.add(entry)])
    } catch (error) {
      this.parts.report('A failed change is not in the audit log', {
        action: action.actionType,
        error: errorText(error),
      })
    }
  }

  page(filter: AuditFilter, query: PageQuery): Promise<Page<AuditEntry>> {
    return this.parts.entities.auditLog.page(filter, query)
  }

  /** Rows since the start. */
  figures(): { readonly rows: number } {
    return { rows: this.made }
  }

  /** Cleans up from now on. */
  start(): void {
    this.sweeps.start()
  }

  close(): Promise<void> {
    return this.sweeps.close()
  }

  /** Removes a bounded number of rows; whether there are more. */
  async cleanUp(): Promise<boolean> {
    const { entities, clock, settings } = this.parts
    let isMore = false
    if (settings.ttlMs > 0) {
      const removed = await entities.auditLog.removeOlder(clock.now() - settings.ttlMs, ROWS_PER_REMOVAL)
      isMore = removed === ROWS_PER_REMOVAL
    }
    const isOver = await this.shares.cut(
      ROWS_PER_REMOVAL,
      (tenantIds) => entities.auditLog.countByTenant(tenantIds),
      (tenantId, rows) => entities.auditLog.removeOldest(tenantId, rows),
    )
    return isMore || isOver
  }

  private async entryOf(principal: Principal, action: AuditedAction, failure: string): Promise<AuditEntry> {
    const { clock, random } = this.parts
    const { actionType, entity, actionData } = action
    this.made++
    this.shares.noted(principal.tenantId ?? NULL_UUID, 1)
    return {
      id: random.uuid(),
      createdTime: clock.now(),
      tenantId: principal.tenantId ?? NULL_UUID,
      customerId: action.customerId ?? null,
      entity,
      entityName: (action.entityName ?? (await this.nameOf(entity))).slice(0, MAX_NAME_LENGTH),
      userId: principal.userId,
      userName: principal.email,
      clientAddress: principal.clientAddress ?? null,
      actionType,
      actionData: bounded(actionData, entity),
      actionStatus: failure === '' ? 'SUCCESS' : 'FAILURE',
      actionFailureDetails: failure.slice(0, MAX_REASON_LENGTH),
    }
  }

  private async nameOf(entity: EntityId): Promise<string> {
    return entity.id === NULL_UUID ? NO_NAME : ((await this.parts.nameOf(entity)) ?? NO_NAME)
  }
}

function bounded(data: string, { id }: EntityId): string {
  if (data.length <= MAX_DATA_LENGTH) return data
  return JSON.stringify({ entityId: id, omittedCharacters: data.length })
}

/** What a row says of a save; `metadata`: the graph of a rule chain, left out where it is too long. */
export function savedData(saved: { readonly entity: JsonObject; readonly metadata?: JsonObject }): string {
  const data = stringifyJson(saved)
  if (saved.metadata === undefined || data.length <= MAX_DATA_LENGTH) return data
  return stringifyJson({ entity: saved.entity, omittedCharacters: data.length })
}

/** What was tried with an entity as it was sent: where it failed. */
export function attemptedSave(
  entityType: EntityId['entityType'],
  id: string | undefined,
  name: string | null | undefined,
  sent: JsonObject,
): AuditedAction {
  return {
    actionType: id === undefined ? 'ADDED' : 'UPDATED',
    entity: entityId(entityType, id ?? NULL_UUID),
    entityName: name ?? undefined,
    actionData: savedData({ entity: sent }),
  }
}

export function attemptedOn(actionType: ActionType, entity: EntityId): AuditedAction {
  return { actionType, entity, actionData: JSON.stringify({ entityId: entity.id }) }
}
