/** Time series in PostgreSQL: history in `ts_kv`, latest values in `ts_kv_latest`, both in one transaction. */
import type { Clock, TimerHandle } from '../../../model/clock.ts'
import { errorText } from '../../../model/errors.ts'
import type { Erased } from '../../../model/erased.ts'
import type { HistoryQuery } from '../../../model/telemetry-query.ts'
import type { DataPoint } from '../../../model/value.ts'
import { intArray } from '../../postgres/binary-array.ts'
import { restOfTables } from '../../postgres/erased.ts'
import { PostgresConnection } from '../../postgres/connection.ts'
import { migratePostgres } from '../../postgres/migrations.ts'
import { openPostgres, type OpenSettings } from '../../postgres/open.ts'
import { SnapshotReads } from '../../postgres/snapshot-reads.ts'
import type {
  CommitSequence,
  DeletedKeys,
  DeleteRange,
  PointsByKey,
  PointsWrite,
  Snapshot,
  TimeSeriesStore,
} from '../store.ts'
import { checkWrites, isEntity } from './checks.ts'
import { cleanUp, type CleanedUp } from './clean-up.ts'
import { deleteEntity, deleteRange, removeEntity, removeRange, type Deletion } from './deletes.ts'
import { TimeSeriesErrors } from '../errors.ts'
import { bucketPlan, RawPoints, rawRows, type PlanRow, type RawBounds, type RawRow } from './history-query.ts'
import { HISTORY } from './history-rows.ts'
import { KEY_DICTIONARY, KeyDictionary } from './key-dictionary.ts'
import {
  LATEST_VALUES,
  latestOfMany,
  latestPoints,
  readLatest,
  readLatestOfMany,
  readTextBytes,
  type OwnedLatest,
  type StoredLatest,
} from './latest-rows.ts'
import { LargeReads } from './large-reads.ts'
import { Partitions, type Partitioning } from './partitions.ts'
import { LaneWriter } from './writer.ts'

export interface PostgresTimeSeriesOptions extends OpenSettings {
  readonly clock: Clock
  /** Size of the pieces of `ts_kv` (`SQL_POSTGRES_TS_KV_PARTITIONING`); another one than before holds from now on. */
  readonly partitioning?: Partitioning
  /** Seconds after which history goes; 0 keeps for ever (`SQL_TTL_TS_TS_KEY_VALUE_TTL`). */
  readonly ttlSeconds?: number
  /** How often what outlived its time is deleted (`SQL_TTL_TS_EXECUTION_INTERVAL`). */
  readonly cleanUpEveryMs?: number
  /** Hears of a clean-up that failed; the next one tries again. */
  readonly report?: (text: string, fields: Readonly<Record<string, unknown>>) => void
  /**
   * At least three: one keeps house, of the others no fewer write than read. Up to three more are opened while old points are deleted
   * and large answers are read.
   */
  readonly connections?: number
  /** Most points that wait to be written, all lanes together; more is refused as busy. */
  readonly maxPendingPoints?: number
  /** Points of one answer, all keys together. */
  readonly maxAnswerPoints?: number
  /** Bytes of one answer of raw points: those of the texts, and 64 a point. */
  readonly maxAnswerBytes?: number
}

export interface PostgresFigures {
  /** Points that wait for their transaction. */
  readonly pendingPoints: number
  /** Transactions of points so far, refused ones too. */
  readonly groupsWritten: number
  /** Pieces dropped and rows deleted because their time was over, since the start. */
  readonly partitionsDropped: number
  readonly rowsExpired: number
}

export interface PostgresTimeSeries extends TimeSeriesStore {
  figures(): PostgresFigures
  /** Deletes what outlived its time, as happens by itself now and then. */
  cleanUp(): Promise<CleanedUp>
}

export const POSTGRES_TIME_SERIES_DEFAULTS = {
  partitioning: 'MONTHS',
  ttlSeconds: 0,
  cleanUpEveryMs: 86_400_000,
  connections: 8,
  maxPendingPoints: 200_000,
  maxAnswerPoints: 500_000,
  maxAnswerBytes: 64 * 2 ** 20,
} as const

