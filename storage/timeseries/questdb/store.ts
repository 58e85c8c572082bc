/**
 * Time series in QuestDB, latest values and what QuestDB cannot do in PostgreSQL beside it. What is acknowledged is in both; why, and
 * which trap of QuestDB each part answers to, is in `docs/internals/questdb.md`.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../../../model/clock.ts'
import { isMillraceError } from '../../../model/errors.ts'
import type { Erased } from '../../../model/erased.ts'
import type { HistoryQuery } from '../../../model/telemetry-query.ts'
import type { DataPoint } from '../../../model/value.ts'
import { restOfTables } from '../../postgres/erased.ts'
import type { OpenSettings } from '../../postgres/open.ts'
import { GroupCommit } from '../../group-commit.ts'
import type { LatestValues } from '../latest-values.ts'
import { checkWrites, isEntity } from '../postgres/checks.ts'
import type {
  CommitSequence,
  DeletedKeys,
  DeleteRange,
  PointsByKey,
  PointsWrite,
  Snapshot,
  TimeSeriesStore,
} from '../store.ts'
import { AppliedWrites } from './applied.ts'
import { DeletionFolder } from './deletion-folder.ts'
import { GroupWriter, type Call, type Group } from './group-writer.ts'
import { HistoryReader } from './history.ts'
import { ensureShards } from './make-shards.ts'
import { FINISHED, PostgresCompanion, versionOf, type CommitRow } from './postgres-companion.ts'
import { checkSettings, ensureTable, setTimeToLive, type Partition } from './schema.ts'
import { QuestDbServer } from './server.ts'

export interface QuestDbTimeSeriesOptions {
  /** QuestDB's HTTP address, `http://host:port`, with `user:password@` where it asks for it. */
  readonly url: string
  /** In the place of user and password. */
  readonly token?: string | undefined
  /** Path of the PEM file of the authority that its certificate is of; undefined: one that the system knows. */
  readonly caFile?: string | undefined
  /** The PostgreSQL beside it; every process of one platform names the same. */
  readonly postgres: OpenSettings
  /** Closed with the store, not by an open that fails. */
  readonly latest: LatestValues
  readonly clock: Clock
  /** `power-cut` needs a QuestDB that runs with `cairo.commit.mode=sync`; it is checked at the open. */
  readonly durability: 'power-cut' | 'process-death'
  readonly table?: string | undefined
  /** Of a table that is made now; one that is there keeps its own. */
  readonly partitionBy?: Partition | undefined
  /** Seconds after which points are removed, by whole partitions; 0 keeps for ever. */
  readonly ttlSeconds?: number | undefined
  readonly maxPendingPoints?: number | undefined
  readonly maxGroupPoints?: number | undefined
  readonly maxAnswerPoints?: number | undefined
  readonly maxAnswerBytes?: number | undefined
  /** A request without an answer for so long has failed. */
  readonly requestTimeoutMs?: number | undefined
  /** A read waits so long for the writes before it to be applied. */
  readonly applyTimeoutMs?: number | undefined
  readonly watchMs?: number | undefined
  /** How long a server that does not answer is waited for at the open. */
  readonly serverWithinMs?: number | undefined
  /** The table takes no writes for this reason; undefined: it takes them again. */
  readonly onTrouble?: ((reason: string | undefined) => void) | undefined
}

export interface QuestDbFigures {
  readonly groupsWritten: number
  /** Rows acknowledged by QuestDB. */
  readonly rowsWritten: number
  /** Calls of `write` whose points QuestDB refused. */
  readonly writesRefused: number
  readonly pendingPoints: number
  /** Transactions acknowledged and not yet visible, at the last look. */
  readonly applyLag: number
  /** Why no writes are taken, if so. */
  readonly trouble: string | undefined
}

export interface QuestDbTimeSeries extends TimeSeriesStore {
  figures(): QuestDbFigures
}

export const QUESTDB_DEFAULTS = {
  table: 'millrace_points',
  partitionBy: 'DAY',
  ttlSeconds: 0,
  maxPendingPoints: 200_000,
  maxGroupPoints: 40_000,
  maxAnswerPoints: 1_000_000,
  maxAnswerBytes: 128 * 2 ** 20,
  requestTimeoutMs: 10_000,
  applyTimeoutMs: 10_000,
  watchMs: 5_000,
  serverWithinMs: 15_000,
} as const

const PAUSE_MS = 100
/**
 * A transaction costs QuestDB the same whatever it holds (`docs/internals/questdb.md`): a busy store writes few. It adds as much as that
 * to the age of what is read while more is coming.
 */
const GROUP_REST = { factor: 5, mostMs: 500, leastTookMs: 15 } as const
/**
 * A write of fewer points counts as many: the engine holds so many messages, not points, that a group of small ones would never be full, and
 * the store would rest while nothing more can come.
 */
