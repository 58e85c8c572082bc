/**
 * The embedded time-series store as callers see it: encodes on their thread, everything else happens on a worker's. What each
 * durability setting survives is in `docs/internals/time-series-store.md`.
 */
import type { Clock } from '../../../model/clock.ts'
import type { Erased } from '../../../model/erased.ts'
import type { HistoryQuery } from '../../../model/telemetry-query.ts'
import type { DataPoint } from '../../../model/value.ts'
import { GroupCommit } from '../../group-commit.ts'
import { joinedColumn, type LatestColumn } from '../../../model/latest-column.ts'
import type {
  CommitSequence,
  DeletedKeys,
  DeleteRange,
  PointsByKey,
  PointsWrite,
  Snapshot,
  TimeSeriesStore,
} from '../store.ts'
import { decodePoints, encodeBatch } from './batch-codec.ts'
import { ByteReader, ByteWriter, UUID_LENGTH } from './bytes.ts'
import type { CoreFigures, CoreOptions } from './core.ts'
import { EmbeddedErrors } from './errors.ts'
import { OPERATION } from './operation.ts'
import type { Reply } from './protocol.ts'
import type { Durability } from '../../../disk/disk.ts'
import { WorkerPort } from './worker-port.ts'

export interface EmbeddedTimeSeriesOptions {
  /** Created where absent. */
  readonly directory: string
  /** `power-cut`: a write resolves once the disk has it. `process-death`: once the operating system has it. */
  readonly durability: Durability
  readonly clock: Clock
  /** Most points that wait to be written; more is refused as busy. */
  readonly maxPendingPoints?: number
  /** Most reads and deletes without an answer. */
  readonly maxPendingReads?: number
  readonly maxEntitiesInMemory?: number
  readonly logSoftBytes?: number
  readonly logHardBytes?: number
  readonly segmentBytes?: number
  readonly maxTailPoints?: number
  /** Without one the disk is the limit. */
  readonly maxDatabaseBytes?: number
  /** Points of one answer, all keys together, long texts counted for several. */
  readonly maxAnswerPoints?: number
  /** Most memory of the worker's heap, MiB; over it the worker dies, and what is in the log is there at the next open. */
  readonly workerHeapMiB?: number
  /** The worker died: every later call is refused with WORKER_DIED. Open the store again, or end the process. */
  readonly onFatal?: (error: Error) => void
}

export interface EmbeddedFigures extends CoreFigures {
  /** Calls of `write` that were stored. */
  readonly batchesWritten: number
  /** Points that wait for their group. */
  readonly pendingPoints: number
}

export interface EmbeddedTimeSeries extends TimeSeriesStore {
  /** As of the last answer. */
  figures(): EmbeddedFigures
  /** Moves everything from the log into chunks: for backups and measurements, not needed in operation. */
  pack(): Promise<void>
  /**
   * Copies the store to a directory that is not there yet, beside the writes: it holds every write that was acknowledged before the call.
   * Resolves with the highest log position of any of them. Not synced. One at a time. `close` waits for it.
   */
  copyTo(directory: string): Promise<number>
}

export const EMBEDDED_DEFAULTS = {
  maxPendingPoints: 200_000,
  maxPendingReads: 10_000,
  maxEntitiesInMemory: 100_000,
  logSoftBytes: 16 * 2 ** 20,
  logHardBytes: 32 * 2 ** 20,
  segmentBytes: 4 * 2 ** 20,
  maxTailPoints: 500_000,
  workerHeapMiB: 1024,
} as const

/** Points of one group at most: bounds how long one write holds up the reads behind it. */
const MAX_GROUP_POINTS = 10_000
/** A batch with long texts counts for as many points as its bytes would be, so that groups and what waits are bounded in bytes too. */
const BYTES_OF_A_POINT = 1024