/** Of raw points: what is asked for in one go. */
const SMALL_ANSWER: RawBounds = { maxRows: 2_000, maxBytes: 2 ** 20 }
/** Each holds one answer in memory. */
const LARGE_READS_AT_ONCE = 2
/** Points of one transaction at most. */
const MAX_GROUP_POINTS = 10_000

type Settings = Required<Omit<PostgresTimeSeriesOptions, keyof OpenSettings | 'report'>> &
  Pick<PostgresTimeSeriesOptions, 'report'>

/** Raises the schema and connects. Throws `postgres.UNAVAILABLE` where no server answers in time, `postgres.SCHEMA_NEWER`. */
export async function openPostgresTimeSeries(options: PostgresTimeSeriesOptions): Promise<PostgresTimeSeries> {
  const settings: Settings = { ...POSTGRES_TIME_SERIES_DEFAULTS, ...options }
  const connection = await openPostgres(options)
  try {
    for (const component of [KEY_DICTIONARY, LATEST_VALUES, HISTORY]) {
      await migratePostgres(connection, component, settings.clock.now())
    }
  } catch (error) {
    await connection.close()
    throw error
  }
  const others = Math.max(2, settings.connections - 1)
  const writing = Math.ceil(others / 2)
  const connections = Array.from({ length: others }, () => new PostgresConnection(options))
  return new PostgresStore(
    { keeping: connection, cleaning: new PostgresConnection(options), writing: connections.slice(0, writing) },
    new SnapshotReads(connections.slice(writing)),
    new LargeReads(Array.from({ length: LARGE_READS_AT_ONCE }, () => new PostgresConnection(options))),
    settings,
  )
}

interface Connections {
  /** For the numbers of keys and the pieces of `ts_kv`: what writes wait for. */
  readonly keeping: PostgresConnection
  /** For what removes many rows: opened when it is needed, its statements may take long. */
  readonly cleaning: PostgresConnection
  readonly writing: readonly PostgresConnection[]
}

/** Of which the commit alone is asked for. */
const NOTHING = { name: 'nothing', text: 'select where false' }

class PostgresStore implements PostgresTimeSeries {
  private readonly settings: Settings
  private readonly connections: Connections
  private readonly keyNumbers: KeyDictionary
  private readonly partitions: Partitions
  private readonly writer: LaneWriter
  private readonly reads: SnapshotReads
  private readonly largeReads: LargeReads
  private readonly deletions = new Set<Promise<unknown>>()
  private partitionsDropped = 0
  private rowsExpired = 0
  private timer: TimerHandle | undefined
  private cleaning: Promise<unknown> | undefined
  private closing: Promise<void> | undefined

  constructor(connections: Connections, reads: SnapshotReads, largeReads: LargeReads, settings: Settings) {
    const { keeping, writing } = connections
    this.settings = settings
    this.connections = connections
    this.keyNumbers = new KeyDictionary(keeping)
    this.partitions = new Partitions(keeping, settings.partitioning, settings.clock)
    this.writer = new LaneWriter(writing, this.keyNumbers, this.partitions, settings.clock, {
      maxPendingPoints: Math.ceil(settings.maxPendingPoints / writing.length),
      maxGroupPoints: MAX_GROUP_POINTS,
    })
    this.reads = reads
    this.largeReads = largeReads
    this.cleanUpLater()
  }

  async write(writes: readonly PointsWrite[]): Promise<CommitSequence> {
    checkWrites(writes)
    return this.writer.write(writes)
  }

  async history(entityId: string, query: HistoryQuery): Promise<Snapshot<PointsByKey>> {
    const keys = isEntity(entityId) ? query.keys : []
    return this.withNumbers(keys, (numbers) => this.historyOf(entityId, query, numbers))
  }

  private async historyOf(
    entityId: string,
    query: HistoryQuery,
    numbers: ReadonlyMap<string, number>,
  ): Promise<Snapshot<PointsByKey>> {
    const keyOf = new Map([...numbers].map(([key, number]) => [number, key]))
    const now = this.settings.clock.now()
    const { agg } = query
    if (agg === 'NONE') return this.rawHistory(entityId, query, keyOf, now)
    const plan = bucketPlan(entityId, [...keyOf.keys()], query, agg, now)
    const { rows, sequence } = await this.reads.read<PlanRow>(plan.query)
    const limit = this.settings.maxAnswerPoints
    if (rows.length > limit) throw TimeSeriesErrors.ANSWER_TOO_BIG({ limit, unit: 'points' })
    return { value: plan.pointsOf(rows, keyOf), sequence }
  }

