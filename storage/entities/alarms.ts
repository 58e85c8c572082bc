/**
 * Lists of alarms: of a tenant, of a customer, on an entity (its own, and those of others that show on it), each with its assignee. The rows
 * themselves are those of the declared type (`services/entities/alarm.ts`).
 */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely'
import { ALARM_SEVERITIES } from '../../model/alarm-severity.ts'
import { containsText } from '../../model/contains-text.ts'
import type { Page, PageQuery } from '../../model/entities.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { sqlValue, type EntityDatabase, type Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import { checkPageQuery, readCounted } from './paging.ts'
import { containsSql } from './queries/predicates-sql.ts'
import type { EntityTable, Row } from './tables/entity-table.ts'
import { DIRECTIONS } from './tables/row-sql.ts'

/** On which entities an alarm shows. Its id is that of the alarm and that of the entity, so that a row is there once. */
export const ENTITY_ALARMS: EntityTable = {
  name: 'entity_alarm',
  version: 1,
  columns: [
    { name: 'entity_type', type: 'text', isNullable: false },
    { name: 'entity_id', type: 'text', isNullable: false },
    {
      name: 'alarm_id',
      type: 'text',
      isNullable: false,
      references: { table: 'alarm', whenDeleted: 'delete' },
    },
  ],
  unique: [],
  indexes: [{ columns: ['entity_id', 'created_time'] }, { columns: ['alarm_id'] }],
}

/** Absent members do not matter. */
export interface ActiveAlarms {
  readonly tenantId: string
  readonly originatorId: string
  readonly types: readonly string[] | undefined
  readonly severities: readonly string[] | undefined
}

export interface AlarmFilter {
  readonly tenantId: string
  readonly customerId?: string | undefined
  /** On which it shows. */
  readonly entityId?: string | undefined
  readonly cleared?: boolean | undefined
  readonly acknowledged?: boolean | undefined
  readonly severities?: readonly string[] | undefined
  readonly types?: readonly string[] | undefined
  readonly assigneeId?: string | undefined
  /** Bounds of the time of creation, both included, Unix ms. */
  readonly startTime?: number | undefined
  readonly endTime?: number | undefined
}

export interface AssigneeColumns {
  readonly assignee_email: string | null
  readonly assignee_first_name: string | null
  readonly assignee_last_name: string | null
}

export const STATUS = sql.raw(
  "(case alarm.cleared when 1 then 'CLEARED' else 'ACTIVE' end || case alarm.acknowledged when 1 then '_ACK' else '_UNACK' end)",
)
const STATUSES = [
  { status: 'ACTIVE_UNACK', cleared: 0, acknowledged: 0 },
  { status: 'ACTIVE_ACK', cleared: 0, acknowledged: 1 },
  { status: 'CLEARED_UNACK', cleared: 1, acknowledged: 0 },
  { status: 'CLEARED_ACK', cleared: 1, acknowledged: 1 },
] as const
const SORTED = [
  ...['severity', 'type', 'acknowledged', 'cleared', 'start_ts', 'end_ts', 'ack_ts', 'clear_ts', 'assign_ts'],
  ...['originator_type', 'originator_id'],
]
/** Not every alarm has them. */
const SORTED_OF_SOME = ['customer_id', 'assignee_id']
/** Columns of who has it; tables of front ends name the column as what it shows. */
const SORTED_BY_ASSIGNEE: Readonly<Record<string, string>> = {
  assignee: 'email',
  assigneeEmail: 'email',
  assigneeFirstName: 'first_name',
  assigneeLastName: 'last_name',
}
export const ASSIGNEE = sql.raw(
  'assignee.email as assignee_email, assignee.first_name as assignee_first_name, assignee.last_name as assignee_last_name',
)

