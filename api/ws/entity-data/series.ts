/** Series and aggregates of one entity, as the sub-commands of ENTITY_DATA ask for them. Source: `websocket-api.md` 6.3. */
import type { EntityId } from '../../../model/entity-id.ts'
import { valueText } from '../../../model/entry-json.ts'
import type { Aggregation } from '../../../model/telemetry-query.ts'
import type { DataPoint } from '../../../model/value.ts'
import type { HistoryRequest } from '../../../services/telemetry/telemetry-service.ts'
import type { ReadServices } from '../read-services.ts'
import { named, type ComparedAggregate, type SeriesPoint } from './frames.ts'

/** How far behind the start the newest point before it is looked for. */
const PREVIOUS_MS = 365 * 24 * 3_600_000

export interface SeriesRequest extends HistoryRequest {
  /** With the newest point before the start. */
  readonly hasPrevious: boolean
}

export interface ReadSeries {
  readonly series: Readonly<Record<string, readonly SeriesPoint[]>>
  /** Up to which commit it speaks. */
  readonly sequence: number
}

type History = ReadServices['telemetry']['history']

/** Every key is there. Raw points newest first, aggregates ascending, all newest first with the point before. */
export async function readSeries(history: History, entity: EntityId, request: SeriesRequest): Promise<ReadSeries> {
  const { hasPrevious, ...asked } = request
  const { value, sequence } = await history(entity, asked)
  const counts = isAverage(asked) ? (await history(entity, { ...asked, agg: 'COUNT' })).value : undefined
  const previous = hasPrevious ? await previousPoints(history, entity, asked) : undefined
  const series = asked.keys.map((key) => {
    const counted = new Map(counts?.get(key)?.map((point) => [point.ts, point]))
    const points = (value.get(key) ?? []).map((point) => shownPoint(point, counted.get(point.ts)))
    if (!hasPrevious) return [key, points] as const
    const before = previous?.get(key)?.[0]
    if (before !== undefined) points.push(shownPoint(before, undefined))
    return [key, points.sort((a, b) => b.ts - a.ts)] as const
  })
  return { series: named(series), sequence }
}

function isAverage({ agg, interval, intervalType }: HistoryRequest): boolean {
  return agg === 'AVG' && ((interval ?? 0) > 0 || (intervalType ?? 'MILLISECONDS') !== 'MILLISECONDS')
}

async function previousPoints(history: History, entity: EntityId, { keys, startTs }: HistoryRequest) {
  const from = Math.max(0, startTs - PREVIOUS_MS)
  if (from >= startTs) return undefined
  return (await history(entity, { keys, startTs: from, endTs: startTs, limit: 1 })).value
}

export function shownPoint(point: DataPoint, counted: DataPoint | undefined): SeriesPoint {
  const value = valueText(point)
  return counted === undefined ? { ts: point.ts, value } : { ts: point.ts, value, count: Number(counted.value) }
}

export interface AggregateKey {
  readonly id: number
  readonly key: string
  readonly agg: Aggregation
  readonly previous: { readonly startTs: number; readonly endTs: number } | undefined
  readonly previousOnly: boolean
}

/** One value a key over the whole range, and over an earlier one where it is to be compared. */
export async function readAggregates(
  history: History,
  entity: EntityId,
  keys: readonly AggregateKey[],
  range: { readonly startTs: number; readonly endTs: number },
): Promise<Readonly<Record<string, ComparedAggregate>>> {
  const aggregates: (readonly [string, ComparedAggregate])[] = []
  for (const key of keys) {
    const current = key.previousOnly ? null : await aggregate(history, entity, key, range)
    const previous = key.previous === undefined ? null : await aggregate(history, entity, key, key.previous)
    aggregates.push([String(key.id), { current, previous }])
  }
  return named(aggregates)
}

async function aggregate(
  history: History,
  entity: EntityId,
  { key, agg }: AggregateKey,
  { startTs, endTs }: { readonly startTs: number; readonly endTs: number },
): Promise<SeriesPoint> {
  const request = { keys: [key], startTs, endTs, interval: endTs - startTs, limit: 1 }
  const [point] = (await history(entity, { ...request, agg })).value.get(key) ?? []
  if (point === undefined) {
    const middle = startTs + Math.floor((endTs - startTs) / 2)
    return agg === 'SUM' || agg === 'COUNT' ? { ts: middle, value: '0' } : { ts: 0, value: '' }
  }
  const counted = agg === 'AVG' ? (await history(entity, { ...request, agg: 'COUNT' })).value.get(key)?.[0] : undefined
  return shownPoint(point, counted)
}