  /** A small answer comes at once. What turns out to be larger is read from the start, in batches. */
  private async rawHistory(
    entityId: string,
    query: HistoryQuery,
    keyOf: ReadonlyMap<number, string>,
    now: number,
  ): Promise<Snapshot<PointsByKey>> {
    const ask = (bounds: RawBounds) => rawRows(entityId, [...keyOf.keys()], query, now, bounds)
    const { maxAnswerPoints: maxRows, maxAnswerBytes: maxBytes } = this.settings
    const few = {
      maxRows: Math.min(SMALL_ANSWER.maxRows, maxRows),
      maxBytes: Math.min(SMALL_ANSWER.maxBytes, maxBytes),
    }
    const { rows, sequence } = await this.reads.read<RawRow>(ask(few))
    const small = new RawPoints(query, keyOf)
    if (!isBeyond(rows, few)) {
      small.add(rows)
      return { value: small.points(), sequence }
    }
    const large = new RawPoints(query, keyOf)
    let count = 0
    const largeSequence = await this.largeReads.read<RawRow>(ask({ maxRows, maxBytes }), (batch) => {
      count += batch.length
      if (count > maxRows) throw TimeSeriesErrors.ANSWER_TOO_BIG({ limit: maxRows, unit: 'points' })
      if (isBeyond(batch, { maxRows, maxBytes })) {
        throw TimeSeriesErrors.ANSWER_TOO_BIG({ limit: maxBytes, unit: 'bytes' })
      }
      large.add(batch)
    })
    return { value: large.points(), sequence: largeSequence }
  }

  async latest(entityId: string, keys: readonly string[] | undefined): Promise<Snapshot<readonly DataPoint[]>> {
    const read = async (numbers: Buffer | undefined) => {
      const { rows, sequence } = await this.reads.read<StoredLatest>(readLatest(knownEntity(entityId), numbers))
      return { value: latestPoints(rows), sequence }
    }
    return keys === undefined
      ? read(undefined)
      : this.withNumbers(keys, (numbers) => read(intArray([...numbers.values()])))
  }

  async latestOfMany(
    entityIds: readonly string[],
    keys: readonly string[],
  ): Promise<Snapshot<ReadonlyMap<string, readonly DataPoint[]>>> {
    return this.withNumbers(keys, async (numbers) => {
      const query = readLatestOfMany(entityIds.filter(isEntity), intArray([...numbers.values()]))
      const { rows, sequence } = await this.reads.read<OwnedLatest>(query)
      return { value: latestOfMany(rows), sequence }
    })
  }

  async latestTextBytes(entityIds: readonly string[], key: string): Promise<number> {
    const numbers = intArray([...(await this.keyNumbers.find(new Set([key]))).values()])
    const { rows } = await this.reads.read<{ bytes: number | bigint }>(
      readTextBytes(entityIds.filter(isEntity), numbers),
    )
    return Number(rows[0]?.bytes ?? 0)
  }

  async keys(entityId: string): Promise<readonly string[]> {
    const { rows } = await this.reads.read<{ key: string }>({
      name: 'latest-keys',
      text: `select dictionary.key from ts_kv_latest latest join key_dictionary dictionary on key_id = latest.key
        where entity_id = $1`,
      parameters: [knownEntity(entityId)],
    })
    return rows.map(({ key }) => key).sort()
  }

  async storedKeys(entityId: string): Promise<readonly string[]> {
    const { rows } = await this.reads.read<{ key: string }>({
      name: 'stored-keys',
      // From key to key in the index, however many points each has.
      text: `with recursive held as (
          select min(key) as key from ts_kv where entity_id = $1
          union all
          select (select min(key) from ts_kv where entity_id = $1 and key > held.key) from held where held.key is not null
        )
        select dictionary.key from key_dictionary dictionary
        where key_id in (select key from held union select key from ts_kv_latest where entity_id = $1)`,
      parameters: [knownEntity(entityId)],
    })
    return rows.map(({ key }) => key).sort()
  }