const LEAST_POINTS_OF_A_WRITE = 3
/** About as much as one piece of a long text takes. */
const BYTES_OF_A_PIECE = 2 ** 18
/** Texts count for as many points as their bytes would be, so that groups and what waits are bounded in bytes too. */
const BYTES_OF_A_POINT = 1024

/**
 * Opens or creates the table. Throws `questdb.UNREACHABLE` and `postgres.UNAVAILABLE` where no server answers in time,
 * `questdb.NOT_DURABLE`, `TTL_UNSAFE`, `SCHEMA_UNKNOWN`, `URL_INVALID`; at once with `REFUSED` and `UNTRUSTED` of either.
 */
export async function openQuestDbTimeSeries(options: QuestDbTimeSeriesOptions): Promise<QuestDbTimeSeries> {
  const settings = withDefaults(options)
  const { clock, table, requestTimeoutMs: timeoutMs, maxAnswerBytes } = settings
  const { url, token, caFile } = options
  const server = new QuestDbServer({ url, token, caFile, timeoutMs, maxAnswerBytes })
  try {
    await patiently(settings.serverWithinMs, async () => {
      await checkSettings(server, settings)
      await ensureTable(server, settings)
    })
    const companion = await PostgresCompanion.open(options.postgres, clock.now())
    const { applyTimeoutMs, watchMs } = settings
    const watch = { server, table, clock, timeoutMs: applyTimeoutMs, watchMs, onTrouble: options.onTrouble }
    const applied = new AppliedWrites(watch)
    try {
      await patiently(settings.serverWithinMs, async () => {
        await ensureShards({ server, applied, table, postgres: options.postgres })
        await setTimeToLive(server, settings)
      })
    } catch (error) {
      await Promise.all([applied.close(), companion.close()])
      throw error
    }
    return new QuestDbStore({ server, companion, applied, latest: options.latest, clock }, settings)
  } catch (error) {
    server.close()
    throw error
  }
}

interface Settings {
  readonly durability: 'power-cut' | 'process-death'
  readonly table: string
  readonly partitionBy: Partition
  readonly ttlSeconds: number
  readonly maxPendingPoints: number
  readonly maxGroupPoints: number
  readonly maxAnswerPoints: number
  readonly maxAnswerBytes: number
  readonly requestTimeoutMs: number
  readonly applyTimeoutMs: number
  readonly watchMs: number
  readonly serverWithinMs: number
}

function withDefaults(options: QuestDbTimeSeriesOptions): Settings & Pick<QuestDbTimeSeriesOptions, 'clock'> {
  const named = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  return { ...QUESTDB_DEFAULTS, durability: options.durability, clock: options.clock, ...named }
}

/** A server that is only starting, or that another process has just asked for the same table, is asked again. */
async function patiently(withinMs: number, run: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + withinMs
  for (;;) {
    try {
      await run()
      return
    } catch (error) {
      if (!isMillraceError(error) || !error.isOutage || error.needsOperator || performance.now() >= deadline)
        throw error
      await wait(PAUSE_MS)
    }
  }
}

interface Parts {
  readonly server: QuestDbServer
  readonly companion: PostgresCompanion
  readonly applied: AppliedWrites
  readonly latest: LatestValues
  readonly clock: Clock
}

class QuestDbStore implements QuestDbTimeSeries {
  private readonly parts: Parts
  private readonly writer: GroupWriter
  private readonly group: GroupCommit<Call, Group>
  private readonly reader: HistoryReader
  private readonly deletions: DeletionFolder
  private closing: Promise<void> | undefined

  constructor(parts: Parts, settings: Settings) {
    const { server, companion } = parts
    const { table, maxAnswerPoints } = settings
    this.parts = parts
    this.writer = new GroupWriter({ ...parts, table })
    const maxLongTextPieces = Math.ceil(settings.maxAnswerBytes / BYTES_OF_A_PIECE)
    this.reader = new HistoryReader({ server, companion, table, maxAnswerPoints, maxLongTextPieces })
    this.deletions = new DeletionFolder({ ...parts, table })
    this.group = new GroupCommit({
      name: 'The time-series store',
      maxPending: settings.maxPendingPoints,
      maxGroup: settings.maxGroupPoints,
      rest: { ...GROUP_REST, clock: parts.clock },
      write: (group) => this.writer.write(group),
    })
  }

  async write(writes: readonly PointsWrite[]): Promise<CommitSequence> {
    checkWrites(writes)
    const call = this.writer.prepare(writes)
    const { sequence, refused } = await this.group.add(call, weightOf(writes))
    const refusal = refused?.get(call)
    if (refusal !== undefined) throw refusal
    return sequence
  }

