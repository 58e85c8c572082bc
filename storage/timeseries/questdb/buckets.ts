/**
 * Aggregations that QuestDB computes: one row a bucket and kind of value comes back, whatever lies in the bucket. LONGs are added in two
 * halves, as its own sum would overflow in silence.
 */
import { longValue } from '../../../model/value.ts'
import type { HistoryQuery } from '../../../model/telemetry-query.ts'
import { fromPostgresText } from '../../postgres/text.ts'
import { Aggregate } from '../embedded/aggregate.ts'
import { KIND, MAX_TS, MIN_TS } from './rows.ts'
import type { Row } from './server.ts'

/** Borders of one statement that lie at uneven distances: each costs some 60 characters of the 64 KiB that a query may have. */
const MAX_UNEVEN_BORDERS = 250
const HALF = 2n ** 32n
const LONG_MIN = -(2n ** 63n)

const FIGURES = `kind, count() n, count(long_v) longs, sum(long_v / ${HALF}) high, sum(long_v % ${HALF}) low,
  min(long_v) min_long, max(long_v) max_long, sum(dbl_v) sum_double, min(dbl_v) min_double, max(dbl_v) max_double,
  min(text_v) min_text, max(text_v) max_text`
const COUNTS = 'kind, count() n'
/** 64-bit integers as text: a number of JSON would be rounded. */
const EXACT = `bucket, kind, n, longs, high::varchar, low::varchar, min_long::varchar, max_long::varchar,
  sum_double, min_double, max_double, min_text, max_text`

/** A statement and how the bucket numbers in its rows become those of the query. */
export interface BucketQuery {
  readonly sql: string
  readonly bucketOf: (number: number) => number
}

/**
 * The statements for the buckets between `borders`. `from` answers the table and its condition for a range of time.
 */
export function bucketQueries(
  agg: HistoryQuery['agg'],
  borders: readonly number[],
  from: (startTs: number, endTs: number) => string,
): BucketQuery[] {
  const last = borders.length - 1
  const grid = gridOf(borders)
  if (grid !== undefined) {
    const number = `(cast(ts as long) - ${grid.origin}000) / ${grid.step}000`
    const bucketOf = (found: number) => Math.max(0, Math.min(found - grid.shift, last - 1))
    return [{ sql: statement(agg, number, from(borders[0] ?? 0, borders[last] ?? 0)), bucketOf }]
  }
  const queries: BucketQuery[] = []
  for (let start = 0; start < last; start += MAX_UNEVEN_BORDERS) {
    const part = borders.slice(start, start + MAX_UNEVEN_BORDERS + 1)
    const number = choice(part, 0, part.length - 2)
    const sql = statement(agg, number, from(part[0] ?? 0, part[part.length - 1] ?? 0))
    queries.push({ sql, bucketOf: (found) => found + start })
  }
  return queries
}

function statement(agg: HistoryQuery['agg'], number: string, from: string): string {
  if (agg === 'COUNT') return `select ${number} bucket, ${COUNTS} from ${from}`
  return `select ${EXACT} from (select ${number} bucket, ${FIGURES} from ${from})`
}

/**
 * Where all borders but the first and the last lie at one distance: buckets by division, the first one `shift`. Both ends may
 * be cut short or, the last one, be longer.
 */
function gridOf(borders: readonly number[]): { origin: number; step: number; shift: number } | undefined {
  const [first = 0, second = 0, third] = borders
  const last = borders[borders.length - 1] ?? 0
  if (third === undefined) return { origin: first, step: Math.max(1, last - first), shift: 0 }
  const step = borders.length === 3 ? second - first : third - second
  for (let index = 2; index < borders.length - 1; index++) {
    if ((borders[index] ?? 0) - (borders[index - 1] ?? 0) !== step) return undefined
  }
  if (step <= 0) return undefined
  // Division rounds towards zero, so nothing may lie before the origin.
  const before = Math.ceil((second - first) / step)
  return { origin: second - before * step, step, shift: before - 1 }
}

/** Buckets `low` to `high` by halving: as many comparisons a row as the logarithm of the buckets. */
function choice(borders: readonly number[], low: number, high: number): string {
  if (low === high) return String(low)
  const middle = (low + high + 1) >>> 1
  const border = Math.max(MIN_TS, Math.min(borders[middle] ?? 0, MAX_TS))
  return `case when cast(ts as long) < ${border}000 then ${choice(borders, low, middle - 1)} else ${choice(borders, middle, high)} end`
}

/** Adds a row of a bucket query to its bucket. */
export function addRow(buckets: (Aggregate | undefined)[], query: BucketQuery, row: Row): void {
  const bucket = query.bucketOf(Number(row[0]))
  const aggregate = (buckets[bucket] ??= new Aggregate())
  aggregate.merge(aggregateOf(row))
  if (row[1] === KIND.STRING) addTexts(aggregate, row)
}

function aggregateOf([, kind, n, longs, high, low, minLong, maxLong, sumDouble, minDouble, maxDouble]: Row): Aggregate {
  const count = Number(n)
  if (longs === undefined) return Aggregate.of({ count })
  switch (kind) {
    case KIND.LONG: {
      // The least LONG is its null, which it neither compares nor adds.
      const least = count - Number(longs)
      const sum = integer(high) * HALF + integer(low) + BigInt(least) * LONG_MIN
      const min = longValue(least > 0 ? LONG_MIN : integer(minLong))
      const max = longValue(least === count ? LONG_MIN : integer(maxLong))
      return Aggregate.of({ count, longs: { count, sum: longSum(sum), min, max } })
    }
    case KIND.DOUBLE:
      return Aggregate.of({
        count,
        doubles: { count, sum: overflowing(sumDouble), min: Number(minDouble), max: Number(maxDouble) },
      })
    case KIND.NOT_A_NUMBER:
      return same(count, NaN)
    case KIND.INFINITY:
      return same(count, Infinity)
    case KIND.MINUS_INFINITY:
      return same(count, -Infinity)
    default:
      return Aggregate.of({ count })
  }
}

function same(count: number, value: number): Aggregate {
  return Aggregate.of({ count, doubles: { count, sum: value, min: value, max: value } })
}

/** A sum beyond the largest double is answered as null. */
function overflowing(sum: unknown): number {
  return sum === null || sum === undefined ? NaN : Number(sum)
}

function addTexts(aggregate: Aggregate, [, , n, longs, , , , , , , , least, greatest]: Row): void {
  if (longs === undefined) return
  aggregate.count -= Number(n)
  aggregate.add('STRING', textOf(least))
  aggregate.add('STRING', textOf(greatest))
  aggregate.count += Number(n) - 2
}

function textOf(text: unknown): string {
  return typeof text === 'string' ? fromPostgresText(text) : ''
}

function integer(text: unknown): bigint {
  return typeof text === 'string' || typeof text === 'number' ? BigInt(text) : 0n
}

function longSum(sum: bigint): number | bigint {
  const number = Number(sum)
  return Number.isSafeInteger(number) ? number : sum
}
