/**
 * What is told of the values of many entities as one: metrics over columns, and the entities with the highest or lowest values. Pure, and of
 * things that a thread can be sent.
 */
import { DecimalSum } from './decimal-sum.ts'
import { COLUMN_KINDS, type LatestColumn } from './latest-column.ts'

export type SummaryFunction =
  | ('MIN' | 'MAX' | 'SUM' | 'AVG' | 'COUNT' | 'COUNT_UNIQUE')
  | ('COUNT_NUMBERS' | 'MEDIAN' | 'PERCENTILE' | 'DEVIATION' | 'VARIANCE')

export interface SummaryMetric {
  /** Its place among the columns. */
  readonly column: number
  readonly function: SummaryFunction
  /** Of PERCENTILE: 0 to 100. Between two values it is interpolated. */
  readonly percentile?: number | undefined
  /** An entity without a value counts as this. */
  readonly missing?: number | undefined
}

export interface SummaryRanking {
  readonly column: number
  readonly count: number
  readonly order: 'HIGHEST' | 'LOWEST'
}

export interface SummaryJob {
  /** How many entities there are. */
  readonly size: number
  readonly columns: readonly LatestColumn[]
  /** 1 where an entity counts; absent: all do. */
  readonly selected?: Uint8Array | undefined
  readonly metrics: readonly SummaryMetric[]
  readonly rankings: readonly SummaryRanking[]
}

export interface RankedEntity {
  /** Its place among the entities. */
  readonly place: number
  readonly value: number
}

export interface SummaryResult {
  /** In the order of the metrics; null of no values, save for counts. COUNT and COUNT_UNIQUE count values of any type. */
  readonly metrics: readonly (number | null)[]
  /** In the order of the rankings, best first; of equal values the first entity is before. */
  readonly rankings: readonly (readonly RankedEntity[])[]
  /** Entities that count. */
  readonly entities: number
  /** Values that a metric or ranking would have needed as a number, and that are none: left out. */
  readonly ignored: number
}

const { BOOLEAN, LONG, STRING } = COLUMN_KINDS

export function summarized(job: SummaryJob): SummaryResult {
  const numbers = new NumberColumns(job)
  const metrics = job.metrics.map((metric) => metricOf(job, numbers, metric))
  const rankings = job.rankings.map((ranking) => ranked(numbers.of(ranking.column, undefined), ranking))
  const { selected } = job
  const entities = selected === undefined ? job.size : selected.reduce((sum, flag) => sum + flag, 0)
  return { metrics, rankings, entities, ignored: numbers.ignored }
}

/**
 * What it takes about, in microseconds of one thread: to choose where it runs. Measured by `benchmarks/aggregation`.
 */
export function summaryCostUs({ size, metrics, rankings }: SummaryJob): number {
  let nanoseconds = rankings.length * RANKING_NS
  for (const metric of metrics) nanoseconds += METRIC_NS[metric.function]
  return (size * nanoseconds) / 1000
}

/** A value of each. */
const METRIC_NS: Readonly<Record<SummaryFunction, number>> = {
  ...{ MIN: 15, MAX: 15, SUM: 60, AVG: 60, COUNT: 5, COUNT_UNIQUE: 100 },
  ...{ COUNT_NUMBERS: 10, MEDIAN: 150, PERCENTILE: 150, DEVIATION: 20, VARIANCE: 20 },
}
const RANKING_NS = 50

/** The numbers of a column with the places of their entities. */
interface Numbers {
  readonly values: Float64Array
  readonly places: Uint32Array
}

/** Each made once, whoever needs it. */
class NumberColumns {
  ignored = 0
  private readonly job: SummaryJob
  private readonly made = new Map<string, Numbers>()
  private readonly sorted = new Map<string, Float64Array>()
  /** Columns of which the values that are no numbers are counted. */
  private readonly counted = new Set<number>()

  constructor(job: SummaryJob) {
    this.job = job
  }

  of(column: number, missing: number | undefined): Numbers {
    const key = `${column} ${missing ?? ''}`
    const known = this.made.get(key)
    if (known !== undefined) return known
    const made = this.make(column, missing)
    this.made.set(key, made)
    return made
  }

  /** Ascending. */
  sortedOf(column: number, missing: number | undefined): Float64Array {
    const key = `${column} ${missing ?? ''}`
    const known = this.sorted.get(key)
    if (known !== undefined) return known
    const sorted = this.of(column, missing).values.slice().sort()
    this.sorted.set(key, sorted)
    return sorted
  }

  private make(place: number, missing: number | undefined): Numbers {
    const { size, selected, columns } = this.job
    const column = columns[place]
    if (column === undefined) throw new RangeError(`there is no column ${place}`)
    const { kinds, numbers, texts } = column
    const values = new Float64Array(size)
    const places = new Uint32Array(size)
    let count = 0
    let ignored = 0
    for (let entity = 0; entity < size; entity++) {
      if (selected !== undefined && selected[entity] !== 1) continue
      const kind = kinds[entity] ?? 0
      const held = numbers[entity] ?? 0
      const value = kind === 0 ? missing : kind < STRING ? held : kind === STRING ? numberIn(texts[held]) : undefined
      if (value === undefined) {
        if (kind !== 0) ignored++
        continue
      }
      values[count] = value
      places[count++] = entity
    }
    if (!this.counted.has(place)) this.ignored += ignored
    this.counted.add(place)
    return { values: values.subarray(0, count), places: places.subarray(0, count) }
  }
}

