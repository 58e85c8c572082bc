/** What an ENTITY_DATA command asks for beside its query. Source: `websocket-api.md` 6.1. */
import { z } from 'zod'
import type { EntityKey } from '../../../model/entity-query.ts'
import { dataQueryBody, entityKey } from '../../entity-query.ts'
import { aggregationOf, DEFAULT_LIMIT } from '../commands/telemetry.ts'
import { integer, text, whole } from '../define-command.ts'
import type { AggregateKey, SeriesRequest } from './series.ts'

const MAX_KEYS = 500
const INTERVAL_TYPES = ['MILLISECONDS', 'WEEK', 'WEEK_ISO', 'MONTH', 'QUARTER'] as const

const series = {
  keys: z.array(z.string()).max(MAX_KEYS),
  startTs: whole,
  intervalType: z.enum(INTERVAL_TYPES).nullish(),
  interval: whole,
  timeZoneId: text,
  limit: whole,
  agg: text,
  fetchLatestPreviousPoint: z.boolean().nullish(),
}
const tsCmd = z.object({ ...series, timeWindow: whole })
const historyCmd = z.object({ ...series, endTs: whole })
const aggregateKey = z.object({
  id: integer,
  key: z.string(),
  agg: text,
  previousStartTs: integer.nullish(),
  previousEndTs: integer.nullish(),
  previousValueOnly: z.boolean().nullish(),
})
const aggregates = { keys: z.array(aggregateKey).max(MAX_KEYS), startTs: whole }
const aggHistoryCmd = z.object({ ...aggregates, endTs: whole })
const aggTsCmd = z.object({ ...aggregates, timeWindow: whole })

export const entityDataFields = {
  query: dataQueryBody.nullish(),
  latestCmd: z.object({ keys: z.array(entityKey).max(MAX_KEYS) }).nullish(),
  tsCmd: tsCmd.nullish(),
  historyCmd: historyCmd.nullish(),
  aggHistoryCmd: aggHistoryCmd.nullish(),
  aggTsCmd: aggTsCmd.nullish(),
}

interface Aggregates {
  readonly keys: readonly AggregateKey[]
  readonly startTs: number
  readonly endTs: number
}

export interface SubCommands {
  readonly aggHistory: Aggregates | undefined
  readonly aggSeries: Aggregates | undefined
  readonly history: SeriesRequest | undefined
  /** Followed, but for the initial values. */
  readonly latest: readonly EntityKey[] | undefined
  readonly series: SeriesRequest | undefined
}

type Fields = z.output<z.ZodObject<typeof entityDataFields>>

/** Undefined where there is none. Throws AGGREGATION_UNKNOWN. */
export function subCommandsOf(command: Fields): SubCommands | undefined {
  const { latestCmd, tsCmd: ts, historyCmd: history, aggHistoryCmd: aggHistory, aggTsCmd: aggTs } = command
  if (!latestCmd && !ts && !history && !aggHistory && !aggTs) return undefined
  return {
    aggHistory: aggHistory
      ? { keys: aggregateKeys(aggHistory.keys), startTs: aggHistory.startTs, endTs: aggHistory.endTs }
      : undefined,
    aggSeries: aggTs
      ? { keys: aggregateKeys(aggTs.keys), startTs: aggTs.startTs, endTs: aggTs.startTs + aggTs.timeWindow }
      : undefined,
    history: history ? requestOf(history, history.endTs) : undefined,
    latest: latestCmd?.keys,
    series: ts ? requestOf(ts, ts.startTs + ts.timeWindow) : undefined,
  }
}

function requestOf(command: z.output<z.ZodObject<typeof series>>, endTs: number): SeriesRequest {
  const { keys, startTs, interval, intervalType, timeZoneId, limit, agg, fetchLatestPreviousPoint } = command
  return {
    keys: [...new Set(keys)],
    startTs,
    endTs,
    interval,
    ...(intervalType ? { intervalType } : {}),
    ...(timeZoneId ? { timeZone: timeZoneId } : {}),
    limit: limit === 0 ? DEFAULT_LIMIT : limit,
    agg: aggregationOf(agg),
    hasPrevious: fetchLatestPreviousPoint === true,
  }
}

function aggregateKeys(keys: readonly z.output<typeof aggregateKey>[]): readonly AggregateKey[] {
  return keys.map(({ id, key, agg, previousStartTs, previousEndTs, previousValueOnly }) => ({
    id,
    key,
    agg: aggregationOf(agg),
    previous:
      typeof previousStartTs === 'number' && typeof previousEndTs === 'number' && previousEndTs > previousStartTs
        ? { startTs: previousStartTs, endTs: previousEndTs }
        : undefined,
    previousOnly: previousValueOnly === true,
  }))
}
