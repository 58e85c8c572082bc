/**
 * `ts_kv` in pieces by time (`rule-engine.md` 10.3): made when a point needs one, dropped whole when its time to live is over. A
 * time far from now, and every time for which a piece cannot be made, lies in the default piece: correct all the same, only
 * slower to clean.
 */
import { resultOf, type PostgresConnection, type PostgresQuery } from '../../postgres/connection.ts'
import { postgresError, serverReport } from '../../postgres/errors.ts'

export const PARTITIONINGS = ['DAYS', 'MONTHS', 'YEARS', 'INDEFINITE'] as const
export type Partitioning = (typeof PARTITIONINGS)[number]

/** UTC borders, Unix ms. */
export interface TimeRange {
  readonly name: string
  readonly start: number
  /** Exclusive. */
  readonly end: number
}

/** "tskv": one process at a time makes or drops pieces. */
const PARTITION_LOCK = 0x74736b76
/** Each is a table that every query's plan looks at. */
const MAX_PARTITIONS = 1_000
const YEAR_MS = 366 * 86_400_000
/** Around now: a device that sends any time must not make a table for each. */
const PAST_MS = 20 * YEAR_MS
const FUTURE_MS = YEAR_MS
/** How long a change of the pieces waits for running statements; those behind it wait too. */
const LOCK_TIMEOUT = '3s'
/** The default piece holds rows of the range · the range overlaps a piece of another size. */
const STAYS_AS_IT_IS = new Set(['23514', '42P17'])

/** The piece that a time belongs to; undefined where there are none. */
export function rangeOf(partitioning: Partitioning, ts: number): TimeRange | undefined {
  if (partitioning === 'INDEFINITE') return undefined
  const date = new Date(ts)
  const year = date.getUTCFullYear()
  const month = partitioning === 'YEARS' ? 0 : date.getUTCMonth()
  const day = partitioning === 'DAYS' ? date.getUTCDate() : 1
  const parts = [year, month + 1, day].slice(0, { YEARS: 1, MONTHS: 2, DAYS: 3 }[partitioning])
  const name = ['ts_kv', ...parts.map((part) => String(part).padStart(2, '0'))].join('_')
  const next = { YEARS: [year + 1, 0, 1], MONTHS: [year, month + 1, 1], DAYS: [year, month, day + 1] } as const
  const [nextYear, nextMonth, nextDay] = next[partitioning]
  return { name, start: Date.UTC(year, month, day), end: Date.UTC(nextYear, nextMonth, nextDay) }
}

export class Partitions {
  private readonly connection: PostgresConnection
  private readonly partitioning: Partitioning
  private readonly clock: { now(): number }
  /** Ranges that need no more care, by name: made, found, or left to the default piece. */
  private readonly settled = new Set<string>()
  private making: Promise<void> = Promise.resolve()

  constructor(connection: PostgresConnection, partitioning: Partitioning, clock: { now(): number }) {
    this.connection = connection
    this.partitioning = partitioning
    this.clock = clock
  }

  /** Makes the pieces for these times where that can be. Rejects with one of `PostgresErrors`. */
  async ensure(times: Iterable<number>): Promise<void> {
    const absent = this.absent(times)
    if (absent.length === 0) return
    const made = this.making.then(async () => {
      for (const range of absent) if (!this.settled.has(range.name)) await this.make(range)
    })
    this.making = made.catch(() => undefined)
    await made
  }

  /** Drops the pieces that end before the time; resolves with their names. What is busy stays for the next time. */
  async dropBefore(ts: number): Promise<readonly string[]> {
    const dropped: string[] = []
    for (const name of await this.names()) {
      const range = rangeOfName(name)
      if (range === undefined || range.end > ts) continue
      try {
        await this.change([{ text: `drop table if exists ${name}` }])
        dropped.push(name)
        this.settled.delete(name)
      } catch (error) {
        const failure = postgresError(error)
        if (failure.code !== 'postgres.CONFLICT') throw failure
      }
    }
    return dropped
  }

  private absent(times: Iterable<number>): readonly TimeRange[] {
    if (this.partitioning === 'INDEFINITE') return []
    const now = this.clock.now()
    const absent = new Map<string, TimeRange>()
    let last: TimeRange | undefined
    for (const ts of times) {
      if ((last !== undefined && ts >= last.start && ts < last.end) || ts < Math.max(0, now - PAST_MS)) continue
      if (ts > now + FUTURE_MS) continue
      last = rangeOf(this.partitioning, ts)
      if (last !== undefined && !this.settled.has(last.name)) absent.set(last.name, last)
    }
    return [...absent.values()]
  }

  private async make({ name, start, end }: TimeRange): Promise<void> {
    const names = await this.names()
    if (!names.includes(name) && names.length < MAX_PARTITIONS) {
      try {
        await this.change([
          { text: `create table if not exists ${name} (like ts_kv including all)` },
          { text: `alter table ts_kv attach partition ${name} for values from (${start}) to (${end})` },
        ])
      } catch (error) {
        const report = error instanceof Error ? serverReport(error.cause) : undefined
        const wasMade = (await this.names()).includes(name)
        if (!wasMade && (report === undefined || !STAYS_AS_IT_IS.has(report.code))) throw error
      }
    }
    if (this.settled.size >= 2 * MAX_PARTITIONS) this.settled.clear()
    this.settled.add(name)
  }

  private async change(steps: readonly PostgresQuery[]): Promise<void> {
    const outcomes = await this.connection.queries([
      { text: 'begin' },
      { text: `set local lock_timeout = '${LOCK_TIMEOUT}'` },
      { text: `select pg_advisory_xact_lock(${PARTITION_LOCK})` },
      ...steps,
      { text: 'commit' },
    ])
    for (const outcome of outcomes) resultOf(outcome)
  }

  private async names(): Promise<readonly string[]> {
    const { rows } = await this.connection.query<{ name: string }>({
      name: 'partitions',
      text: `select pieces.relname::text as name from pg_inherits
        join pg_class pieces on pieces.oid = inhrelid where inhparent = 'ts_kv'::regclass`,
    })
    return rows.map(({ name }) => name)
  }
}

/** Undefined for the default piece. */
function rangeOfName(name: string): TimeRange | undefined {
  const [, year, month, day] = /^ts_kv_(\d{4})(?:_(\d\d))?(?:_(\d\d))?$/.exec(name) ?? []
  if (year === undefined) return undefined
  const partitioning = day !== undefined ? 'DAYS' : month !== undefined ? 'MONTHS' : 'YEARS'
  return rangeOf(partitioning, Date.UTC(Number(year), Number(month ?? 1) - 1, Number(day ?? 1)))
}
