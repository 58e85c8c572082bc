/** Events: a table for each type. Rows are added many at a time, and go when they are old or too many. */
import { sql } from 'kysely'
import type { Page, PageQuery } from '../../model/entities.ts'
import { entityId, ENTITY_TYPES } from '../../model/entity-id.ts'
import {
  EVENT_BODIES,
  EVENT_TYPES,
  type EventBody,
  type EventMember,
  type EventRecord,
  type EventType,
} from '../../model/event.ts'
import { sqlValue, type EntityDatabase, type SqlValue, type Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import type { EntityTable, Row, TableColumn } from './tables/entity-table.ts'
import { RowRemovals } from './tables/row-removals.ts'
import { RowStore, type Condition } from './tables/row-store.ts'

const NAMES: Readonly<Record<EventType, string>> = {
  ERROR: 'error_event',
  LC_EVENT: 'lifecycle_event',
  STATS: 'statistics_event',
  DEBUG_RULE_NODE: 'rule_node_debug_event',
  DEBUG_RULE_CHAIN: 'rule_chain_debug_event',
  DEBUG_CALCULATED_FIELD: 'calculated_field_debug_event',
}

const EVERY: readonly TableColumn[] = [
  { name: 'entity_type', type: 'text', isNullable: false },
  { name: 'entity_id', type: 'text', isNullable: false },
  { name: 'server', type: 'text', isNullable: false },
]

/** Of a member of the body: apart from the columns that every event has. */
export function eventColumn(member: string): string {
  return `body_${member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`
}

const MESSAGE_ID = eventColumn('msgId')
const DIRECTION = eventColumn('type')
const ERROR = eventColumn('error')

function bodyOf(type: EventType): readonly (readonly [string, EventMember])[] {
  return Object.entries(EVENT_BODIES[type])
}

/** Version 1 was of indexes without the tenant; that of one type has had its second already. */
const COVERED_SINCE: Readonly<Record<EventType, number>> = {
  ERROR: 2,
  LC_EVENT: 2,
  STATS: 2,
  DEBUG_RULE_NODE: 3,
  DEBUG_RULE_CHAIN: 2,
  DEBUG_CALCULATED_FIELD: 2,
}

function tableOf(type: EventType): EntityTable {
  const covered = COVERED_SINCE[type]
  const isOfNode = type === 'DEBUG_RULE_NODE'
  const own = bodyOf(type).map(([member, kind]): TableColumn => ({
    name: eventColumn(member),
    type: kind === 'text' ? 'text' : 'integer',
    isNullable: true,
  }))
  return {
    name: NAMES[type],
    version: covered,
    columns: [...EVERY, ...own],
    unique: [],
    indexes: [
      { columns: ['entity_id', 'created_time'], until: covered },
      { columns: ['created_time'], until: covered },
      ...(isOfNode ? [{ columns: ['tenant_id', MESSAGE_ID], since: 2 }] : []),
      // With what lists count: no row is looked at for that. The id would make a far page cheaper, and each event dearer.
      {
        columns: ['entity_id', 'created_time', 'tenant_id', 'entity_type', ...(isOfNode ? [DIRECTION] : [])],
        since: covered,
      },
      ...(type.startsWith('DEBUG')
        ? [{ columns: ['entity_id', 'created_time', 'id'], where: `${ERROR} is not null`, since: covered }]
        : []),
    ],
  }
}

export const EVENT_TABLES: readonly EntityTable[] = EVENT_TYPES.map(tableOf)

export interface EventQuery {
  readonly type: EventType
  readonly tenantId: string
  readonly entityId: string
  /** Unix ms; both belong to the range. */
  readonly startTime: number
  readonly endTime: number
  readonly where: readonly Condition[]
}

const SORTED = { ts: 'created_time', createdTime: 'created_time' }

export class EventRepository {
  private readonly database: EntityDatabase
  private readonly rows: ReadonlyMap<EventType, RowStore>

  constructor(database: EntityDatabase) {
    this.database = database
    const overtaken = () => EntityStoreErrors.FAILED({ reason: 'an event was changed' })
    this.rows = new Map(
      EVENT_TYPES.map((type) => [type, new RowStore(database, tableOf(type), { taken: {}, overtaken })]),
    )
  }

  /** One statement for each type that is among them. */
  async add(events: readonly EventRecord[]): Promise<void> {
    const statements: Statement[] = []
    for (const [type, rows] of this.rows) {
      const own = events.filter((event) => event.type === type)
      if (own.length > 0) statements.push(rows.insertAll(own.map(rowOf)))
    }
    if (statements.length > 0) await this.database.write(statements)
  }

  /** Oldest first where the query names no order. */
  async page(filter: EventQuery, query: PageQuery): Promise<Page<EventRecord>> {
    const { sortProperty = 'createdTime' } = query
    const rows = this.rowsOf(filter.type)
    const page = await rows.page({ where: where(filter), sort: SORTED, search: [], query: { ...query, sortProperty } })
    return { ...page, data: page.data.map((row) => recordOf(filter.type, row)) }
  }

  /** What nodes told of one message, oldest first. */
  async ofMessage(tenantId: string, messageId: string, limit: number): Promise<readonly EventRecord[]> {
    const where = [
      { column: 'tenant_id', is: tenantId },
      { column: MESSAGE_ID, is: messageId },
    ]
    const query: PageQuery = { page: 0, pageSize: limit, sortProperty: 'createdTime', sortOrder: 'ASC' }
    const page = await this.rowsOf('DEBUG_RULE_NODE').page({ where, sort: SORTED, search: [], query })
    return page.data.map((row) => recordOf('DEBUG_RULE_NODE', row))
  }

  /** Nodes of a chain that did not start when they last tried, and why. */
  async startErrors(
    tenantId: string,
    ruleChainId: string,
  ): Promise<readonly { readonly ruleNodeId: string; readonly error: string }[]> {
    // Node by node along the index: a node may have started often.
    const last = sql`
      select ${sql.ref(eventColumn('error'))} from ${sql.table(NAMES.LC_EVENT)}
      where entity_id = rule_node.id and tenant_id = ${tenantId} order by created_time desc limit 1`
    const query = sql<{ id: string; reason: string }>`
      select id, reason from (select id, (${last}) as reason from rule_node where rule_chain_id = ${ruleChainId}) as started
      where reason <> ''`
    const rows = await this.database.scan(query.compile(this.database.builder))
    return rows.map(({ id, reason }) => ({ ruleNodeId: id, error: reason }))
  }

  clear(filter: EventQuery): Statement {
    return this.rowsOf(filter.type).deleteAll(where(filter))
  }

  /** Steps that take away what a rule chain and its nodes told of themselves: before the chain goes. */
  deleteOfChain(ruleChainId: string): readonly Statement[] {
    const nodes = sql`select id from rule_node where rule_chain_id = ${ruleChainId}`
    return EVENT_TYPES.map((type) => {
      const query = sql`delete from ${sql.table(NAMES[type])} where entity_id = ${ruleChainId} or entity_id in (${nodes})`
      const { sql: text, parameters } = query.compile(this.database.builder)
      return { sql: text, parameters: parameters.map(sqlValue) }
    })
  }

  /** Removes at most `limit` of the rows older than `before` (Unix ms); answers how many went. */
  removeOlder(type: EventType, before: number, limit: number): Promise<number> {
    return this.removalsOf(type).removeOlder(before, limit)
  }

  /** How many rows of the type tenants have: these, or all. */
  async countByTenant(
    type: EventType,
    tenantIds: readonly string[] | undefined,
  ): Promise<readonly { readonly tenantId: string; readonly rows: number }[]> {
    const where = tenantIds === undefined ? sql`` : sql` where tenant_id in (${sql.join(tenantIds)})`
    const query = sql<{ tenantId: string; total: number }>`
      select tenant_id as ${sql.ref('tenantId')}, count(*) as total from ${sql.table(NAMES[type])}${where}
      group by tenant_id`
    const rows = await this.database.scan(query.compile(this.database.builder))
    return rows.map(({ tenantId, total }) => ({ tenantId, rows: Number(total) }))
  }

  /** Removes the oldest rows of a tenant; answers how many went. */
  removeOldest(type: EventType, tenantId: string, count: number): Promise<number> {
    return this.removalsOf(type).removeOldest(tenantId, count)
  }

  private removalsOf(type: EventType): RowRemovals {
    return new RowRemovals(this.database, tableOf(type), this.rowsOf(type))
  }

  private rowsOf(type: EventType): RowStore {
    const rows = this.rows.get(type)
    if (rows === undefined) throw new TypeError(`${type} is no type of events`)
    return rows
  }
}

function where({ tenantId, entityId: id, startTime, endTime, where: more }: EventQuery): readonly Condition[] {
  return [
    { column: 'entity_id', is: id },
    { column: 'tenant_id', is: tenantId },
    { column: 'created_time', from: startTime, to: endTime },
    ...more,
  ]
}

function rowOf(event: EventRecord): Row {
  const row: Record<string, SqlValue> = {
    id: event.id,
    created_time: event.createdTime,
    version: 1,
    tenant_id: event.tenantId,
    entity_type: event.entity.entityType,
    entity_id: event.entity.id,
    server: event.server,
  }
  for (const [member] of bodyOf(event.type)) {
    const value = event.body[member]
    row[eventColumn(member)] = typeof value === 'boolean' ? Number(value) : (value ?? null)
  }
  return row
}

function recordOf(type: EventType, row: Row): EventRecord {
  const entityType = ENTITY_TYPES.find((known) => known === row['entity_type'])
  if (entityType === undefined) throw EntityStoreErrors.FAILED({ reason: 'an event is of no known entity' })
  const body: Record<string, EventBody[string]> = {}
  for (const [member, kind] of bodyOf(type)) {
    const value = row[eventColumn(member)] ?? null
    if (value === null) continue
    if (kind === 'flag') body[member] = Number(value) === 1
    else body[member] = kind === 'integer' ? Number(value) : String(value)
  }
  return {
    id: String(row['id']),
    createdTime: Number(row['created_time']),
    tenantId: String(row['tenant_id']),
    entity: entityId(entityType, String(row['entity_id'])),
    type,
    server: String(row['server']),
    body,
  }
}
