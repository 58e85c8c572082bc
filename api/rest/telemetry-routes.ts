/** Time series of entities: keys, latest values, history, saving, deleting. Source: `rest-api.md` 4.1, 4.3, 4.4, 4.6, 4.7. */
import type { Clock } from '../../model/clock.ts'
import { valueJson, valueText } from '../../model/entry-json.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { AGGREGATIONS } from '../../model/telemetry-query.ts'
import type { DataPoint, TypedValue } from '../../model/value.ts'
import type { Services } from '../../services/services.ts'
import { ALL_TIME } from '../../services/telemetry/telemetry.ts'
import type { HistoryRequest } from '../../services/telemetry/telemetry-service.ts'
import { ParameterErrors } from '../errors.ts'
import { rawAnswer, type RouteMaker } from './declared/declare.ts'
import {
  flag,
  keyList,
  keysToDelete,
  optionalChoice,
  optionalInteger,
  optionalText,
  optionalTime,
  requiredTime,
  type QueryValues,
} from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { listShape } from './declared/shapes.ts'
import { EMPTY_ANSWER, EVERYBODY, jsonTextAnswer, type Answer } from './route.ts'
import { telemetryMaker } from './telemetry-access.ts'
import { SERIES_BODY, telemetryOf } from './telemetry-body.ts'
import { TelemetryRouteErrors } from './telemetry-errors.ts'

const PREFIX = '/api/plugins/telemetry/{entityType}/{entityId}'
const INTERVAL_TYPES = ['MILLISECONDS', 'WEEK', 'WEEK_ISO', 'MONTH', 'QUARTER'] as const

const READ = { entityId: { typedBy: 'entityType', operation: 'READ_TELEMETRY' } } as const
const WRITE = { entityId: { typedBy: 'entityType', operation: 'WRITE_TELEMETRY' } } as const
const COMMON = { authorities: EVERYBODY, errorsAsText: true } as const

/** By key; a value is text, or with `useStrictDataTypes` of its own type. */
const SERIES: JsonObject = {
  title: 'SeriesByKey',
  type: 'object',
  additionalProperties: listShape({
    title: 'TsData',
    type: 'object',
    properties: { ts: { type: 'integer', description: 'Unix milliseconds' }, value: {} },
    required: ['ts', 'value'],
  }),
}

const LATEST_QUERY = { keys: keyList, useStrictDataTypes: flag(false) } as const
const HISTORY_QUERY = {
  ...LATEST_QUERY,
  startTs: requiredTime,
  endTs: requiredTime,
  intervalType: optionalChoice(INTERVAL_TYPES),
  interval: optionalInteger,
  timeZone: optionalText,
  limit: optionalInteger,
  agg: optionalChoice(AGGREGATIONS),
  orderBy: optionalText,
} as const

export interface TelemetryRouteOptions {
  readonly services: Services
  readonly clock: Clock
  /** `JSON_TYPE_CAST_ENABLED`. */
  readonly castStrings: boolean
}

export function telemetryRoutes(options: TelemetryRouteOptions): readonly DeclaredRoute[] {
  const make = telemetryMaker(options.services.access)
  return [
    keysRoute(make, options),
    latestRoute(make, options),
    ...historyRoutes(make, options),
    ...saveRoutes(make, options),
    deleteRoute(make, options),
  ]
}

function keysRoute(make: RouteMaker, { services: { telemetry } }: TelemetryRouteOptions): DeclaredRoute {
  return make.route({
    ...COMMON,
    method: 'GET',
    path: `${PREFIX}/keys/timeseries`,
    about: 'Names the time series of an entity.',
    targets: READ,
    query: {},
    body: undefined,
    answer: listShape({ type: 'string' }),
    handle: async ({ targets }) => [...(await telemetry.keys(targets.entityId))],
  })
}

/** With one of the two times only it is a question for latest values: the reference chooses by the presence of both. */
function latestRoute(make: RouteMaker, { services: { telemetry }, clock }: TelemetryRouteOptions): DeclaredRoute {
  return make.route({
    ...COMMON,
    method: 'GET',
    path: `${PREFIX}/values/timeseries`,
    about: 'Latest values of an entity, all or those named.',
    targets: READ,
    query: LATEST_QUERY,
    body: undefined,
    answer: SERIES,
    handle: async ({ targets, query: { keys, useStrictDataTypes } }) => {
      const { value } = await telemetry.latest(targets.entityId, keys.length === 0 ? undefined : keys)
      const points = new Map(value.map((point) => [point.key, [point]]))
      const names = keys.length === 0 ? [...points.keys()] : keys
      return seriesAnswer(names, points, useStrictDataTypes, clock.now())
    },
  })
}

function historyRoutes(make: RouteMaker, { services: { telemetry } }: TelemetryRouteOptions): readonly DeclaredRoute[] {
  const history = async (entity: EntityId, query: QueryValues<typeof HISTORY_QUERY>): Promise<Answer> => {
    const request = historyRequest(query)
    if (request.keys.length === 0) return seriesAnswer([], new Map(), false)
    const { value } = await telemetry.history(entity, request)
    return seriesAnswer(request.keys, value, query.useStrictDataTypes)
  }
  const common = {
    ...COMMON,
    method: 'GET',
    about: 'Points of a time, or their aggregates.',
    targets: READ,
    query: HISTORY_QUERY,
    body: undefined,
    answer: SERIES,
  } as const
  return [
    make.route({
      ...common,
      path: `${PREFIX}/values/timeseries`,
      onlyWith: ['startTs', 'endTs'],
      handle: ({ targets, query }) => history(targets.entityId, query),
    }),
    make.route({
      ...common,
      path: `${PREFIX}/values/timeseries/history`,
      handle: ({ targets, query }) => history(targets.entityId, query),
    }),
  ]
}

