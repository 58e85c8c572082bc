/** Aggregates of a rehearsed series, as the stores answer them: one point a bucket, at the bucket's middle. */
import type { SeriesQuery } from '../engine/rulechain/capabilities/history.ts'
import type { DataPoint } from '../model/value.ts'

/** `points` ascending, of one key, all in the query's range. Text and truth values count as points only. */
export function aggregated(key: string, points: readonly DataPoint[], query: SeriesQuery): DataPoint[] {
  const width = Math.max(1, query.interval ?? query.endTs - query.startTs)
  const buckets = new Map<number, DataPoint[]>()
  for (const point of points) {
    const start = query.startTs + Math.floor((point.ts - query.startTs) / width) * width
    const bucket = buckets.get(start)
    if (bucket === undefined) buckets.set(start, [point])
    else bucket.push(point)
  }
  return [...buckets].flatMap(([start, bucket]): DataPoint[] => {
    const ts = start + Math.floor((Math.min(start + width, query.endTs) - start) / 2)
    if (query.agg === 'COUNT') return [{ key, ts, type: 'LONG', value: bucket.length }]
    const numbers = bucket.filter(isNumber)
    if (numbers.length === 0) return []
    const value = aggregateOf(
      query.agg,
      numbers.map(({ value: one }) => Number(one)),
    )
    const isWhole = query.agg !== 'AVG' && numbers.every(({ type }) => type === 'LONG')
    return [{ key, ts, type: isWhole ? 'LONG' : 'DOUBLE', value }]
  })
}

function isNumber(point: DataPoint): point is DataPoint & { readonly type: 'LONG' | 'DOUBLE' } {
  return point.type === 'LONG' || point.type === 'DOUBLE'
}

function aggregateOf(agg: SeriesQuery['agg'], values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0)
  if (agg === 'MIN') return values.reduce((least, value) => Math.min(least, value), Infinity)
  if (agg === 'MAX') return values.reduce((most, value) => Math.max(most, value), -Infinity)
  return agg === 'AVG' ? sum / values.length : sum
}
