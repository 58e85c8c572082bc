/** Reads of `ts_kv`: raw points, and buckets that the server computes (`rest-api.md` 4.3, 4.4). */
import type { Aggregation, HistoryQuery } from '../../../model/telemetry-query.ts'
import type { DataPoint } from '../../../model/value.ts'
import { bigIntArray, intArray } from '../../postgres/binary-array.ts'
import type { PostgresQuery } from '../../postgres/connection.ts'
import { Aggregate } from '../embedded/aggregate.ts'
import { borderOf } from './checks.ts'
import { TimeSeriesErrors } from '../errors.ts'
import { KIND, pointOf, VALUE_COLUMNS, type ValueRow } from './value-columns.ts'

type Bucketed = Exclude<Aggregation, 'NONE'>

/** How a query is asked, and its rows are read; `key` of a row is the key's number. */
export interface HistoryPlan {
  readonly query: PostgresQuery
  pointsOf(rows: readonly PlanRow[], keyOf: ReadonlyMap<number, string>): Map<string, DataPoint[]>
}

export interface PlanRow extends ValueRow {
  readonly key: number
  readonly ts: number
  readonly bucket: number
  readonly total: number
  readonly longs: number
  readonly doubles: number
  readonly long_v: number | bigint | null
  readonly dbl_v: number | null
}

export interface RawBounds {
  readonly maxRows: number
  readonly maxBytes: number
}

/** Of a row beside its text. */
const ROW_BYTES = 64

/** Collects the rows of a raw read, batch by batch. */
export class RawPoints {
  private readonly query: HistoryQuery
  private readonly keyOf: ReadonlyMap<number, string>
  private readonly found = new Map<string, DataPoint[]>()

  constructor(query: HistoryQuery, keyOf: ReadonlyMap<number, string>) {
    this.query = query
    this.keyOf = keyOf
  }

  add(rows: readonly RawRow[]): void {
    for (const row of rows) add(this.found, this.keyOf.get(row.key), (key) => pointOf(key, row.ts, row))
  }

  points(): Map<string, DataPoint[]> {
    const sign = this.query.order === 'DESC' ? -1 : 1
    for (const points of this.found.values()) points.sort((a, b) => sign * (a.ts - b.ts))
    return this.found
  }
}

export interface RawRow extends ValueRow {
  readonly key: number
  readonly ts: number
  /** Of this row and those before it. */
  readonly bytes: number
}

/** The rows of a raw read; the server stops behind the one that is beyond the bounds, and hands out no text of it. */
export function rawRows(
  entityId: string,
  numbers: readonly number[],
  query: HistoryQuery,
  now: number,
  { maxRows, maxBytes }: RawBounds,
): PostgresQuery {
  const direction = query.order === 'DESC' ? 'desc' : 'asc'
  const limit = Math.min(query.limit, maxRows + 1)
  return {
    name: `history-${direction}`,
    text: `select key, ts, kind, long_v, dbl_v, case when bytes <= $8 then str_v end as str_v, bytes from (
        select found.*, ${ROW_BYTES} + coalesce(octet_length(str_v), 0) as size,
          sum(${ROW_BYTES} + coalesce(octet_length(str_v), 0)) over (rows unbounded preceding) as bytes
        from (
          select wanted.key, points.* from unnest($2::integer[]) as wanted(key) cross join lateral (
            select ts, ${VALUE_COLUMNS} from ts_kv
            where entity_id = $1 and ts_kv.key = wanted.key and ts >= $3 and ts < $4 and ${LIVE}
            order by ts ${direction} limit $6
          ) points limit $7
        ) found
      ) sized where bytes - size <= $8`,
    parameters: [
      entityId,
      intArray(numbers),
      borderOf(query.startTs),
      borderOf(query.endTs),
      now,
      limit,
      maxRows + 1,
      maxBytes,
    ],
  }
}

/** One point a non-empty bucket, at its middle, ascending. Throws `BORDERS_MISSING`. */
export function bucketPlan(
  entityId: string,
  numbers: readonly number[],
  query: HistoryQuery,
  agg: Bucketed,
  now: number,
): HistoryPlan {
  const { borders } = query
  const first = borders?.[0]
  const last = borders?.at(-1)
  if (borders === undefined || first === undefined || last === undefined || borders.length < 2) {
    throw TimeSeriesErrors.BORDERS_MISSING({ agg })
  }
  const start = borderOf(Math.max(query.startTs, first))
  const end = borderOf(Math.min(query.endTs, last))
  const sqlBorders = bigIntArray(borders.map(borderOf))
  return {
    query: {
      name: `history-${agg.toLowerCase()}`,
      text: `select key, width_bucket(ts, $6::bigint[]) as bucket, count(*) as total ${FIGURES[agg]} from ts_kv
        where entity_id = $1 and key = any($2::integer[]) and ts >= $3 and ts < $4 and ${LIVE}
        group by 1, 2 order by 1, 2`,
      parameters: [entityId, intArray(numbers), start, end, now, sqlBorders],
    },
    pointsOf: (rows, keyOf) => {
      const found = new Map<string, DataPoint[]>()
      for (const row of rows) add(found, keyOf.get(row.key), (key) => bucketPoint(key, row, agg, borders))
      return found
    },
  }
}

const LIVE = '(expires_at is null or expires_at > $5)'
const COUNTS = `, count(*) filter (where kind = ${KIND.LONG}) as longs, count(dbl_v) as doubles`

/** What each aggregation needs of the numbers, and of the texts where there are no numbers. */
const FIGURES: Readonly<Record<Bucketed, string>> = {
  COUNT: '',
  SUM: `${COUNTS}, sum(long_v) filter (where kind = ${KIND.LONG}) as long_v, sum(dbl_v) as dbl_v`,
  AVG: `${COUNTS}, sum(long_v) filter (where kind = ${KIND.LONG}) as long_v, sum(dbl_v) as dbl_v`,
  MIN: extremes('min'),
  MAX: extremes('max'),
}

function extremes(pick: 'min' | 'max'): string {
  return `${COUNTS}, ${pick}(long_v) filter (where kind = ${KIND.LONG}) as long_v, ${pick}(dbl_v) as dbl_v,
    ${pick}(str_v collate "C") filter (where kind = ${KIND.STRING}) as str_v`
}

function add(
  found: Map<string, DataPoint[]>,
  key: string | undefined,
  make: (key: string) => DataPoint | undefined,
): void {
  if (key === undefined) return
  const point = make(key)
  if (point === undefined) return
  const points = found.get(key)
  if (points === undefined) found.set(key, [point])
  else points.push(point)
}

function bucketPoint(key: string, row: PlanRow, agg: Bucketed, borders: readonly number[]): DataPoint | undefined {
  const start = borders[row.bucket - 1] ?? 0
  const end = borders[row.bucket] ?? start
  const ts = start + Math.floor((end - start) / 2)
  const isExtreme = agg === 'MIN' || agg === 'MAX'
  if (isExtreme && row.longs + row.doubles === 0) {
    return row.str_v === null ? undefined : { key, ts, type: 'STRING', value: row.str_v }
  }
  const longs = row.long_v ?? 0
  const doubles = row.dbl_v ?? 0
  const value = Aggregate.of({
    count: row.total,
    ...(row.longs > 0 ? { longs: { count: row.longs, sum: longs, min: longs, max: longs } } : {}),
    ...(row.doubles > 0 ? { doubles: { count: row.doubles, sum: doubles, min: doubles, max: doubles } } : {}),
  }).result(agg)
  return value === undefined ? undefined : { key, ts, ...value }
}