/** Entities of one question, of which the worker answers as many as it has time for. */
const COLUMN_ENTITIES = 10_000
/** Texts of one column together, in characters. */
const MAX_COLUMN_TEXTS = 2 ** 25

/** Opens or creates the store. Throws `timeseries.IN_USE`, `LOG_DAMAGED`, `DATABASE_DAMAGED`, `FORMAT_UNKNOWN`. */
export async function openEmbeddedTimeSeries(options: EmbeddedTimeSeriesOptions): Promise<EmbeddedTimeSeries> {
  const settings = { ...EMBEDDED_DEFAULTS, ...options }
  const core: CoreOptions = {
    directory: settings.directory,
    durability: settings.durability,
    logSoftBytes: settings.logSoftBytes,
    logHardBytes: settings.logHardBytes,
    segmentBytes: settings.segmentBytes,
    maxTailPoints: settings.maxTailPoints,
    maxEntities: settings.maxEntitiesInMemory,
    maxDatabaseBytes: settings.maxDatabaseBytes,
    maxAnswerPoints: settings.maxAnswerPoints,
  }
  const port = await WorkerPort.open(core, options.clock, settings.workerHeapMiB, options.onFatal)
  return new EmbeddedStore(port, options.clock, settings)
}

/**
 * Each group is two hand-overs between threads and a sync of the disk that the link's frames want too. Devices are answered before it, so
 * that only readers wait: with 1 message in flight a device, a message costs a sixth less (`docs/reports/ingest-profile.md`).
 */
const GROUP_REST = { factor: 3, mostMs: 3, leastTookMs: 0 } as const

class EmbeddedStore implements EmbeddedTimeSeries {
  private readonly port: WorkerPort
  private readonly clock: Clock
  private readonly maxPendingReads: number
  private readonly group: GroupCommit<Buffer, CommitSequence>
  private readonly writer = new ByteWriter(64 * 1024)
  private batches = 0
  private copying: Promise<void> | undefined
  private closing: Promise<void> | undefined

  constructor(port: WorkerPort, clock: Clock, limits: { maxPendingPoints: number; maxPendingReads: number }) {
    this.port = port
    this.clock = clock
    this.maxPendingReads = limits.maxPendingReads
    this.group = new GroupCommit({
      name: 'The time-series store',
      maxPending: limits.maxPendingPoints,
      maxGroup: MAX_GROUP_POINTS,
      write: (group) => this.writeGroup(group),
      rest: { ...GROUP_REST, clock },
    })
  }

  async write(writes: readonly PointsWrite[]): Promise<CommitSequence> {
    this.writer.reset()
    const points = encodeBatch(this.writer, writes, this.clock.now())
    const batch = this.writer.copy()
    return this.group.add(batch, Math.max(1, points, Math.ceil(batch.length / BYTES_OF_A_POINT)))
  }

  async history(entityId: string, query: HistoryQuery): Promise<Snapshot<PointsByKey>> {
    const reply = await this.port.ask({ kind: 'history', entityId, query }, this.maxPendingReads)
    return { value: pointsIn(reply), sequence: reply.sequence }
  }

  async latest(entityId: string, keys: readonly string[] | undefined): Promise<Snapshot<readonly DataPoint[]>> {
    const reply = await this.port.ask({ kind: 'latest', entityId, keys }, this.maxPendingReads)
    return { value: [...pointsIn(reply).values()].flat(), sequence: reply.sequence }
  }

  async latestOfMany(
    entityIds: readonly string[],
    keys: readonly string[],
  ): Promise<Snapshot<ReadonlyMap<string, readonly DataPoint[]>>> {
    const reply = await this.port.ask({ kind: 'latestOfMany', entityIds, keys }, this.maxPendingReads)
    const value = new Map<string, DataPoint[]>()
    for (const [name, points] of pointsIn(reply)) {
      // The worker names each by the entity's id, which has one length, and the key.
      const entityId = name.slice(0, UUID_LENGTH)
      const held = value.get(entityId) ?? []
      for (const point of points) held.push({ ...point, key: name.slice(UUID_LENGTH) })
      value.set(entityId, held)
    }
    return { value, sequence: reply.sequence }
  }

