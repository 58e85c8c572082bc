/** Time series of entities: keys, latest values, history, saving, deleting. Source: `rest-api.md` 4.1, 4.3, 4.4, 4.6, 4.7. */
import type { Clock } from '../../model/clock.ts'
import { valueJson, valueText } from '../../model/entry-json.ts'
import { AGGREGATIONS } from '../../model/telemetry-query.ts'
import type { DataPoint, TypedValue } from '../../model/value.ts'
import type { HistoryRequest, Services } from '../../services/services.ts'
import {
  EMPTY_ANSWER,
  EVERYBODY,
  jsonAnswer,
  jsonTextAnswer,
  type Answer,
  type RestRoute,
  type UserCall,
} from './route.ts'
import { ParameterErrors } from '../errors.ts'
import type { Query } from './query.ts'
import { telemetryOf } from './telemetry-body.ts'
import { entityOf } from './telemetry-entity.ts'
import { TelemetryRouteErrors } from './telemetry-errors.ts'

const PREFIX = '/api/plugins/telemetry/:entityType/:entityId'
const INTERVAL_TYPES = ['MILLISECONDS', 'WEEK', 'WEEK_ISO', 'MONTH', 'QUARTER'] as const

export interface TelemetryRouteOptions {
  readonly services: Services
  readonly clock: Clock
  /** `JSON_TYPE_CAST_ENABLED`. */
  readonly castStrings: boolean
}

export function telemetryRoutes(options: TelemetryRouteOptions): readonly RestRoute[] {
  return [...readRoutes(options), ...saveRoutes(options), deleteRoute(options)]
}

function readRoutes({ services: { telemetry, access }, clock }: TelemetryRouteOptions): readonly RestRoute[] {
  const history = async (call: UserCall): Promise<Answer> => {
    const request = historyRequest(call.query)
    const strict = call.query.boolean('useStrictDataTypes', false)
    const entity = await entityOf(access, call, 'READ_TELEMETRY')
    if (request.keys.length === 0) return jsonTextAnswer('{}')
    const { value } = await telemetry.history(entity, request)
    return jsonTextAnswer(seriesJson(request.keys, value, strict))
  }
  const latest = async (call: UserCall): Promise<Answer> => {
    const keys = call.query.keys()
    const strict = call.query.boolean('useStrictDataTypes', false)
    const entity = await entityOf(access, call, 'READ_TELEMETRY')
    const { value } = await telemetry.latest(entity, keys.length === 0 ? undefined : keys)
    const points = new Map(value.map((point) => [point.key, [point]]))
    const names = keys.length === 0 ? [...points.keys()] : keys
    return jsonTextAnswer(seriesJson(names, points, strict, clock.now()))
  }
  return [
    {
      method: 'GET',
      pattern: `${PREFIX}/keys/timeseries`,
      authorities: EVERYBODY,
      errorsAsText: true,
      handle: async (call) => jsonAnswer([...(await telemetry.keys(await entityOf(access, call, 'READ_TELEMETRY')))]),
    },
    {
      method: 'GET',
      pattern: `${PREFIX}/values/timeseries`,
      authorities: EVERYBODY,
      errorsAsText: true,
      // With one of the two times only it is a question for latest values: the reference chooses by the presence of both.
      handle: (call) => (call.query.has('startTs') && call.query.has('endTs') ? history(call) : latest(call)),
    },
    {
      method: 'GET',
      pattern: `${PREFIX}/values/timeseries/history`,
      authorities: EVERYBODY,
      errorsAsText: true,
      handle: history,
    },
  ]
}

/** What the query says; whether it makes sense the service checks. */
function historyRequest(query: Query): HistoryRequest {
  const limit = query.integer('limit')
  const interval = query.integer('interval')
  const agg = query.oneOf('agg', AGGREGATIONS)
  const intervalType = query.oneOf('intervalType', INTERVAL_TYPES)
  const timeZone = query.text('timeZone')
  const orderBy = orderOf(query)
  return {
    keys: query.keys(),
    startTs: query.requiredInteger('startTs'),
    endTs: query.requiredInteger('endTs'),
    ...(agg === undefined ? {} : { agg }),
    ...(intervalType === undefined ? {} : { intervalType }),
    ...(interval === undefined ? {} : { interval }),
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(limit === undefined ? {} : { limit }),
    ...(orderBy === undefined ? {} : { orderBy }),
  }
}