function numberIn(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '') return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

function metricOf(job: SummaryJob, numbers: NumberColumns, metric: SummaryMetric): number | null {
  const { column, missing } = metric
  if (metric.function === 'COUNT' || metric.function === 'COUNT_UNIQUE') return countOf(job, metric)
  const { values } = numbers.of(column, missing)
  if (metric.function === 'COUNT_NUMBERS') return values.length
  if (values.length === 0) return null
  switch (metric.function) {
    case 'MIN':
      return values.reduce((one, other) => (other < one ? other : one))
    case 'MAX':
      return values.reduce((one, other) => (other > one ? other : one))
    case 'SUM':
      return sumOf(values)
    case 'AVG':
      return sumOf(values) / values.length
    case 'MEDIAN':
      return percentile(numbers.sortedOf(column, missing), 50)
    case 'PERCENTILE':
      return percentile(numbers.sortedOf(column, missing), metric.percentile ?? 50)
    case 'DEVIATION':
      return Math.sqrt(varianceOf(values))
    case 'VARIANCE':
      return varianceOf(values)
  }
}

/** Values of any type. */
function countOf({ size, selected, columns }: SummaryJob, metric: SummaryMetric): number {
  const column = columns[metric.column]
  const distinct = metric.function === 'COUNT_UNIQUE' ? new Set<string>() : undefined
  let count = 0
  for (let entity = 0; entity < size; entity++) {
    if (selected !== undefined && selected[entity] !== 1) continue
    const text = distinct === undefined ? '' : textAt(column, entity)
    const isThere = (column?.kinds[entity] ?? 0) !== 0
    if (!isThere && metric.missing === undefined) continue
    count++
    distinct?.add(isThere ? text : numberText(metric.missing ?? 0))
  }
  return distinct?.size ?? count
}

/** As the value is written. */
function textAt(column: LatestColumn | undefined, place: number): string {
  const kind = column?.kinds[place] ?? 0
  const number = column?.numbers[place] ?? 0
  if (kind >= STRING) return column?.texts[number] ?? ''
  if (kind === BOOLEAN) return number === 1 ? 'true' : 'false'
  return kind === LONG ? String(number) : numberText(number)
}

/** A double that is whole is written with its point. */
function numberText(number: number): string {
  const text = String(number)
  return Number.isInteger(number) && !text.includes('e') ? `${text}.0` : text
}

/**
 * Numbers of few digits as they are written. Those of more come from computing, and are added as doubles with what each addition rounded off
 * (Neumaier): as big integers 100,000 of them took a sixth of a second.
 */
function sumOf(values: Float64Array): number {
  const short = new DecimalSum()
  let sum = 0
  let lost = 0
  let hasLong = false
  for (const value of values) {
    if (short.addShort(value)) continue
    hasLong = true
    const next = sum + value
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum
    sum = next
  }
  if (!hasLong) return short.value
  const whole = sum + short.value
  // Beyond the largest double nothing was lost but all.
  return Number.isFinite(whole) ? whole + lost : whole
}

/** Of the values as a whole population: Welford's method, which loses nothing where all are large and near each other. */
function varianceOf(values: Float64Array): number {
  let mean = 0
  let squares = 0
  let count = 0
  for (const value of values) {
    const distance = value - mean
    mean += distance / ++count
    squares += distance * (value - mean)
  }
  return squares / count
}

function percentile(sorted: Float64Array, percent: number): number {
  const rank = ((sorted.length - 1) * percent) / 100
  const below = sorted[Math.floor(rank)] ?? 0
  const above = sorted[Math.ceil(rank)] ?? 0
  const part = rank - Math.floor(rank)
  // Where both are the same nothing may be added to it.
  return below === above ? below : below * (1 - part) + above * part
}

/** Small rankings are not sorted again and again. */
const MIN_SORTED = 1_000

function ranked({ values, places }: Numbers, { count, order }: SummaryRanking): readonly RankedEntity[] {
  const sign = order === 'HIGHEST' ? -1 : 1
  const compare = (a: number, b: number): number => {
    const one = values[a] ?? 0
    const other = values[b] ?? 0
    if (one !== other) return one < other ? -sign : sign
    return a - b
  }
  let best: number[] = []
  let worst: number | undefined
  for (let index = 0; index < values.length; index++) {
    if (worst !== undefined && compare(index, worst) > 0) continue
    best.push(index)
    if (best.length < 2 * count + MIN_SORTED) continue
    best = best.sort(compare).slice(0, count)
    worst = best.at(-1)
  }
  return best
    .sort(compare)
    .slice(0, count)
    .map((index) => ({ place: places[index] ?? 0, value: values[index] ?? 0 }))
}