export class AlarmRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  /** `sorts`: by what else than the alarm's own members it may be sorted. Throws `PAGE_SIZE`, `PAGE_NUMBER`, `SORT_PROPERTY`. */
  async page(
    filter: AlarmFilter,
    query: PageQuery,
    sorts: Readonly<Record<string, RawBuilder<unknown>>> = {},
  ): Promise<Page<Row & AssigneeColumns>> {
    checkPageQuery(query)
    const from = this.from(filter, this.matching(query.textSearch))
    const counting = sql<{ total: number }>`select count(*) as total ${from}`
    const rows = sql<Row & AssigneeColumns>`select alarm.*, ${ASSIGNEE} ${from} ${order(filter, query, sorts)}
      limit ${query.pageSize} offset ${query.page * query.pageSize}`
    return readCounted(this.database, query, this.compiled(counting), this.compiled(rows))
  }

  /** One, with its assignee. */
  async find(id: string): Promise<(Row & AssigneeColumns) | undefined> {
    const query = sql<Row & AssigneeColumns>`select alarm.*, ${ASSIGNEE} from alarm
      left join app_user assignee on assignee.id = alarm.assignee_id where alarm.id = ${id}`
    const { rows } = await this.database.read(this.compiled(query))
    return rows[0]
  }

  /** Whether the entity has an active alarm of its own; lists that are absent allow all. */
  async hasActive({ tenantId, originatorId, types, severities }: ActiveAlarms): Promise<boolean> {
    const oneOf = (column: string, wanted: readonly string[] | undefined) =>
      wanted === undefined
        ? sql``
        : wanted.length === 0
          ? sql` and 1 = 0`
          : sql` and ${sql.ref(column)} in (${sql.join(wanted)})`
    const query = sql`select 1 as active from alarm where alarm.tenant_id = ${tenantId}
      and alarm.originator_id = ${originatorId} and alarm.cleared = 0
      ${oneOf('alarm.type', types)}${oneOf('alarm.severity', severities)} limit 1`
    return (await this.database.read(this.compiled(query))).rows.length > 0
  }

  /**
   * For the transaction that makes the alarm, before and after: refused where the originator is gone. Where it is being deleted elsewhere one
   * of both waits for the other, and the deletion takes the alarm along.
   */
  requireOriginator(alarmId: string, originatorId: string, table: string, otherwise: () => Error) {
    const row = sql`select id from ${sql.table(table)} where id = ${originatorId}`
    const held = sql`update alarm set version = version where id = ${alarmId} and exists (${row})`
    return {
      before: this.database.isShared ? [this.statement(sql`${row} for key share`)] : [],
      after: { ...this.statement(held), expect: { changes: 1, otherwise } },
    }
  }

  /** How many each tenant has. */
  async countByTenant(): Promise<readonly { readonly tenantId: string; readonly alarms: number }[]> {
    const query = sql<{ tenant_id: string; total: number }>`
      select tenant_id, count(*) as total from alarm group by tenant_id`
    const rows = await this.database.scan(this.compiled(query))
    return rows.map(({ tenant_id: tenantId, total }) => ({ tenantId, alarms: Number(total) }))
  }

  /** At most `limit` of a tenant that ended before that time (Unix ms). */
  endedBefore(tenantId: string, time: number, limit: number): Promise<readonly Row[]> {
    const query = sql<Row>`select * from alarm where tenant_id = ${tenantId} and end_ts < ${time}
      order by end_ts limit ${limit}`
    return this.database.scan(this.compiled(query))
  }

  /** The oldest of a tenant: those that are cleared, where there are any. */
  async oldest(tenantId: string, limit: number): Promise<readonly Row[]> {
    const found = (more: RawBuilder<unknown>) =>
      this.database.scan(
        this.compiled(sql<Row>`select * from alarm where tenant_id = ${tenantId} ${more}
          order by created_time limit ${limit}`),
      )
    const cleared = await found(sql`and cleared = 1`)
    return cleared.length > 0 ? cleared : found(sql``)
  }

  /** Severities that there are among those that match. */
  async severities(filter: AlarmFilter): Promise<readonly string[]> {
    const query = sql<{ severity: string }>`select distinct alarm.severity as severity ${this.from(filter, undefined)}`
    return (await this.database.scan(this.compiled(query))).map(({ severity }) => severity)
  }

  /** Types that there are, in their order. */
  async types(
    filter: Pick<AlarmFilter, 'tenantId' | 'customerId'>,
    query: Omit<PageQuery, 'sortProperty'>,
  ): Promise<Page<string>> {
    checkPageQuery(query)
    const { textSearch } = query
    const found = textSearch === undefined ? undefined : this.like('alarm.type', textSearch)
    const from = sql`from alarm ${where(conditions(filter), found)}`
    const counting = sql<{ total: number }>`select count(distinct alarm.type) as total ${from}`
    const direction = query.sortOrder === 'DESC' ? sql`desc` : sql`asc`
    const rows = sql<{ type: string }>`select alarm.type as type ${from} group by alarm.type
      order by alarm.type ${direction} limit ${query.pageSize} offset ${query.page * query.pageSize}`
    const page = await readCounted(this.database, query, this.compiled(counting), this.compiled(rows))
    return { ...page, data: page.data.map(({ type }) => type) }
  }

  /** Ids of entities on which it shows. */
  async shownOn(alarmId: string): Promise<readonly EntityId[]> {
    const query = sql<EntityId>`select entity_type as "entityType", entity_id as id from entity_alarm
      where alarm_id = ${alarmId} order by id`
    return (await this.database.read(this.compiled(query))).rows
  }

  /** Makes it show on these and no others. */
  showOn(
    alarm: { readonly id: string; readonly tenantId: string; readonly createdTime: number },
    entities: readonly EntityId[],
  ): readonly Statement[] {
    const rows = entities.map(({ entityType, id }) => [
      `${alarm.id}/${id}`,
      alarm.createdTime,
      1,
      alarm.tenantId,
      entityType,
      id,
      alarm.id,
    ])
    const insert = sql`insert into entity_alarm (id, created_time, version, tenant_id, entity_type, entity_id, alarm_id)
      values ${sql.join(rows.map((row) => sql`(${sql.join(row)})`))}`
    return [this.statement(sql`delete from entity_alarm where alarm_id = ${alarm.id}`), this.statement(insert)]
  }

  /** With `more` as one more condition. */
  private from(filter: AlarmFilter, more: RawBuilder<unknown> | undefined): RawBuilder<unknown> {
    const shown =
      filter.entityId === undefined
        ? sql`from alarm`
        : sql`from entity_alarm shown join alarm on alarm.id = shown.alarm_id`
    return sql`${shown} left join app_user assignee on assignee.id = alarm.assignee_id ${where(conditions(filter), more)}`
  }

  private matching(text: string | undefined): RawBuilder<unknown> | undefined {
    if (text === undefined || text.trim() === '') return undefined
    const parts = [this.like('alarm.type', text)]
    // Words of which all are known: which of them hold the text is the same for each row.
    const severities = ALARM_SEVERITIES.filter((severity) => containsText(severity, text))
    if (severities.length > 0) parts.push(sql`alarm.severity in (${sql.join(severities)})`)
    for (const { status, cleared, acknowledged } of STATUSES)
      if (containsText(status, text))
        parts.push(sql`(alarm.cleared = ${cleared} and alarm.acknowledged = ${acknowledged})`)
    return sql`(${sql.join(parts, sql` or `)})`
  }

  private like(column: string, text: string): RawBuilder<unknown> {
    return containsSql(this.database, sql.ref(column), text)
  }

  private compiled<Found>(query: RawBuilder<Found>): CompiledQuery<Found> {
    return query.compile(this.database.builder)
  }

  private statement(query: RawBuilder<unknown>): Statement {
    const { sql: text, parameters } = query.compile(this.database.builder)
    return { sql: text, parameters: parameters.map(sqlValue) }
  }
}