  delete(range: DeleteRange): Promise<Snapshot<DeletedKeys>> {
    return this.accepted(this.deleteRange(range))
  }

  async deleteEntity(entityId: string): Promise<void> {
    if (isEntity(entityId)) await this.accepted(this.deleteAll(entityId))
  }

  private async deleteRange(range: DeleteRange): Promise<Snapshot<DeletedKeys>> {
    const known = { ...range, entityId: knownEntity(range.entityId) }
    const keys = await this.numbersOf(range.entityId, range.keys)
    await removeRange(this.connections.cleaning, known, keys)
    let deletion: Deletion | undefined
    const sequence = await this.writer.change(range.entityId, async (connection) => {
      deletion = await deleteRange(connection, known, keys, this.settings.clock.now())
      return deletion.commit
    })
    return { value: deletion?.deleted ?? { latestRemoved: [] }, sequence }
  }

  private async deleteAll(entityId: string): Promise<void> {
    await removeEntity(this.connections.cleaning, entityId)
    await this.writer.change(entityId, (connection) => deleteEntity(connection, entityId))
  }

  /** The close waits for it. */
  private accepted<Result>(deletion: Promise<Result>): Promise<Result> {
    const ended = deletion.finally(() => this.deletions.delete(ended))
    this.deletions.add(ended)
    return ended
  }

  /** The server alone can: a rewrite keeps every writer out, so its administrator says when. */
  eraseDeleted(): Promise<Erased> {
    return Promise.resolve({ isGone: false, rest: restOfTables('ts_kv, ts_kv_latest') })
  }

  async cleanUp(): Promise<CleanedUp> {
    const { ttlSeconds, clock } = this.settings
    const cleaned = await cleanUp(this.connections.cleaning, this.partitions, ttlSeconds, clock.now())
    this.partitionsDropped += cleaned.partitionsDropped.length
    this.rowsExpired += cleaned.rowsDeleted
    return cleaned
  }

  figures(): PostgresFigures {
    const { pendingPoints, groupsWritten } = this.writer
    return { pendingPoints, groupsWritten, partitionsDropped: this.partitionsDropped, rowsExpired: this.rowsExpired }
  }

  close(): Promise<void> {
    this.closing ??= this.drainAndClose()
    return this.closing
  }

  private async drainAndClose(): Promise<void> {
    this.timer?.cancel()
    await Promise.allSettled(this.deletions)
    await Promise.all([this.writer.close(), this.reads.close(), this.largeReads.close(), this.cleaning])
    await Promise.all([this.connections.keeping.close(), this.connections.cleaning.close()])
  }

  private cleanUpLater(): void {
    this.timer = this.settings.clock.after(this.settings.cleanUpEveryMs, () => {
      this.cleaning = this.cleanUp()
        .catch((error: unknown) =>
          this.settings.report?.('Old time series are not deleted; the next clean-up tries again', {
            error: errorText(error),
          }),
        )
        .finally(() => {
          if (this.closing === undefined) this.cleanUpLater()
        })
    })
  }

  /** A key that has no number may get one while it is looked for, with points of a commit that the read would count: it speaks up to before that. */
  private async withNumbers<Value>(
    keys: readonly string[],
    read: (numbers: ReadonlyMap<string, number>) => Promise<Snapshot<Value>>,
  ): Promise<Snapshot<Value>> {
    const known = this.keyNumbers.known(keys)
    if (known !== undefined) return read(known)
    const { sequence } = await this.reads.read(NOTHING)
    const { value } = await read(await this.keyNumbers.find(new Set(keys)))
    return { value, sequence }
  }

  private numbersOf(entityId: string, keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.keyNumbers.find(isEntity(entityId) ? new Set(keys) : new Set())
  }
}

function isBeyond(rows: readonly RawRow[], { maxRows, maxBytes }: RawBounds): boolean {
  return rows.length > maxRows || (rows.at(-1)?.bytes ?? 0) > maxBytes
}

/** No point was ever written for what is no UUID: it stands for an entity without points. */
function knownEntity(entityId: string): string {
  return isEntity(entityId) ? entityId : '00000000-0000-0000-0000-000000000000'
}