function orderOf(query: Query): 'ASC' | 'DESC' | undefined {
  const value = query.text('orderBy')
  const order = value?.toUpperCase()
  if (order === undefined || order === 'ASC' || order === 'DESC') return order
  throw TelemetryRouteErrors.ORDER_INVALID({ value })
}

/**
 * `{key:[{"ts","value"}…]}` in the order of the keys asked for. A key without points is left out, unless `absentTs` is
 * given: then it shows one null of that time.
 */
function seriesJson(
  keys: readonly string[],
  series: ReadonlyMap<string, readonly DataPoint[]>,
  strict: boolean,
  absentTs?: number,
): string {
  const valueOf: (value: TypedValue) => string = strict ? valueJson : (value) => JSON.stringify(valueText(value))
  const members: string[] = []
  for (const key of keys) {
    const points = series.get(key) ?? []
    if (points.length === 0 && absentTs === undefined) continue
    const items = points.map((point) => `{"ts":${point.ts},"value":${valueOf(point)}}`)
    if (points.length === 0) items.push(`{"ts":${absentTs ?? 0},"value":null}`)
    members.push(`${JSON.stringify(key)}:[${items.join(',')}]`)
  }
  return `{${members.join(',')}}`
}

function saveRoutes({
  services: { telemetry, access },
  clock,
  castStrings,
}: TelemetryRouteOptions): readonly RestRoute[] {
  const save = async (call: UserCall, ttlSeconds: number): Promise<Answer> => {
    const entity = await entityOf(access, call, 'WRITE_TELEMETRY')
    await telemetry.saveByUser(call.principal, entity, telemetryOf(call.text(), clock.now(), castStrings), ttlSeconds)
    return EMPTY_ANSWER
  }
  return [
    {
      method: 'POST',
      pattern: `${PREFIX}/timeseries/:scope`,
      authorities: EVERYBODY,
      errorsAsText: true,
      handle: (call) => save(call, 0),
    },
    {
      method: 'POST',
      pattern: `${PREFIX}/timeseries/:scope/:ttl`,
      authorities: EVERYBODY,
      errorsAsText: true,
      handle: async (call) => save(call, ttlOf(call.parameter(3))),
    },
  ]
}

function ttlOf(value: string): number {
  const ttl = Number(value)
  if (/^\d+$/.test(value) && Number.isSafeInteger(ttl)) return ttl
  throw ParameterErrors.INVALID({ name: 'ttl', value, expected: 'a number of seconds' })
}

function deleteRoute({ services: { telemetry, access } }: TelemetryRouteOptions): RestRoute {
  return {
    method: 'DELETE',
    pattern: `${PREFIX}/timeseries/delete`,
    authorities: EVERYBODY,
    errorsAsText: true,
    handle: async (call) => {
      const { query } = call
      const all = query.boolean('deleteAllDataForKeys', false)
      const deleteLatest = query.boolean('deleteLatest', true)
      const rewriteLatest = query.boolean('rewriteLatestIfDeleted', false)
      const startTs = query.integer('startTs')
      const endTs = query.integer('endTs')
      const keys = query.keys()
      const entity = await entityOf(access, call, 'WRITE_TELEMETRY')
      // Without keys there is nothing to say about the range: the service refuses the missing keys first.
      const range = all || keys.length === 0 ? EVERYTHING : rangeOf(startTs, endTs)
      await telemetry.deleteByUser(call.principal, entity, { keys, ...range, deleteLatest, rewriteLatest })
      return EMPTY_ANSWER
    },
  }
}

/** "All data" means points before 1970 and from clocks that run ahead too; the reference leaves these two behind. */
const EVERYTHING = { startTs: Number.MIN_SAFE_INTEGER, endTs: Number.MAX_SAFE_INTEGER }

function rangeOf(startTs: number | undefined, endTs: number | undefined): { startTs: number; endTs: number } {
  if (startTs === undefined || endTs === undefined) throw TelemetryRouteErrors.RANGE_MISSING()
  return { startTs, endTs }
}
