/**
 * Alarm queries: the alarms of the entities that a caller sees and that match, with values of those entities. Entities are found first, as
 * entity queries find them, then their alarms. Source: `rest-api.md` 7.6.
 */
import type { AlarmCountQuery, AlarmDataQuery } from '../../model/alarm-query.ts'
import type { Clock } from '../../model/clock.ts'
import type { Page } from '../../model/entities.ts'
import type { EntityId, EntityType } from '../../model/entity-id.ts'
import type { AskedFilter, EntityDataQuery, EntitySort, LatestValues } from '../../model/entity-query.ts'
import type { Principal } from '../../model/principal.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { AlarmSelection } from '../../storage/entities/queries/alarm-queries.ts'
import type { QueryTable } from '../../storage/entities/queries/query.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import { pageSizeOf, type EntityQueries } from '../queries/entity-queries.ts'
import type { QueryResolver } from '../queries/resolve.ts'
import {
  MAX_ALARM_ENTITIES,
  type AlarmData,
  type AlarmEntities,
  type AskedEntities,
  type AlarmQueryService,
} from './alarm-query-service.ts'
import type { AlarmService } from './alarm-service.ts'

export interface AlarmQueryParts {
  readonly entities: EntityStore
  readonly entityQueries: EntityQueries
  readonly resolver: QueryResolver
  readonly tables: ReadonlyMap<EntityType, QueryTable>
  readonly clock: Clock
  readonly alarms: Pick<AlarmService, 'infosOf'>
}

const NEWEST: EntitySort = { key: { type: 'ENTITY_FIELD', key: 'createdTime' }, direction: 'DESC' }

export class AlarmQueries implements AlarmQueryService {
  private readonly parts: AlarmQueryParts

  constructor(parts: AlarmQueryParts) {
    this.parts = parts
  }

  async find(principal: Principal, query: AlarmDataQuery): Promise<Page<AlarmData>> {
    return this.pageOf(principal, query, await this.uncounted(principal, query))
  }

  async count(principal: Principal, query: AlarmCountQuery): Promise<number> {
    const { filter } = query
    const found = filter === undefined ? undefined : await this.uncounted(principal, { ...query, filter })
    return this.countOf(principal, query, found)
  }

  async countOf(
    principal: Principal,
    query: AlarmCountQuery,
    entities: readonly EntityId[] | undefined,
  ): Promise<number> {
    return this.parts.entities.alarmQueries.count(await this.selection(principal, query, entities))
  }

  async entitiesOf(principal: Principal, query: AskedEntities): Promise<AlarmEntities> {
    const { data, totalElements } = await this.parts.entityQueries.find(principal, entityQueryOf(query), query.latest)
    return { entities: data.map(({ entity }) => entity), total: totalElements }
  }

  private uncounted(principal: Principal, query: AskedEntities): Promise<readonly EntityId[]> {
    return this.parts.entityQueries.entitiesOnPage(principal, entityQueryOf(query), query.latest)
  }

  async pageOf(principal: Principal, query: AlarmDataQuery, entities: readonly EntityId[]): Promise<Page<AlarmData>> {
    const { page, sort, textSearch } = query.page
    const pageSize = pageSizeOf(query.page)
    const selection = await this.selection(principal, query, entities)
    const isSearched = textSearch !== undefined && textSearch.trim() !== '' && query.alarmFields.length > 0
    const ofAlarms = sort === undefined ? 'createdTime' : sort.key.type === 'ALARM_FIELD' ? sort.key.key : undefined
    const found = await this.parts.entities.alarmQueries.page(
      { ...selection, entityIds: entities.map(({ id }) => id) },
      {
        sort: ofAlarms,
        direction: sort?.direction ?? 'DESC',
        page,
        pageSize,
        search: isSearched ? { text: textSearch, fields: query.alarmFields } : undefined,
      },
    )
    return { ...found, data: await this.shown(principal, query, entities, found.data) }
  }

  private async shown(
    principal: Principal,
    query: AlarmDataQuery,
    entities: readonly EntityId[],
    found: Awaited<ReturnType<EntityStore['alarmQueries']['page']>>['data'],
  ): Promise<readonly AlarmData[]> {
    if (found.length === 0) return []
    const wanted = new Set(found.map(({ entityId }) => entityId))
    const known = new Map(entities.filter(({ id }) => wanted.has(id)).map((entity) => [entity.id, entity]))
    const [infos, latest] = await Promise.all([
      this.parts.alarms.infosOf(found.map(({ row }) => row)),
      this.valuesOf(principal, query, [...known.values()]),
    ])
    return found.flatMap(({ row, entityId }, place) => {
      const entity = known.get(entityId)
      if (entity === undefined) return []
      return [{ id: String(row['id']), info: infos[place] ?? {}, entity, latest: latest.get(entityId) ?? {} }]
    })
  }

  private async valuesOf(
    principal: Principal,
    { fields, latest }: AlarmDataQuery,
    entities: readonly EntityId[],
  ): Promise<ReadonlyMap<string, LatestValues>> {
    if (fields.length === 0 && latest.length === 0) return new Map()
    const types = [...new Set(entities.map(({ entityType }) => entityType))]
    const pages = await Promise.all(
      types.map((entityType) => {
        const ids = entities.filter((entity) => entity.entityType === entityType).map(({ id }) => id)
        return this.parts.entityQueries.find(principal, {
          filter: { kind: 'list', entityType, ids },
          keyFilters: [],
          operation: 'AND',
          fields,
          latest,
          // A page that is not full is the last: nothing is counted.
          page: { page: 0, pageSize: ids.length + 1, textSearch: undefined, sort: undefined, isDynamic: false },
        })
      }),
    )
    return new Map(pages.flatMap(({ data }) => data.map((each) => [each.entity.id, each.latest] as const)))
  }

  private async selection(
    principal: Principal,
    query: AlarmCountQuery,
    entities: readonly EntityId[] | undefined,
  ): Promise<AlarmSelection> {
    const { tenantId, authority, customerId } = principal
    const { startTs, endTs, timeWindowMs, types, severities, cleared, acknowledged, assigneeId } = query
    const now = this.parts.clock.now()
    const time = timeWindowMs === undefined ? { startTime: startTs, endTime: endTs } : { startTime: now - timeWindowMs }
    return {
      filter: {
        tenantId: tenantId ?? SYSTEM_TENANT,
        // Alarms of others' devices may show on an entity of the own customer.
        customerId: authority === 'CUSTOMER_USER' ? (customerId ?? SYSTEM_TENANT) : undefined,
        ...time,
        ...{ types, severities, cleared, acknowledged, assigneeId },
      },
      entityIds: entities?.map(({ id }) => id),
      isPropagated: query.isPropagated,
      keyFilters: await this.parts.resolver.filters(principal, query.keyFilters.filter(isOfAlarm), true),
      operation: query.operation,
      originators: [...this.parts.tables.values()],
    }
  }
}

/** The first entities that match. */
function entityQueryOf({ filter, keyFilters, operation, page }: AskedEntities): EntityDataQuery {
  const sort = page?.sort
  return {
    filter,
    keyFilters: keyFilters.filter((each) => !isOfAlarm(each)),
    operation,
    fields: [],
    latest: [],
    page: {
      page: 0,
      pageSize: MAX_ALARM_ENTITIES,
      textSearch: undefined,
      sort: sort === undefined || sort.key.type === 'ALARM_FIELD' ? NEWEST : sort,
      isDynamic: true,
    },
  }
}

function isOfAlarm({ key }: AskedFilter): boolean {
  return key.type === 'ALARM_FIELD'
}
