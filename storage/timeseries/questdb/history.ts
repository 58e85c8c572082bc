/** Reads of one entity: raw points and buckets, computed by QuestDB, with deletions and expired points left out in its query. */
import type { HistoryQuery } from '../../../model/telemetry-query.ts'
import type { DataPoint } from '../../../model/value.ts'
import { Aggregate } from '../embedded/aggregate.ts'
import type { PointsByKey } from '../store.ts'
import { addRow, bucketQueries, hasExpired, KINDS, kindsOf, type BucketQuery, type Kinds } from './buckets.ts'
import { lruMap } from '../../../model/lru-map.ts'
import { TimeSeriesErrors } from '../errors.ts'
import { QuestDbErrors } from './errors.ts'
import type { Deletion, PostgresCompanion, ReadBasis } from './postgres-companion.ts'
import { conditionOf, entityCondition, isoOf, KIND, MAX_TS, MIN_TS, valueOf } from './rows.ts'
import { quoted } from './schema.ts'
import type { QuestDbServer, Row } from './server.ts'

/** Keys of one query that are read at the same time. */
const PARALLEL_KEYS = 4

/**
 * Code points of a text that are asked for at once: QuestDB answers no value that is longer than its send buffer, 2 MiB, and as JSON a
 * code point may take six bytes.
 */
const PIECE = 250_000
/** LONGs beyond this come as text: a number of JSON would be rounded. */
const EXACT = Number.MAX_SAFE_INTEGER
const IS_LONG_TEXT = `length(text_v) > ${PIECE}`
/** Few, as each costs both sides something a point: a number is the value, or the length of a text that is not there. */
const POINT_COLUMNS = `cast(ts as long) / 1000 t, kind,
  case when ${IS_LONG_TEXT} then cast(length(text_v) as double) when long_v = null then dbl_v
    when long_v between -${EXACT} and ${EXACT} then cast(long_v as double) else null end number,
  case when ${IS_LONG_TEXT} then null when long_v between -${EXACT} and ${EXACT} then null
    when long_v != null then long_v::varchar else text_v end text, expires`

/**
 * A query leaves out nothing that has expired, or what has to the hour, and answers when the first of what it found does; with the time itself it is
 * asked again where that has passed. QuestDB compiles each new text, which costs half of what an average over a million points does, and each
 * condition costs a tenth (`npm run bench -- query`).
 */
const EXPIRY_STEP_MS = 3_600_000
/** Before any point expires. */
const EVERYTHING = -Infinity

export interface HistoryOptions {
  readonly server: QuestDbServer
  readonly companion: PostgresCompanion
  readonly table: string
  /** Points of one answer, all keys together. */
  readonly maxAnswerPoints: number
  /** Pieces of long texts in one answer, a key. */
  readonly maxLongTextPieces: number
}

/** Whose kind is remembered. */
const MAX_SERIES = 10_000

/** What one answer may still hold. */
interface Room {
  left: number
}

export class HistoryReader {
  private readonly options: HistoryOptions
  /** What was last found in a series. */
  private readonly kinds = lruMap<Kinds>(MAX_SERIES)
  /** In which expired points were found. */
  private readonly expiring = lruMap<true>(MAX_SERIES)

  constructor(options: HistoryOptions) {
    this.options = options
  }

  /** As {@link TimeSeriesStore.history}, for what is visible now. Rejects BORDERS_MISSING, ANSWER_TOO_BIG and what the servers say. */
  async read(
    entityId: string,
    query: HistoryQuery,
    readBasis: Pick<ReadBasis, 'deletions' | 'numbers'>,
    now: number,
  ): Promise<PointsByKey> {
    assertBorders(query)
    const keys = [...new Set(query.keys)]
    const room: Room = { left: this.options.maxAnswerPoints }
    const found = new Map<string, readonly DataPoint[]>()
    for (let start = 0; start < keys.length; start += PARALLEL_KEYS) {
      const some = keys.slice(start, start + PARALLEL_KEYS)
      const answers = await Promise.all(
        some.map((key) => {
          const deletions = readBasis.deletions.get(key) ?? []
          return this.readKey({ entityId, key, number: readBasis.numbers.get(key), deletions, now }, query, room)
        }),
      )
      for (const [index, key] of some.entries()) {
        const points = answers[index] ?? []
        if (points.length > 0) found.set(key, points)
      }
    }
    return found
  }

  /** Of the keys that rows of an entity have: those that are deleted or expired too. */
  async keyNumbers(entityId: string): Promise<readonly number[]> {
    const { server, table } = this.options
    const rows = await server.query(`select distinct key from ${quoted(table)} where ${entityCondition(entityId)}`)
    return rows.map(([key]) => Number(key))
  }

  private async readKey(series: Series, query: HistoryQuery, room: Room): Promise<readonly DataPoint[]> {
    const points = query.agg === 'NONE' ? await this.points(series, query, room) : await this.buckets(series, query)
    room.left -= points.length
    if (room.left < 0) throw this.tooBig()
    return points
  }