  async history(entityId: string, query: HistoryQuery): Promise<Snapshot<PointsByKey>> {
    if (!isEntity(entityId)) return { value: new Map(), sequence: await this.sequence() }
    // In this order: whatever has a number up to the basis's was acknowledged before the read began.
    const readBasis = await this.parts.companion.readBasis(entityId, query.keys)
    const now = this.parts.clock.now()
    const value = await this.parts.applied.read(() => this.reader.read(entityId, query, readBasis, now))
    return { value, sequence: readBasis.sequence }
  }

  async latest(entityId: string, keys: readonly string[] | undefined): Promise<Snapshot<readonly DataPoint[]>> {
    // First the number, then the values: they speak of at least that commit.
    const { rows, value } = await this.parts.latest.readAfter<CommitRow>(FINISHED, entityId, keys)
    return { value, sequence: versionOf(rows) }
  }

  async latestOfMany(
    entityIds: readonly string[],
    keys: readonly string[],
  ): Promise<Snapshot<ReadonlyMap<string, readonly DataPoint[]>>> {
    const { rows, value } = await this.parts.latest.readManyAfter<CommitRow>(FINISHED, entityIds, keys)
    return { value, sequence: versionOf(rows) }
  }

  latestTextBytes(entityIds: readonly string[], key: string): Promise<number> {
    return this.parts.latest.textBytes(entityIds, key)
  }

  async keys(entityId: string): Promise<readonly string[]> {
    return (await this.parts.latest.read(entityId, undefined)).map(({ key }) => key)
  }

  async storedKeys(entityId: string): Promise<readonly string[]> {
    if (!isEntity(entityId)) return []
    await this.parts.applied.wait()
    const [numbers, latest] = await Promise.all([this.reader.keyNumbers(entityId), this.keys(entityId)])
    const held = await this.parts.companion.keysOf(entityId, numbers)
    return [...new Set([...held, ...latest])].sort()
  }

  async delete(range: DeleteRange): Promise<Snapshot<DeletedKeys>> {
    const { entityId, keys, startTs, endTs } = range
    const latestRemoved: DeletedKeys['latestRemoved'][number][] = []
    if (isEntity(entityId) && keys.length > 0 && startTs < endTs) {
      await this.parts.companion.delete(range)
      await this.deletions.fold(entityId, keys)
      if (range.deleteLatest) {
        for (const { key } of await this.parts.latest.removeWithin(entityId, keys, startTs, endTs)) {
          const replacement = range.rewriteLatest ? await this.replaceLatest(entityId, key, startTs) : undefined
          latestRemoved.push({ key, replacement })
        }
      }
    }
    return { value: { latestRemoved }, sequence: await this.parts.companion.commit() }
  }

  async deleteEntity(entityId: string): Promise<void> {
    if (!isEntity(entityId)) return
    await this.parts.companion.deleteEntity(entityId)
    await this.parts.latest.removeEntity(entityId)
  }

  /** Their values become null in every partition that holds some; QuestDB then removes the files that held them. */
  async eraseDeleted(): Promise<Erased> {
    const left = await this.deletions.eraseEntities()
    const rest = `QuestDB removes the replaced files of its partitions and its write-ahead log some minutes later; ${restOfTables('questdb_far_point, ts_kv_latest')}`
    return { isGone: false, rest: left ? 'values of deleted entities are left: ask once more' : rest }
  }

  figures(): QuestDbFigures {
    const { applied } = this.parts
    return {
      groupsWritten: this.group.groupsWritten,
      rowsWritten: this.writer.rows,
      writesRefused: this.writer.refused,
      pendingPoints: this.group.pending,
      applyLag: applied.lag,
      trouble: applied.trouble,
    }
  }

  close(): Promise<void> {
    this.closing ??= this.end()
    return this.closing
  }

  private async end(): Promise<void> {
    await this.group.close()
    await this.parts.applied.close()
    this.parts.server.close()
    await Promise.all([this.parts.companion.close(), this.parts.latest.close()])
  }

  private sequence(): Promise<CommitSequence> {
    return this.parts.companion.finished()
  }

  private async replaceLatest(entityId: string, key: string, before: number): Promise<DataPoint | undefined> {
    const newest = { agg: 'NONE', limit: 1, order: 'DESC' } as const
    const { value } = await this.history(entityId, { keys: [key], startTs: -Infinity, endTs: before, ...newest })
    const replacement = value.get(key)?.[0]
    if (replacement !== undefined) await this.parts.latest.replace(entityId, replacement)
    return replacement
  }
}

function weightOf(writes: readonly PointsWrite[]): number {
  let points = 0
  let characters = 0
  for (const write of writes) {
    points += Math.max(LEAST_POINTS_OF_A_WRITE, write.points.length)
    for (const { value } of write.points) if (typeof value === 'string') characters += value.length
  }
  return Math.max(1, points, Math.ceil(characters / BYTES_OF_A_POINT))
}