export function conditions(filter: AlarmFilter): RawBuilder<unknown>[] {
  const { customerId, entityId, cleared, acknowledged, severities, types, assigneeId, startTime, endTime } = filter
  const created = createdColumn(filter)
  const parts = [sql`alarm.tenant_id = ${filter.tenantId}`]
  if (entityId !== undefined) parts.push(sql`shown.entity_id = ${entityId}`)
  if (customerId !== undefined) parts.push(sql`alarm.customer_id = ${customerId}`)
  if (cleared !== undefined) parts.push(sql`alarm.cleared = ${cleared ? 1 : 0}`)
  if (acknowledged !== undefined) parts.push(sql`alarm.acknowledged = ${acknowledged ? 1 : 0}`)
  if (severities !== undefined) parts.push(sql`alarm.severity in (${sql.join(severities)})`)
  if (types !== undefined) parts.push(sql`alarm.type in (${sql.join(types)})`)
  if (assigneeId !== undefined) parts.push(sql`alarm.assignee_id = ${assigneeId}`)
  if (startTime !== undefined) parts.push(sql`${created} >= ${startTime}`)
  if (endTime !== undefined) parts.push(sql`${created} <= ${endTime}`)
  return parts
}

/** The one that an index has together with the entity: both are the same. */
function createdColumn({ entityId }: AlarmFilter): RawBuilder<unknown> {
  return entityId === undefined ? sql.ref('alarm.created_time') : sql.ref('shown.created_time')
}

function where(parts: readonly RawBuilder<unknown>[], more: RawBuilder<unknown> | undefined): RawBuilder<unknown> {
  return sql`where ${sql.join(more === undefined ? parts : [...parts, more], sql` and `)}`
}

function order(
  filter: AlarmFilter,
  { sortProperty, sortOrder }: PageQuery,
  sorts: Readonly<Record<string, RawBuilder<unknown>>>,
): RawBuilder<unknown> {
  const direction = sortOrder === 'DESC' ? sql`desc` : sql`asc`
  const ofSome = DIRECTIONS[sortOrder ?? 'ASC']
  if (sortProperty === undefined || sortProperty === '') return sql`order by alarm.id`
  if (sortProperty === 'createdTime') return sql`order by ${createdColumn(filter)} ${direction}, alarm.id`
  if (sortProperty === 'id') return sql`order by alarm.id ${direction}`
  if (sortProperty === 'status') return sql`order by ${STATUS} ${direction}, alarm.id`
  if (Object.hasOwn(sorts, sortProperty)) return sql`order by ${sorts[sortProperty]} ${ofSome}, alarm.id`
  if (Object.hasOwn(SORTED_BY_ASSIGNEE, sortProperty))
    return sql`order by ${sql.ref(`assignee.${SORTED_BY_ASSIGNEE[sortProperty]}`)} ${ofSome}, alarm.id`
  const wanted = sortProperty.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  if (SORTED_OF_SOME.includes(wanted)) return sql`order by ${sql.ref(`alarm.${wanted}`)} ${ofSome}, alarm.id`
  const column = SORTED.find((name) => name === wanted)
  if (column === undefined) throw EntityStoreErrors.SORT_PROPERTY({ property: sortProperty })
  return sql`order by ${sql.ref(`alarm.${column}`)} ${direction}, alarm.id`
}
