/**
 * Aggregations that QuestDB computes, whatever lies in the buckets. Most series hold numbers alone: a statement for them has one row a bucket, which
 * tells when it is not enough, and takes some two thirds of the time of the one for all kinds. That one has a row for each kind and adds LONGs
 * in two halves, as QuestDB's own sum overflows in silence.
 *
 * Even buckets are samples: QuestDB goes from one to the next as the rows come, and does not look each row's bucket up in a map, which would cost
 * a third more. The period is an expression, as QuestDB makes a map of samples whose period is a constant (`benchmarks/query`).
 */
import { longValue } from '../../../model/value.ts'
import type { HistoryQuery } from '../../../model/telemetry-query.ts'
import { fromPostgresText } from '../../postgres/text.ts'
import { Aggregate, type FiguresOf } from '../embedded/aggregate.ts'
import { isInRange, isoOf, KIND, MAX_TS, MIN_TS } from './rows.ts'
import type { Row } from './server.ts'

/** Borders of one statement that lie at uneven distances: each costs some 60 characters of the 64 KiB that a query may have. */
const MAX_UNEVEN_BORDERS = 250
/** Samples begin in nanoseconds of 64 bits: from April 2262 on QuestDB takes another time. */
const MAX_SAMPLED_FROM = Date.UTC(2262, 0, 1)
const HALF = 2n ** 32n
const LONG_MIN = -(2n ** 63n)

/** A sum of LONGs that its mean puts below this did not overflow. */
const SURE_SUM = 2 ** 62

/** Which values a statement can tell of, from the cheapest on; NUMBERS are DOUBLEs and LONGs. */
export const KINDS = ['DOUBLES', 'NUMBERS', 'ALL'] as const
export type Kinds = (typeof KINDS)[number]

/** The last column of every statement. */
const FIRST_EXPIRY = 'min(expires) first_expiry'
const FIGURES = `kind, count() n, count(long_v) longs, sum(long_v / ${HALF}) high, sum(long_v % ${HALF}) low,
  min(long_v) min_long, max(long_v) max_long, sum(dbl_v) sum_double, min(dbl_v) min_double, max(dbl_v) max_double,
  min(text_v) min_text, max(text_v) max_text, ${FIRST_EXPIRY}`
/** 64-bit integers as text: a number of JSON would be rounded. */
const EXACT = `kind, n, longs, high::varchar, low::varchar, min_long::varchar, max_long::varchar,
  sum_double, min_double, max_double, min_text, max_text, first_expiry`
/** Of one column: what an aggregation needs of it. */
const OF_COLUMN = { AVG: 'sum', SUM: 'sum', MIN: 'min', MAX: 'max' } as const

/** A statement and how the bucket numbers in its rows become those of the query. */
export interface BucketQuery {
  readonly sql: string
  readonly agg: Exclude<HistoryQuery['agg'], 'NONE'>
  readonly kinds: Kinds
  readonly bucketOf: (number: number) => number
}

/**
 * The statements for the buckets between `borders`. `from` answers the table and its condition for a range of time.
 */
export function bucketQueries(
  agg: Exclude<HistoryQuery['agg'], 'NONE'>,
  kinds: Kinds,
  borders: readonly number[],
  from: (startTs: number, endTs: number) => string,
): BucketQuery[] {
  const last = borders.length - 1
  const grid = gridOf(borders)
  if (grid !== undefined) {
    const bucketOf = (found: number) => Math.max(0, Math.min(found - grid.shift, last - 1))
    const buckets = evenBuckets(grid, agg !== 'COUNT' && kinds === 'ALL')
    const sql = statement(agg, kinds, buckets, from(borders[0] ?? 0, borders[last] ?? 0))
    return [{ sql, agg, kinds, bucketOf }]
  }
  const queries: BucketQuery[] = []
  for (let start = 0; start < last; start += MAX_UNEVEN_BORDERS) {
    const part = borders.slice(start, start + MAX_UNEVEN_BORDERS + 1)
    const buckets = { ofRow: choice(part, 0, part.length - 2), sampled: '', number: 'bucket' }
    const sql = statement(agg, kinds, buckets, from(part[0] ?? 0, part[part.length - 1] ?? 0))
    queries.push({ sql, agg, kinds, bucketOf: (found) => found + start })
  }
  return queries
}

/** How a statement groups rows. */
interface Buckets {
  /** What rows of one bucket have in common. */
  readonly ofRow: string
  /** What follows the condition. */
  readonly sampled: string
  /** The bucket's number, of what its rows have in common. */
  readonly number: string
}

/** Samples that begin at a given time cannot be split, as by the kind of value. */
function evenBuckets({ origin, step }: Grid, isSplit: boolean): Buckets {
  const numberOf = (time: string): string => `(cast(${time} as long) - ${origin}000) / ${step}000`
  const isSampled = !isSplit && isInRange(step) && origin >= MIN_TS && origin <= MAX_SAMPLED_FROM
  if (!isSampled) return { ofRow: numberOf('ts'), sampled: '', number: 'bucket' }
  return { ofRow: 'ts', sampled: `sample by (${step} + 0) T from ${isoOf(origin)}`, number: numberOf('bucket') }
}

