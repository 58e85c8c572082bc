/** Entity queries. Source: `rest-api.md` 7. */
import type { Page } from '../../model/entities.ts'
import type { EntityData } from '../../model/entity-query.ts'
import { valueJson } from '../../model/entry-json.ts'
import { parseJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import { ATTRIBUTE_SCOPES, type Attribute, type AttributeScope, type TypedValue } from '../../model/value.ts'
import type { EntityQueryService } from '../../services/queries/entity-query-service.ts'
import { countQueryBody, countQueryOf, dataQueryBody, dataQueryOf, latestJson } from '../entity-query.ts'
import type { RouteMaker } from './declared/declare.ts'
import { flag, requiredFlag, scopeList } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { listShape, pageShape } from './declared/shapes.ts'
import { EVERYBODY, TENANT_AND_CUSTOMER } from './route.ts'

const ENTITY_DATA_SHAPE: JsonObject = {
  type: 'object',
  properties: {
    entityId: { type: 'object' },
    latest: { type: 'object' },
    timeseries: { type: 'object' },
    aggLatest: { type: 'object' },
  },
  required: ['entityId', 'latest', 'timeseries', 'aggLatest'],
}

const FILTER = { type: 'deviceType', deviceTypes: ['default'], deviceNameFilter: '' }

export function example(ids: Readonly<Record<string, string>>): JsonObject {
  const key = { type: 'ENTITY_FIELD', key: 'name' }
  return {
    entityFilter: { type: 'singleEntity', singleEntity: { entityType: 'DEVICE', id: ids['deviceId'] ?? '' } },
    entityFields: [key],
    latestValues: [{ type: 'TIME_SERIES', key: 'temperature' }],
    keyFilters: [],
    pageLink: { page: 0, pageSize: 10, sortOrder: { key, direction: 'ASC' } },
  }
}

const QUERY = { authorities: TENANT_AND_CUSTOMER, targets: {}, method: 'POST', body: dataQueryBody, example } as const
const NOTHING = new Map<AttributeScope, readonly Attribute[]>()

export interface EntityQueryParts {
  readonly make: RouteMaker
  readonly entityQueries: EntityQueryService
}

export function entityQueryRoutes({ make, entityQueries: queries }: EntityQueryParts): readonly DeclaredRoute[] {
  return [
    make.route({
      method: 'POST',
      path: '/api/entitiesQuery/count',
      about: 'How many entities match, of those that the caller may see.',
      authorities: EVERYBODY,
      targets: {},
      query: {},
      body: countQueryBody,
      example: () => ({ entityFilter: FILTER, keyFilters: [] }),
      answer: { type: 'integer' },
      handle: ({ principal, body }) => queries.count(principal, countQueryOf(body)),
    }),
    make.route({
      ...QUERY,
      path: '/api/entitiesQuery/find',
      about: 'A page of the entities that match, with the fields and latest values asked for.',
      authorities: EVERYBODY,
      query: {},
      answer: pageShape(ENTITY_DATA_SHAPE),
      handle: async ({ principal, body }) => pageJson(await queries.find(principal, dataQueryOf(body))),
    }),
    make.route({
      ...QUERY,
      path: '/api/entitiesQuery/find/keys',
      about: 'The keys of telemetry and attributes that the first entities of the query have.',
      query: { timeseries: requiredFlag, attributes: requiredFlag, scope: scopeList },
      answer: {
        type: 'object',
        properties: {
          entityTypes: listShape({ type: 'string' }),
          timeseries: listShape({ type: 'string' }),
          attribute: listShape({ type: 'string' }),
        },
        required: ['entityTypes', 'timeseries', 'attribute'],
      },
      handle: async ({ principal, body, query: { timeseries, attributes, scope } }) => {
        const scopes = attributes ? scopesOf(scope) : []
        const found = await queries.keys(principal, dataQueryOf(body), { timeSeries: timeseries, scopes })
        const keys = [...found.attributes.values()].flat().map(({ key }) => key)
        return {
          entityTypes: [...found.entityTypes],
          timeseries: found.timeSeries.map(({ key }) => key),
          attribute: [...new Set(keys)].sort(),
        }
      },
    }),
    make.route({
      ...QUERY,
      path: '/api/v2/entitiesQuery/find/keys',
      about: 'The same, attributes by scope, each key with its newest value where samples are asked for.',
      query: {
        includeTimeseries: flag(true),
        includeAttributes: flag(true),
        scopes: scopeList,
        includeSamples: flag(false),
      },
      answer: {
        type: 'object',
        properties: {
          entityTypes: listShape({ type: 'string' }),
          timeseries: listShape({ type: 'object' }),
          attributes: { type: 'object' },
        },
        required: ['entityTypes'],
      },
      handle: async ({ principal, body, query }) => {
        const { includeTimeseries, includeAttributes, includeSamples } = query
        const scopes = includeAttributes ? scopesOf(query.scopes) : []
        const found = await queries.keys(principal, dataQueryOf(body), { timeSeries: includeTimeseries, scopes })
        const shown = (key: string, ts: number, value: TypedValue): JsonObject =>
          includeSamples ? { key, sample: { ts, value: plainValue(value) } } : { key }
        const attributes: JsonObject = {}
        for (const [scope, held] of includeAttributes ? found.attributes : NOTHING)
          if (held.length > 0) attributes[scope] = held.map((each) => shown(each.key, each.lastUpdateTs, each))
        return {
          entityTypes: [...found.entityTypes],
          ...(includeTimeseries
            ? { timeseries: found.timeSeries.map((point) => shown(point.key, point.ts, point)) }
            : {}),
          ...(includeAttributes ? { attributes } : {}),
        }
      },
    }),
  ]
}

function plainValue(value: TypedValue): JsonValue {
  const hasNoJson = value.type === 'DOUBLE' && !Number.isFinite(value.value)
  return hasNoJson ? String(value.value) : parseJson(valueJson(value))
}

function scopesOf(named: readonly AttributeScope[]): readonly AttributeScope[] {
  return named.length === 0 ? ATTRIBUTE_SCOPES : named
}

function pageJson({ data, totalPages, totalElements, hasNext }: Page<EntityData>): JsonValue {
  return { data: data.map(entityDataJson), totalPages, totalElements, hasNext }
}

function entityDataJson({ entity, latest }: EntityData): JsonObject {
  return { entityId: { ...entity }, latest: latestJson(latest), timeseries: {}, aggLatest: {} }
}
