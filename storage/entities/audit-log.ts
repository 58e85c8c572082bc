/** The audit log: rows are added with the changes they tell of, and go when they are old or too many. */
import { sql } from 'kysely'
import { ACTION_TYPES, type ActionType, type AuditEntry } from '../../model/audit.ts'
import type { Page, PageQuery } from '../../model/entities.ts'
import { entityId, ENTITY_TYPES } from '../../model/entity-id.ts'
import type { EntityDatabase, Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import type { EntityTable, Row } from './tables/entity-table.ts'
import { RowRemovals } from './tables/row-removals.ts'
import { RowStore, type Condition } from './tables/row-store.ts'

const text = { type: 'text', isNullable: false } as const

export const AUDIT_LOG_TABLE: EntityTable = {
  name: 'audit_log',
  version: 2,
  byTimeUntil: 2,
  columns: [
    { name: 'customer_id', type: 'text', isNullable: true },
    { name: 'entity_type', ...text },
    { name: 'entity_id', ...text },
    { name: 'entity_name', ...text },
    { name: 'user_id', ...text },
    { name: 'user_name', ...text },
    { name: 'client_address', type: 'text', isNullable: true },
    { name: 'action_type', ...text },
    { name: 'action_data', ...text },
    { name: 'action_status', ...text },
    { name: 'action_failure_details', ...text },
  ],
  unique: [],
  indexes: [
    { columns: ['tenant_id', 'entity_id', 'created_time'] },
    { columns: ['tenant_id', 'user_id', 'created_time'], until: 2 },
    { columns: ['tenant_id', 'customer_id', 'created_time'], until: 2 },
    { columns: ['created_time'], until: 2 },
    // With what lists count and leave out: no row is looked at before those of the page.
    { columns: ['tenant_id', 'created_time', 'id', 'action_type'], since: 2 },
    { columns: ['tenant_id', 'user_id', 'created_time', 'id'], since: 2 },
    // Few rows are of a customer's entities.
    { columns: ['tenant_id', 'customer_id', 'created_time', 'id'], where: 'customer_id is not null', since: 2 },
  ],
}

export interface AuditFilter {
  readonly tenantId: string
  readonly entity?: { readonly entityType: string; readonly id: string } | undefined
  readonly userId?: string | undefined
  readonly customerId?: string | undefined
  /** Unix ms; both belong to the range. */
  readonly startTime: number
  readonly endTime: number
  /** All where empty. */
  readonly actionTypes: readonly ActionType[]
}

const SORTED: Readonly<Record<string, string>> = {
  createdTime: 'created_time',
  entityType: 'entity_type',
  entityName: 'entity_name',
  userName: 'user_name',
  actionType: 'action_type',
  actionStatus: 'action_status',
}
const STATUSES = ['SUCCESS', 'FAILURE'] as const
const SEARCHED = [
  ...['entity_name', 'user_name', 'client_address'],
  { column: 'entity_type', words: ENTITY_TYPES },
  { column: 'action_type', words: ACTION_TYPES },
  { column: 'action_status', words: STATUSES },
]

export class AuditLogRepository {
  private readonly database: EntityDatabase
  private readonly rows: RowStore
  private readonly removals: RowRemovals

  constructor(database: EntityDatabase) {
    this.database = database
    this.rows = new RowStore(database, AUDIT_LOG_TABLE, {
      taken: {},
      overtaken: () => EntityStoreErrors.FAILED({ reason: 'an audit row was changed' }),
    })
    this.removals = new RowRemovals(database, AUDIT_LOG_TABLE, this.rows)
  }

  add(entry: AuditEntry): Statement {
    return this.rows.insert({
      id: entry.id,
      created_time: entry.createdTime,
      version: 1,
      tenant_id: entry.tenantId,
      customer_id: entry.customerId,
      entity_type: entry.entity.entityType,
      entity_id: entry.entity.id,
      entity_name: entry.entityName,
      user_id: entry.userId,
      user_name: entry.userName,
      client_address: entry.clientAddress,
      action_type: entry.actionType,
      action_data: entry.actionData,
      action_status: entry.actionStatus,
      action_failure_details: entry.actionFailureDetails,
    })
  }

  /** Oldest first where the query names no order. */
  async page(filter: AuditFilter, query: PageQuery): Promise<Page<AuditEntry>> {
    const { tenantId, entity, userId, customerId, startTime, endTime, actionTypes } = filter
    const where: Condition[] = [
      { column: 'tenant_id', is: tenantId },
      { column: 'created_time', from: startTime, to: endTime },
    ]
    if (entity !== undefined)
      where.push({ column: 'entity_id', is: entity.id }, { column: 'entity_type', is: entity.entityType })
    if (userId !== undefined) where.push({ column: 'user_id', is: userId })
    if (customerId !== undefined) where.push({ column: 'customer_id', is: customerId })
    if (actionTypes.length > 0) where.push({ column: 'action_type', in: actionTypes })
    const ordered = query.sortProperty === undefined ? { ...query, sortProperty: 'createdTime' } : query
    const page = await this.rows.page({ where, sort: SORTED, search: SEARCHED, query: ordered })
    return { ...page, data: page.data.map(entryOf) }
  }

  /** Removes at most `limit` of the rows older than `before` (Unix ms); answers how many went. */
  removeOlder(before: number, limit: number): Promise<number> {
    return this.removals.removeOlder(before, limit)
  }

  /** How many rows tenants have: these, or all. */
  async countByTenant(
    tenantIds: readonly string[] | undefined,
  ): Promise<readonly { readonly tenantId: string; readonly rows: number }[]> {
    const where = tenantIds === undefined ? sql`` : sql` where tenant_id in (${sql.join(tenantIds)})`
    const query = sql<{ tenantId: string; total: number }>`
      select tenant_id as ${sql.ref('tenantId')}, count(*) as total from audit_log${where} group by tenant_id`
    const rows = await this.database.scan(query.compile(this.database.builder))
    return rows.map(({ tenantId, total }) => ({ tenantId, rows: Number(total) }))
  }

  /** Removes the oldest rows of a tenant; answers how many went. */
  removeOldest(tenantId: string, count: number): Promise<number> {
    return this.removals.removeOldest(tenantId, count)
  }
}

function entryOf(row: Row): AuditEntry {
  const word = (column: string): string => String(row[column] ?? '')
  const known = <Word extends string>(words: readonly Word[], column: string): Word => {
    const found = words.find((candidate) => candidate === row[column])
    if (found === undefined) throw EntityStoreErrors.FAILED({ reason: `${column} of an audit row is ${word(column)}` })
    return found
  }
  const optional = (column: string): string | null => (row[column] === null ? null : word(column))
  return {
    id: word('id'),
    createdTime: Number(row['created_time']),
    tenantId: word('tenant_id'),
    customerId: optional('customer_id'),
    entity: entityId(known(ENTITY_TYPES, 'entity_type'), word('entity_id')),
    entityName: word('entity_name'),
    userId: word('user_id'),
    userName: word('user_name'),
    clientAddress: optional('client_address'),
    actionType: known(ACTION_TYPES, 'action_type'),
    actionData: word('action_data'),
    actionStatus: known(STATUSES, 'action_status'),
    actionFailureDetails: word('action_failure_details'),
  }
}