/** What the query says; whether it makes sense the service checks. */
function historyRequest(query: QueryValues<typeof HISTORY_QUERY>): HistoryRequest {
  const { keys, startTs, endTs, agg, intervalType, interval, timeZone, limit } = query
  const orderBy = orderOf(query.orderBy)
  return {
    keys,
    startTs,
    endTs,
    ...(agg === undefined ? {} : { agg }),
    ...(intervalType === undefined ? {} : { intervalType }),
    ...(interval === undefined ? {} : { interval }),
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(limit === undefined ? {} : { limit }),
    ...(orderBy === undefined ? {} : { orderBy }),
  }
}

function orderOf(value: string | undefined): 'ASC' | 'DESC' | undefined {
  const order = value?.toUpperCase()
  if (order === undefined || order === 'ASC' || order === 'DESC') return order
  throw TelemetryRouteErrors.ORDER_INVALID({ value })
}

/**
 * `{key:[{"ts","value"}…]}` in the order of the keys asked for. A key without points is left out, unless `absentTs` is
 * given: then it shows one null of that time.
 */
function seriesAnswer(
  keys: readonly string[],
  series: ReadonlyMap<string, readonly DataPoint[]>,
  strict: boolean,
  absentTs?: number,
): Answer {
  const valueOf: (value: TypedValue) => string = strict ? valueJson : (value) => JSON.stringify(valueText(value))
  const members: string[] = []
  for (const key of keys) {
    const points = series.get(key) ?? []
    if (points.length === 0 && absentTs === undefined) continue
    const items = points.map((point) => `{"ts":${point.ts},"value":${valueOf(point)}}`)
    if (points.length === 0) items.push(`{"ts":${absentTs ?? 0},"value":null}`)
    members.push(`${JSON.stringify(key)}:[${items.join(',')}]`)
  }
  return rawAnswer(jsonTextAnswer(`{${members.join(',')}}`))
}

function saveRoutes(
  make: RouteMaker,
  { services: { telemetry }, clock, castStrings }: TelemetryRouteOptions,
): readonly DeclaredRoute[] {
  const save = async (principal: Principal, entity: EntityId, text: string, ttlSeconds: number): Promise<Answer> => {
    await telemetry.saveByUser(principal, entity, telemetryOf(text, clock.now(), castStrings), ttlSeconds)
    return EMPTY_ANSWER
  }
  const common = {
    ...COMMON,
    method: 'POST',
    targets: WRITE,
    query: {},
    body: SERIES_BODY,
    bodyIs: 'json-text',
    answer: undefined,
    example: () => ({ secretSeries: 1 }),
  } as const
  return [
    make.route({
      ...common,
      path: `${PREFIX}/timeseries/{scope}`,
      about: 'Saves points; the scope says nothing.',
      handle: ({ principal, targets, body }) => save(principal, targets.entityId, body, 0),
    }),
    make.route({
      ...common,
      path: `${PREFIX}/timeseries/{scope}/{ttl}`,
      about: 'Saves points that are kept for so many seconds.',
      handle: ({ principal, targets, path, body }) => save(principal, targets.entityId, body, ttlOf(path.ttl)),
    }),
  ]
}

function ttlOf(value: string): number {
  const ttl = Number(value)
  if (/^\d+$/.test(value) && Number.isSafeInteger(ttl)) return ttl
  throw ParameterErrors.INVALID({ name: 'ttl', value, expected: 'a number of seconds' })
}

function deleteRoute(make: RouteMaker, { services: { telemetry } }: TelemetryRouteOptions): DeclaredRoute {
  return make.route({
    ...COMMON,
    method: 'DELETE',
    path: `${PREFIX}/timeseries/delete`,
    about: 'Deletes points of a time, or all of the keys named.',
    targets: WRITE,
    query: {
      keys: keysToDelete,
      deleteAllDataForKeys: flag(false),
      startTs: optionalTime,
      endTs: optionalTime,
      deleteLatest: flag(true),
      rewriteLatestIfDeleted: flag(false),
    },
    body: undefined,
    answer: undefined,
    handle: async ({ principal, targets, query }) => {
      const { keys, deleteAllDataForKeys, startTs, endTs, deleteLatest, rewriteLatestIfDeleted } = query
      // Without keys there is nothing to say about the range: the service refuses the missing keys first.
      const range = deleteAllDataForKeys || keys.length === 0 ? ALL_TIME : rangeOf(startTs, endTs)
      const rewriteLatest = rewriteLatestIfDeleted
      await telemetry.deleteByUser(principal, targets.entityId, { keys, ...range, deleteLatest, rewriteLatest })
      return EMPTY_ANSWER
    },
  })
}

function rangeOf(startTs: number | undefined, endTs: number | undefined): { startTs: number; endTs: number } {
  if (startTs === undefined || endTs === undefined) throw TelemetryRouteErrors.RANGE_MISSING()
  return { startTs, endTs }
}