  private async points(series: Series, query: HistoryQuery, room: Room): Promise<readonly DataPoint[]> {
    const { startTs, endTs, order } = query
    // One more than there is room for tells that it is too much.
    const limit = Math.min(query.limit, Math.max(0, room.left) + 1)
    const rowsOf = async (now: number): Promise<readonly Row[]> => {
      const from = this.from({ ...series, now }, startTs, endTs)
      const sql = `select ${POINT_COLUMNS} from ${from} order by ts ${order} limit ${limit}`
      return from === undefined ? [] : this.options.server.query(sql)
    }
    const [rows, far] = await Promise.all([
      this.asOf(series, rowsOf, (found) => found.some((row) => hasExpired(row, series.now))),
      this.farPoints(series, { startTs, endTs, order, limit }),
    ])
    const held = await this.heldPoints(series, rows)
    if (far.length === 0) return held
    const all = [...far, ...held].sort((a, b) => (order === 'ASC' ? a.ts - b.ts : b.ts - a.ts))
    return all.slice(0, query.limit)
  }

  private async heldPoints(series: Series, rows: readonly Row[]): Promise<DataPoint[]> {
    const points: DataPoint[] = []
    let pieces = 0
    for (const row of rows) {
      const [ts, kind, length, text] = row
      if (typeof length !== 'number' || text !== null || (kind !== KIND.STRING && kind !== KIND.JSON)) {
        points.push(pointOf(series.key, row))
        continue
      }
      pieces += Math.ceil(length / PIECE)
      if (pieces > this.options.maxLongTextPieces) {
        const limit = this.options.maxLongTextPieces * PIECE
        throw TimeSeriesErrors.ANSWER_TOO_BIG({ limit, unit: 'characters of long texts' })
      }
      points.push(pointOf(series.key, [ts, kind, null, await this.longText(series, Number(ts), length)]))
    }
    return points
  }

  /** A text that does not fit one answer, piece by piece. */
  private async longText({ entityId, number }: Series, ts: number, length: number): Promise<string> {
    const { server, table } = this.options
    let text = ''
    if (number === undefined) return text
    for (let start = 1; start <= length; start += PIECE) {
      const [row] = await server.query(
        `select substring(text_v, ${start}, ${PIECE}), length(text_v) from ${quoted(table)}
          where ${conditionOf(entityId, number)} and ts = ${isoOf(ts)}`,
      )
      const [piece, total] = row ?? []
      if (typeof piece !== 'string' || total !== length) {
        throw QuestDbErrors.FAILED({ url: server.name, reason: 'a text was replaced while it was read' })
      }
      text += piece
    }
    return text
  }

  private async buckets(series: Series, query: HistoryQuery): Promise<readonly DataPoint[]> {
    const { agg, borders = [] } = query
    if (agg === 'NONE') throw TimeSeriesErrors.BORDERS_MISSING({ agg })
    const low = Math.max(query.startTs, borders[0] ?? 0)
    const high = Math.min(query.endTs, borders[borders.length - 1] ?? 0)
    const limit = this.options.maxAnswerPoints + 1
    const far = await this.farPoints(series, { startTs: low, endTs: high, order: 'ASC', limit })
    if (far.length === limit) throw this.tooBig()
    const none = `${quoted(this.options.table)} where 1 <> 1`
    const aggregatesAt = (now: number) => {
      const from = (startTs: number, endTs: number): string =>
        this.from({ ...series, now }, Math.max(low, startTs), Math.min(high, endTs)) ?? none
      return this.aggregates(series, (kinds) => bucketQueries(agg, kinds, borders, from))
    }
    const aggregates = await this.asOf(series, aggregatesAt, (answer) => answer === 'expired')
    if (aggregates === 'expired') throw new TypeError('QuestDB counted points that it was told to leave out')
    for (const { ts, type, value } of far) (aggregates[bucketAt(borders, ts)] ??= new Aggregate()).add(type, value)
    return resultsOf(series.key, agg, borders, aggregates)
  }

  /** Asks as of a time whose text was used before, and as of now where the answer holds something that has expired. */
  private async asOf<Answer>(
    { entityId, key, now }: Series,
    ask: (now: number) => Promise<Answer>,
    isOver: (answer: Answer) => boolean,
  ): Promise<Answer> {
    const series = `${entityId} ${key}`
    if (this.expiring.get(series) === undefined) {
      const answer = await ask(EVERYTHING)
      if (!isOver(answer)) return answer
      this.expiring.set(series, true)
    }
    const rounded = Math.floor(now / EXPIRY_STEP_MS) * EXPIRY_STEP_MS
    const answer = await ask(rounded)
    return rounded < now && isOver(answer) ? ask(now) : answer
  }

