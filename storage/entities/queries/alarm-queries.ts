/** Alarms of the entities that a query found, for both databases. Read beside the commits, as they may look at many rows. */
import { sql, type CompiledQuery } from 'kysely'
import type { Page } from '../../../model/entities.ts'
import type { Combination, KeyFilter } from '../../../model/entity-query.ts'
import { ASSIGNEE, conditions, STATUS, type AlarmFilter, type AssigneeColumns } from '../alarms.ts'
import type { EntityDatabase } from '../database.ts'
import { EntityStoreErrors } from '../errors.ts'
import { pageOf } from '../paging.ts'
import type { Row } from '../tables/entity-table.ts'
import { originatorName } from './originator-names.ts'
import { combined, containsSql, predicateSql, type Sql, type ValueParts } from './predicates-sql.ts'
import type { QueryTable } from './query.ts'

export interface AlarmSelection {
  readonly filter: Omit<AlarmFilter, 'entityId'>
  /** Of these, in their order; undefined for all. */
  readonly entityIds: readonly string[] | undefined
  /** Those of other entities too that show on these. */
  readonly isPropagated: boolean
  /** On members of the alarms. */
  readonly keyFilters: readonly KeyFilter[]
  readonly operation: Combination
  /** Where names of originators are. */
  readonly originators: readonly QueryTable[]
}

export interface AlarmOrder {
  /** A member of alarms; undefined for the order of the entities. */
  readonly sort: string | undefined
  readonly direction: 'ASC' | 'DESC'
  readonly page: number
  readonly pageSize: number
  readonly search: { readonly text: string; readonly fields: readonly string[] } | undefined
}

/** How many alarms are alike. */
export interface AlarmTallyRow {
  readonly type: string
  readonly severity: string
  readonly cleared: boolean
  readonly acknowledged: boolean
  readonly alarms: number
}

export interface SelectedAlarm {
  readonly row: Row & AssigneeColumns
  /** The entity on which it was found. */
  readonly entityId: string
}

type Kind = 'text' | 'number' | 'flag'
interface AlarmField {
  readonly kind: Kind
  readonly value: Sql
}

const column = (name: string, kind: Kind = 'text'): AlarmField => ({ kind, value: sql.ref(name) })
const createdTime = column('alarm.created_time', 'number')
const startTs = column('alarm.start_ts', 'number')
const endTs = column('alarm.end_ts', 'number')
const ackTs = column('alarm.ack_ts', 'number')
const clearTs = column('alarm.clear_ts', 'number')
const assignTs = column('alarm.assign_ts', 'number')

/** By the names that clients have for them. */
const FIELDS: Readonly<Record<string, AlarmField>> = {
  createdTime,
  startTime: startTs,
  startTs,
  endTime: endTs,
  endTs,
  ackTime: ackTs,
  ackTs,
  clearTime: clearTs,
  clearTs,
  assignTime: assignTs,
  assignTs,
  type: column('alarm.type'),
  severity: column('alarm.severity'),
  status: { kind: 'text', value: STATUS },
  acknowledged: column('alarm.acknowledged', 'flag'),
  cleared: column('alarm.cleared', 'flag'),
  details: column('alarm.details'),
  originatorId: column('alarm.originator_id'),
  originatorType: column('alarm.originator_type'),
  assigneeId: column('alarm.assignee_id'),
  assignee: column('assignee.email'),
  assigneeFirstName: column('assignee.first_name'),
  assigneeLastName: column('assignee.last_name'),
  assigneeEmail: column('assignee.email'),
}
const JOINED = sql`left join app_user assignee on assignee.id = alarm.assignee_id`