function statement(agg: BucketQuery['agg'], kinds: Kinds, buckets: Buckets, from: string): string {
  const [figures, told] = figuresOf(agg, kinds)
  const { ofRow, sampled, number } = buckets
  return `select ${number} bucket, ${told} from (select ${ofRow} bucket, ${figures} from ${from} ${sampled})`
}

/** What QuestDB computes, and how it tells of it. */
function figuresOf(agg: BucketQuery['agg'], kinds: Kinds): readonly [string, string] {
  if (agg === 'COUNT') return [`count() n, ${FIRST_EXPIRY}`, 'n, first_expiry']
  if (kinds === 'ALL') return [FIGURES, EXACT]
  const figure = OF_COLUMN[agg]
  const ofDoubles = `count() n, count(dbl_v) doubles, ${figure}(dbl_v) double_figure`
  if (kinds === 'DOUBLES') return [`${ofDoubles}, ${FIRST_EXPIRY}`, 'n, doubles, double_figure, first_expiry']
  const [mean, meanOf] = figure === 'sum' ? [', mean', ', avg(long_v) mean'] : ['', '']
  return [
    `${ofDoubles}, count(long_v) longs, ${figure}(long_v) long_figure${meanOf}, ${FIRST_EXPIRY}`,
    `n, doubles, double_figure, longs, long_figure::varchar${mean}, first_expiry`,
  ]
}

interface Grid {
  readonly origin: number
  readonly step: number
  readonly shift: number
}

/**
 * Where all borders but the first and the last lie at one distance: buckets by division, the first one `shift`. Both ends may
 * be cut short or, the last one, be longer.
 */
function gridOf(borders: readonly number[]): Grid | undefined {
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

/** Whether some of the row's points have expired by that time, Unix ms: of those that never do the column is null. */
export function hasExpired(row: Row, now: number): boolean {
  const expiry = row.at(-1)
  return typeof expiry === 'number' && expiry <= now
}

/** Adds a row of a bucket query to its bucket; false where the bucket holds more than such a row tells. */
export function addRow(buckets: (Aggregate | undefined)[], query: BucketQuery, row: Row): boolean {
  const found = query.agg === 'COUNT' ? Aggregate.of({ count: Number(row[1]) }) : foundIn(query, row)
  if (found === undefined) return false
  const bucket = query.bucketOf(Number(row[0]))
  const aggregate = (buckets[bucket] ??= new Aggregate())
  aggregate.merge(found)
  if (query.kinds === 'ALL' && query.agg !== 'COUNT' && row[1] === KIND.STRING) addTexts(aggregate, row)
  return true
}

/** The cheapest statement that would have told as much as these rows. */
export function kindsOf({ agg, kinds }: BucketQuery, rows: readonly Row[]): Kinds {
  if (agg === 'COUNT' || kinds === 'DOUBLES') return kinds
  if (kinds === 'NUMBERS') return rows.every(([, n, doubles]) => n === doubles) ? 'DOUBLES' : 'NUMBERS'
  return rows.every(([, kind]) => kind === KIND.DOUBLE || kind === KIND.LONG) ? 'NUMBERS' : 'ALL'
}

function foundIn({ agg, kinds }: BucketQuery, row: Row): Aggregate | undefined {
  if (kinds === 'ALL') return aggregateOf(row)
  const [, n, doubles, doubleFigure, ...others] = row
  const [longs, longFigure, mean] = kinds === 'NUMBERS' ? others : [0]
  const figures = { count: Number(n), doubles: Number(doubles), longs: Number(longs) }
  if (figures.count !== figures.doubles + figures.longs) return undefined
  const isSum = agg === 'AVG' || agg === 'SUM'
  if (isSum && figures.longs > 0 && !(Math.abs(Number(mean)) * figures.longs < SURE_SUM)) return undefined
  return Aggregate.of({
    count: figures.count,
    ...(figures.doubles > 0 ? { doubles: alone(figures.doubles, overflowing(doubleFigure)) } : {}),
    ...(figures.longs > 0 ? { longs: alone(figures.longs, longSum(integer(longFigure))) } : {}),
  })
}

/** The one figure that was asked for in the place of all. */
function alone<Value>(count: number, figure: Value): FiguresOf<Value> {
  return { count, sum: figure, min: figure, max: figure }
}

function aggregateOf([, kind, n, longs, high, low, minLong, maxLong, sumDouble, minDouble, maxDouble]: Row): Aggregate {
  const count = Number(n)
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
  return Aggregate.of({ count, doubles: alone(count, value) })
}

/** A sum beyond the largest double is answered as null. */
function overflowing(sum: unknown): number {
  return sum === null || sum === undefined ? NaN : Number(sum)
}

function addTexts(aggregate: Aggregate, [, , n, , , , , , , , , least, greatest]: Row): void {
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
