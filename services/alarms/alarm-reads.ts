/** What is known of alarms: single ones, lists, who may have one. Source: `rest-api.md` section 9. */
import type { Page, PageQuery } from '../../model/entities.ts'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { ActiveAlarms, AlarmFilter, AssigneeColumns } from '../../storage/entities/alarms.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { originatorSorts } from '../../storage/entities/queries/originator-names.ts'
import type { QueryTable } from '../../storage/entities/queries/query.ts'
import type { Row } from '../../storage/entities/tables/entity-table.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import { itemNotFound } from '../errors.ts'
import { alarms, SEVERITIES, type Alarm, type AlarmSeverity } from '../entities/alarm.ts'
import { rowsOf } from '../entities/rows.ts'
import { candidatesFor, type UserPage } from './alarm-candidates.ts'
import { AlarmInfos, type AlarmInfosParts } from './alarm-infos.ts'

export interface AlarmReadsParts extends AlarmInfosParts {
  readonly entities: EntityStore
  readonly userPage: UserPage
  /** Where names of originators are. */
  readonly originators: readonly QueryTable[]
}

/** Each may have as much in its details as a message may. */
const ROWS_AT_ONCE = 50

export class AlarmReads {
  readonly infos: AlarmInfos
  private readonly alarms: EntityStore['alarms']
  private readonly userPage: UserPage
  private readonly rows: RowStore
  private readonly sorts: ReturnType<typeof originatorSorts>

  constructor(parts: AlarmReadsParts) {
    this.infos = new AlarmInfos(parts)
    this.alarms = parts.entities.alarms
    this.userPage = parts.userPage
    this.rows = rowsOf(alarms, parts.entities)
    this.sorts = originatorSorts(parts.originators)
  }

  async find(id: string): Promise<Alarm | undefined> {
    const row = await this.rows.find([{ column: 'id', is: id }])
    return row && alarms.recordOf(row)
  }

  /** Throws `ITEM_NOT_FOUND`. */
  async get(id: string): Promise<Alarm> {
    const alarm = await this.find(id)
    if (alarm === undefined) throw itemNotFound(entityId('ALARM', id))
    return alarm
  }

  /** In the order of their ids, a few at a time. */
  async *assignedTo(userIds: readonly string[]): AsyncGenerator<Alarm> {
    for (let after = '', isLast = false; !isLast;) {
      const where = [
        { column: 'assignee_id', in: userIds },
        { column: 'id', after },
      ]
      const found = (await this.rows.findAll(where, ROWS_AT_ONCE)).map((row) => alarms.recordOf(row))
      yield* found
      after = found.at(-1)?.id ?? after
      isLast = found.length < ROWS_AT_ONCE
    }
  }

  /** Throws `ITEM_NOT_FOUND`. */
  async findInfo(id: string): Promise<JsonObject> {
    const row = await this.alarms.find(id)
    if (row === undefined) throw itemNotFound(entityId('ALARM', id))
    return (await this.infos.ofRows([row]))[0] ?? {}
  }

  /** As infos. */
  async page(filter: AlarmFilter, query: PageQuery): Promise<Page<JsonObject>> {
    const page = await this.alarms.page(filter, query, this.sorts)
    return { ...page, data: await this.infos.ofRows(page.data) }
  }

  types(
    filter: Pick<AlarmFilter, 'tenantId' | 'customerId'>,
    query: Omit<PageQuery, 'sortProperty'>,
  ): Promise<Page<string>> {
    return this.alarms.types(filter, query)
  }

  async highestSeverity(filter: AlarmFilter): Promise<AlarmSeverity | undefined> {
    const found = await this.alarms.severities(filter)
    return SEVERITIES.find((severity) => found.includes(severity))
  }

  hasActive(wanted: ActiveAlarms): Promise<boolean> {
    return this.alarms.hasActive(wanted)
  }

  /** The active one of that type on that entity. */
  async findActive(originatorId: string, type: string): Promise<Alarm | undefined> {
    const row = await this.rows.find([
      { column: 'originator_id', is: originatorId },
      { column: 'type', is: type },
      { column: 'cleared', is: 0 },
    ])
    return row && alarms.recordOf(row)
  }

  /** Rows as lists show them. */
  infosOf(rows: readonly (Row & AssigneeColumns)[]): Promise<JsonObject[]> {
    return this.infos.ofRows(rows)
  }

  /** Who may have the alarm, as far as the caller sees them. Throws `ITEM_NOT_FOUND`. */
  async pageOfCandidates(principal: Principal, alarmId: string, query: PageQuery): Promise<Page<JsonObject>> {
    return candidatesFor(await this.get(alarmId), this.userPage, principal, query)
  }
}