export class AlarmQueryRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  async count(selection: AlarmSelection): Promise<number> {
    if (selection.entityIds?.length === 0) return 0
    const query = sql<{ total: number }>`${this.wanted(selection)} select count(*) as total
      ${this.from(selection)} ${this.where(selection)}`
    const [row] = await this.scan(query.compile(this.database.builder))
    return Number(row?.total ?? 0)
  }

  /** Counts by type, severity and status: at most `limit` of them. */
  async tally(selection: AlarmSelection, limit: number): Promise<readonly AlarmTallyRow[]> {
    if (selection.entityIds?.length === 0) return []
    const columns = sql`alarm.type, alarm.severity, alarm.cleared, alarm.acknowledged`
    const query = sql<Record<string, string | number>>`${this.wanted(selection)}
      select ${columns}, count(*) as total ${this.from(selection)} ${this.where(selection)}
      group by ${columns} limit ${limit}`
    const rows = await this.scan(query.compile(this.database.builder))
    return rows.map((row) => ({
      type: String(row['type']),
      severity: String(row['severity']),
      cleared: Number(row['cleared']) === 1,
      acknowledged: Number(row['acknowledged']) === 1,
      alarms: Number(row['total']),
    }))
  }

  /** Each alarm once. Throws `SORT_PROPERTY`. */
  async page(
    selection: AlarmSelection & { readonly entityIds: readonly string[] },
    order: AlarmOrder,
  ): Promise<Page<SelectedAlarm>> {
    const { entityIds } = selection
    const by = this.order(selection, order)
    if (entityIds.length === 0) return pageOf(order, { total: 0, rows: [] })
    // Found once, for their number and for the page, with what they are sorted by: only rows of the page are looked up again.
    const found = sql`select alarm.id as id, wanted.place as place, ${by.value} as sorted
      ${this.from(selection)} ${this.where(selection)}`
    const searched = this.searched(selection, order.search)
    // SQLite takes the tables of a cross join in their order.
    const holding = sql`select held.id as id, held.place as place, held.sorted as sorted from held
      cross join alarm ${JOINED} where alarm.id = held.id`
    const held =
      searched === undefined
        ? sql`found as materialized (${found})`
        : sql`held as materialized (${found}), found as materialized (${holding} and ${searched})`
    const page = sql`select found.id as id, found.place as place, found.sorted as sorted from found
      ${by.order(sql`found`)} limit ${order.pageSize} offset ${order.page * order.pageSize}`
    const query = sql<Row & AssigneeColumns & { place: number | null; total_found: number }>`
      ${this.wanted(selection)}, ${held}
      select alarm.*, ${ASSIGNEE}, wanted.place as place, counted.total_found as total_found
      from (select count(*) as total_found from found) as counted left join (${page}) as wanted on 1 = 1
      left join alarm on alarm.id = wanted.id ${JOINED} ${by.order(sql`wanted`)}`
    const rows = await this.scan(query.compile(this.database.builder))
    const known = new Set(entityIds)
    const selected = rows.flatMap((row) => {
      if (row.place === null) return []
      const originator = String(row['originator_id'])
      return [{ row, entityId: known.has(originator) ? originator : (entityIds[row.place] ?? originator) }]
    })
    return pageOf(order, { total: Number(rows[0]?.total_found ?? 0), rows: selected })
  }

  private scan<Found>(query: CompiledQuery<Found>): Promise<readonly Found[]> {
    return this.database.scan(query)
  }

  /** The entities, or the alarms that show on them, with their places: one parameter, however many there are. */
  private wanted({ entityIds, isPropagated, filter }: AlarmSelection): Sql {
    if (entityIds === undefined) return sql``
    const json = JSON.stringify(entityIds)
    const entities = this.database.isShared
      ? sql`select w.id as id, w.place - 1 as place
          from json_array_elements_text(cast(${json} as json)) with ordinality as w(id, place)`
      : // In the order of the indexes: to look them up at random costs a fourth more.
        sql`select value as id, key as place from json_each(${json}) order by value`
    if (!isPropagated) return sql`with wanted as materialized (${entities})`
    return sql`with entities as materialized (${entities}), wanted as materialized (
      select shown.alarm_id as id, min(entities.place) as place from entities
      join entity_alarm shown on shown.entity_id = entities.id and shown.tenant_id = ${filter.tenantId}
      group by shown.alarm_id)`
  }

  private from({ entityIds, isPropagated }: AlarmSelection): Sql {
    if (entityIds === undefined) return sql`from alarm ${JOINED}`
    const by = sql.ref(isPropagated ? 'alarm.id' : 'alarm.originator_id')
    return sql`from wanted join alarm on ${by} = wanted.id ${JOINED}`
  }

  private where(selection: AlarmSelection): Sql {
    const { filter, keyFilters, operation } = selection
    const parts: Sql[] = [...conditions(filter)]
    if (keyFilters.length > 0) {
      const held = keyFilters.map(({ key, predicate }) => {
        const field = this.field(selection, key.key)
        return field === undefined ? sql`1 = 0` : predicateSql(this.database, predicate, this.partsOf(field))
      })
      parts.push(combined(held, operation))
    }
    return sql`where ${sql.join(parts, sql` and `)}`
  }

  private searched(selection: AlarmSelection, search: AlarmOrder['search']): Sql | undefined {
    if (search === undefined || search.fields.length === 0) return undefined
    return combined(
      search.fields.map((name) => this.holds(selection, name, search.text)),
      'OR',
    )
  }

  private holds(selection: AlarmSelection, name: string, text: string): Sql {
    const field = this.field(selection, name)
    if (field === undefined) return sql`1 = 0`
    return containsSql(this.database, textOf(field), text)
  }

  private partsOf(field: AlarmField): ValueParts {
    const none = this.database.isShared ? sql`cast(null as bigint)` : sql`null`
    return {
      text: textOf(field),
      number: field.kind === 'number' ? field.value : none,
      flag: field.kind === 'flag' ? field.value : none,
    }
  }

  /** What they are sorted by, and how, where a relation has it as `sorted`. */
  private order(selection: AlarmSelection, { sort, direction }: AlarmOrder) {
    const way = direction === 'DESC' ? sql`desc` : sql`asc`
    // The entities are in their order already.
    if (sort === undefined) {
      const order = (of: Sql) => sql`order by ${of}.place, ${of}.sorted desc, ${of}.id`
      return { value: createdTime.value, order }
    }
    const field = this.field(selection, sort)
    if (field === undefined) throw EntityStoreErrors.SORT_PROPERTY({ property: sort })
    const value = field.kind === 'text' ? sql`coalesce(${field.value}, '')` : field.value
    return { value, order: (of: Sql) => sql`order by ${of}.sorted ${way}, ${of}.id ${way}` }
  }

  private field({ originators }: AlarmSelection, name: string): AlarmField | undefined {
    switch (name) {
      case 'originator':
      case 'originatorName':
        return { kind: 'text', value: originatorName(originators, 'name') }
      case 'originatorLabel':
      case 'originatorDisplayName':
        return { kind: 'text', value: originatorName(originators, 'label') }
      default:
        return Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined
    }
  }
}

function textOf({ kind, value }: AlarmField): Sql {
  if (kind === 'text') return value
  if (kind === 'number') return sql`cast(${value} as text)`
  return sql`case ${value} when 1 then 'true' else 'false' end`
}