  async latestColumn(entityIds: readonly string[], key: string): Promise<LatestColumn> {
    const pieces: LatestColumn[] = []
    // One piece after the other: what others ask meanwhile is answered in between.
    let room = MAX_COLUMN_TEXTS
    for (let start = 0; start < entityIds.length; start += COLUMN_ENTITIES) {
      const asked = entityIds.slice(start, start + COLUMN_ENTITIES)
      const joined = asked.join('')
      for (let from = 0; from < asked.length;) {
        const question = { kind: 'latestColumn', entityIds: joined, from, key } as const
        const { column } = await this.port.ask(question, this.maxPendingReads)
        if (column === undefined || column.kinds.length === 0) throw new TypeError('a column without values')
        pieces.push(column)
        for (const text of column.texts) room -= text.length
        if (room < 0) throw EmbeddedErrors.ANSWER_TOO_BIG({ limit: MAX_COLUMN_TEXTS, unit: 'characters' })
        from += column.kinds.length
      }
    }
    return joinedColumn(pieces)
  }

  async keys(entityId: string): Promise<readonly string[]> {
    const reply = await this.port.ask({ kind: 'keys', entityId }, this.maxPendingReads)
    return reply.keys ?? []
  }

  async storedKeys(entityId: string): Promise<readonly string[]> {
    const reply = await this.port.ask({ kind: 'storedKeys', entityId }, this.maxPendingReads)
    return reply.keys ?? []
  }

  async delete(range: DeleteRange): Promise<Snapshot<DeletedKeys>> {
    const reply = await this.port.ask({ kind: 'delete', range }, this.maxPendingReads)
    const latestRemoved = [...pointsIn(reply)].map(([key, points]) => ({ key, replacement: points[0] }))
    return { value: { latestRemoved }, sequence: reply.sequence }
  }

  async deleteEntity(entityId: string): Promise<void> {
    await this.port.ask({ kind: 'deleteEntity', entityId }, this.maxPendingReads)
  }

  /** What is in the log alone goes into chunks, and the log goes; what a deletion leaves in SQLite is written over at once. */
  async eraseDeleted(): Promise<Erased> {
    const reply = await this.port.ask({ kind: 'pack' }, this.maxPendingReads)
    return reply.isPacked === true ? { isGone: true } : { isGone: false, rest: 'its log could not be worked off yet' }
  }

  async pack(): Promise<void> {
    await this.port.ask({ kind: 'pack' }, this.maxPendingReads)
  }

  async copyTo(directory: string): Promise<number> {
    const copying = this.port.ask({ kind: 'copy', directory }, Infinity)
    this.copying = copying.then(ignore, ignore)
    return (await copying).maxSequence ?? 0
  }

  figures(): EmbeddedFigures {
    return { ...this.port.figures, batchesWritten: this.batches, pendingPoints: this.group.pending }
  }

  close(): Promise<void> {
    return (this.closing ??= Promise.all([this.group.close(), this.copying]).then(() => this.port.close()))
  }

  private async writeGroup(group: readonly Buffer[]): Promise<CommitSequence> {
    let size = 1
    for (const batch of group) size += batch.length
    const operation = Buffer.allocUnsafeSlow(size)
    operation[0] = OPERATION.WRITE
    let at = 1
    for (const batch of group) {
      operation.set(batch, at)
      at += batch.length
    }
    const reply = await this.port.ask({ kind: 'write', operation }, Infinity, [operation.buffer])
    this.batches += group.length
    return reply.sequence
  }
}

function ignore(): void {}

function pointsIn(reply: Reply): Map<string, DataPoint[]> {
  return reply.points === undefined ? new Map<string, DataPoint[]>() : decodePoints(new ByteReader(reply.points))
}