  /** By statements for the kinds of value that were last found in the series, then by those that tell of more. */
  private async aggregates(
    { entityId, key, now }: Series,
    queriesOf: (kinds: Kinds) => readonly BucketQuery[],
  ): Promise<(Aggregate | undefined)[] | 'expired'> {
    const series = `${entityId} ${key}`
    const first = KINDS.indexOf(this.kinds.get(series) ?? 'NUMBERS')
    for (const kinds of KINDS.slice(first)) {
      const found = await this.aggregatesOf(series, queriesOf(kinds), now)
      if (found !== undefined) return found
    }
    return []
  }

  /** Undefined where there are values of other kinds than the statements can tell of; `expired`: of points that are gone too. */
  private async aggregatesOf(
    series: string,
    queries: readonly BucketQuery[],
    now: number,
  ): Promise<(Aggregate | undefined)[] | 'expired' | undefined> {
    const aggregates: (Aggregate | undefined)[] = []
    const needed: Kinds[] = []
    for (const part of queries) {
      const rows = await this.options.server.query(part.sql)
      if (rows.some((row) => hasExpired(row, now))) return 'expired'
      for (const row of rows) if (!addRow(aggregates, part, row)) return undefined
      if (rows.length > 0 && part.agg !== 'COUNT') needed.push(kindsOf(part, rows))
    }
    const widest = KINDS.findLast((kinds) => needed.includes(kinds))
    if (widest !== undefined) this.kinds.set(series, widest)
    return aggregates
  }

  /** The table and the condition for the rows of a series in [startTs, endTs); undefined where QuestDB holds none of them. */
  private from({ entityId, number, deletions, now }: Series, startTs: number, endTs: number): string | undefined {
    const low = Math.max(MIN_TS, Math.ceil(startTs))
    const high = Math.min(MAX_TS, Math.ceil(endTs) - 1)
    if (number === undefined || low > high) return undefined
    const condition = [
      `${conditionOf(entityId, number)} and ts between ${isoOf(low)} and ${isoOf(high)}`,
      now === EVERYTHING ? 'kind >= 0' : `kind >= 0 and (expires = null or expires > ${now})`,
      ...deletions.flatMap((deletion) => shownBy(deletion, low, high)),
    ]
    return `${quoted(this.options.table)} where ${condition.join(' and ')}`
  }

  private async farPoints(
    { entityId, key, now }: Series,
    range: { readonly startTs: number; readonly endTs: number; readonly limit: number; readonly order: 'ASC' | 'DESC' },
  ): Promise<readonly DataPoint[]> {
    if (range.startTs >= MIN_TS && range.endTs <= MAX_TS + 1) return []
    return this.options.companion.farPoints(entityId, key, range, now)
  }

  private tooBig(): Error {
    return TimeSeriesErrors.ANSWER_TOO_BIG({ limit: this.options.maxAnswerPoints, unit: 'points' })
  }
}

interface Series {
  /** Checked to be a UUID. */
  readonly entityId: string
  readonly key: string
  /** Undefined: nobody ever wrote a point of this key. */
  readonly number: number | undefined
  readonly deletions: readonly Deletion[]
  /** Unix ms. */
  readonly now: number
}

function assertBorders({ agg, borders }: HistoryQuery): void {
  if (agg !== 'NONE' && (borders === undefined || borders.length < 2)) throw TimeSeriesErrors.BORDERS_MISSING({ agg })
}

/** The condition for rows that a deletion does not hide; none where it is of other times. */
function shownBy({ startTs, endTs, version }: Deletion, low: number, high: number): string[] {
  const from = Math.max(low, startTs)
  const to = Math.min(high, endTs - 1)
  if (from > to) return []
  const newer = `coalesce(version, 0) >= ${version}`
  return from === low && to === high ? [newer] : [`(ts < ${isoOf(from)} or ts > ${isoOf(to)} or ${newer})`]
}

/** Of most values without an object but the point: what a read leaves behind is collected while others wait. */
function pointOf(key: string, row: Row): DataPoint {
  const ts = Number(row[0])
  const kind = row[1]
  const number = row[2]
  if (typeof number === 'number') {
    if (kind === KIND.DOUBLE) return { key, ts, type: 'DOUBLE', value: number }
    if (kind === KIND.LONG) return { key, ts, type: 'LONG', value: number }
  }
  const text = row[3]
  return { key, ts, ...valueOf(Number(kind), typeof text === 'string' ? text : null) }
}

function bucketAt(borders: readonly number[], ts: number): number {
  let low = 0
  let high = borders.length - 1
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if ((borders[middle] ?? 0) <= ts) low = middle
    else high = middle
  }
  return low
}

/** One point a non-empty bucket, at its middle, ascending. */
function resultsOf(
  key: string,
  agg: Exclude<HistoryQuery['agg'], 'NONE'>,
  borders: readonly number[],
  aggregates: readonly (Aggregate | undefined)[],
): DataPoint[] {
  const points: DataPoint[] = []
  for (const [bucket, aggregate] of aggregates.entries()) {
    const value = aggregate?.result(agg)
    if (value === undefined) continue
    const start = borders[bucket] ?? 0
    points.push({ key, ts: start + Math.floor(((borders[bucket + 1] ?? start) - start) / 2), ...value })
  }
  return points
}
