/**
 * The embedded store itself, synchronous, on the worker's thread. A write is appended to the log (durable from then on),
 * applied to memory and acknowledged; `tidy` afterwards moves what is due into chunks.
 */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Durability } from '../../../disk/disk.ts'
import { errorText } from '../../../model/errors.ts'
import type { DeleteRange } from '../store.ts'
import { decodeBatch } from './batch-codec.ts'
import { ByteReader } from './bytes.ts'
import { CHUNK_POINTS, Chunks } from './chunks.ts'
import { ChunkDatabase, CHUNKS_FILE } from './database.ts'
import { deleteFromChunks, deleteFromMemory, deleteStoredEntity, type RemovedLatest } from './deleter.ts'
import { EmbeddedErrors } from './errors.ts'
import { storeSeries } from './flusher.ts'
import { diskFiles, type LogFiles } from './log-files.ts'
import { Memory } from './memory.ts'
import type { StoredPoint } from './point.ts'
import type { Entity } from './series.ts'
import { decodeOperation, encodeOperation, OPERATION, type Operation } from './operation.ts'
import { SegmentLog } from './segment-log.ts'
import { Reads } from './reads.ts'

export interface CoreOptions {
  readonly directory: string
  readonly durability: Durability
  /** The log is worked off from this size on … */
  readonly logSoftBytes: number
  /** … and never grows beyond this; both bound the time of an open. */
  readonly logHardBytes: number
  readonly segmentBytes: number
  /** Most points in memory alone. */
  readonly maxTailPoints: number
  /** Entities kept in memory without need. */
  readonly maxEntities: number
  /** The chunks' share of the disk; over it the store behaves as on a full disk. */
  readonly maxDatabaseBytes?: number | undefined
  /** Points of one answer, all keys together, long texts counted for several: what one question may take of the memory. */
  readonly maxAnswerPoints?: number | undefined
  readonly files?: LogFiles
}

export interface CoreFigures {
  readonly pointsWritten: number
  readonly groupsWritten: number
  readonly tailPoints: number
  readonly logBytes: number
  readonly databaseBytes: number
  readonly damagedChunks: number
  readonly moveFailures: number
  /** Why points could not be moved into chunks the last time; undefined where they could. */
  readonly moveFailure: string | undefined
  /** Why the last write or delete was not stored; undefined where it was. */
  readonly writeFailure: string | undefined
}

/** Points moved into chunks after a write, at least. */
const MOVE_AT_LEAST = 4096
/** Points moved for each written, so that what is due never piles up. */
const MOVE_A_POINT = 1.25
const EXPIRED_AT_ONCE = 64
/** Deletes may go beyond the log's bound, this many times: they are what makes room on a full disk. */
const ROOM_FOR_DELETES = 2

export class Core {
  readonly reads: Reads
  private readonly options: CoreOptions
  private readonly database: ChunkDatabase
  private readonly chunks: Chunks
  private readonly memory: Memory
  private readonly log: SegmentLog
  /** The highest log position any write came with: a REST write counts as just after it. */
  private maxSequence = 0
  /** What it was when each segment of the log began. A replay must give a REST write the version it had, not a later one. */
  private readonly sequenceAtStart = new Map<number, number>()
  private readonly saved: { readonly maxSequence: number; readonly fromSegment: number }
  private pointsWritten = 0
  private groupsWritten = 0
  private moveFailures = 0
  private moveFailure: string | undefined
  private writeFailure: string | undefined
  private movePoints = 0
  private databaseBytes: number
  private copyingTo: string | undefined
  private closed = false
  /** Why memory is no longer what the log says; the store must be opened again. */
  broken: Error | undefined

  /** Opens the store, creating the directory durably (not its parents). Throws IN_USE, LOG_DAMAGED, DATABASE_DAMAGED, FORMAT_UNKNOWN. */
  constructor(options: CoreOptions, now: number) {
    this.options = options
    const files = options.files ?? diskFiles
    mkdirSync(options.directory, { recursive: true, mode: 0o700 })
    // Else a power cut could take the directory with all that is synced in it.
    files.syncDirectory(dirname(options.directory))
    this.database = new ChunkDatabase(options.directory, options.maxDatabaseBytes)
    try {
      this.chunks = new Chunks(this.database)
      this.memory = new Memory(this.database, options.maxEntities)
      this.reads = new Reads(this.database, this.chunks, this.memory, options.maxAnswerPoints)
      this.saved = {
        maxSequence: this.database.setting('maxSequence'),
        fromSegment: this.database.setting('maxSequenceFrom'),
      }
      const closedAt = {
        segment: this.database.setting('closedSegment'),
        length: this.database.setting('closedLength'),
      }
      this.log = new SegmentLog({ ...options, closedAt }, (record, segment) => {
        this.replay(decodeOperation(record.payload), segment, now)
      })
      this.enter(this.log.currentSegment)
      this.pointsWritten = 0
      this.databaseBytes = this.database.bytes
    } catch (error) {
      this.database.close()
      throw error
    }
  }

  /** The number of the last commit. */
  get sequence(): number {
    return this.log.lastLsn
  }

  /** Stores a group of encoded batches (an operation's bytes). Throws DISK_FULL, WRITE_FAILED, BACKLOG: nothing is kept then. */
  write(operation: Uint8Array, now: number): number {
    this.ensureRoom(now)
    const lsn = this.append(operation)
    const before = this.pointsWritten
    this.logged(() => {
      this.applyBatches(operation.subarray(1), this.log.currentSegment)
    })
    this.groupsWritten++
    this.movePoints += this.pointsWritten - before
    return lsn
  }

  /** Throws DISK_FULL, WRITE_FAILED, BACKLOG (retryable): a part may be deleted then, and the same delete again does the rest. */
  delete(range: DeleteRange, now: number): readonly RemovedLatest[] {
    this.ensureRoom(now, ROOM_FOR_DELETES)
    deleteFromChunks(this.database, this.chunks, this.memory.entity(range.entityId), range)
    this.append(encodeOperation({ kind: OPERATION.DELETE_RANGE, range }))
    return this.logged(() => this.applyDelete(range, this.log.currentSegment, now))
  }

  /** Throws as `delete` does. */
  deleteEntity(entityId: string, now: number): void {
    this.ensureRoom(now, ROOM_FOR_DELETES)
    const entity = this.memory.entity(entityId)
    deleteStoredEntity(this.database, this.chunks, entity)
    this.append(encodeOperation({ kind: OPERATION.DELETE_ENTITY, entityId }))
    this.memory.drop(entity)
  }

  /** After an answer: moves some of what is due into chunks. A failure keeps everything where it is, and is tried again. */
  tidy(now: number): void {
    const budget = Math.max(MOVE_AT_LEAST, this.movePoints * MOVE_A_POINT)
    this.movePoints = 0
    try {
      this.move(budget, now)
      this.dropSegments(now)
      this.moveFailure = undefined
    } catch (error) {
      this.noteMoveFailure(error)
    }
  }

  figures(): CoreFigures {
    return {
      pointsWritten: this.pointsWritten,
      groupsWritten: this.groupsWritten,
      tailPoints: this.memory.tailPoints,
      logBytes: this.log.bytes,
      databaseBytes: this.databaseBytes,
      damagedChunks: this.chunks.damagedChunks,
      moveFailures: this.moveFailures,
      moveFailure: this.moveFailure,
      writeFailure: this.writeFailure,
    }
  }

  /** Moves everything into chunks, however long it takes; whether no log holds anything any more. */
  moveAll(now: number): boolean {
    while (this.memory.oldestSegment !== undefined) this.move(Infinity, now)
    this.log.roll()
    this.dropSegments(now)
    return this.database.checkpoint(true) && this.log.oldestSegment === this.log.currentSegment
  }

  /**
   * Copies the store to a directory that is not there yet, beside the writes: chunks first, then the log, so that the copy is the store at
   * the moment in which it resolves. What leaves the log meanwhile is copied before it goes. Resolves with the highest log position of
   * any write. One at a time.
   */
  async copyTo(directory: string): Promise<number> {
    assert(this.copyingTo === undefined, 'the store is being copied')
    mkdirSync(directory, { mode: 0o700 })
    this.copyingTo = directory
    try {
      await this.database.copyTo(join(directory, CHUNKS_FILE))
      if (this.closed) throw EmbeddedErrors.CLOSED()
      this.log.copyTo(directory)
      return this.maxSequence
    } finally {
      this.copyingTo = undefined
    }
  }

  /** Syncs the log and closes; what is in the log stays there. Idempotent. */
  close(): void {
    if (this.closed) return
    this.closed = true
    try {
      this.log.close()
      this.noteEnd()
    } finally {
      this.database.close()
    }
  }

  /** What the log ends with after a crash may be a torn record, which nobody was told of. After a close in order it is not. */
  private noteEnd(): void {
    const { end } = this.log
    if (end === undefined) return
    const { segment, length } = end
    try {
      this.database.transaction(() => {
        this.database.setSetting('closedSegment', segment)
        this.database.setSetting('closedLength', length)
      })
    } catch {
      // On a full disk the next open takes this close for a crash.
    }
  }

  private get pressed(): boolean {
    return this.log.bytes > this.options.logSoftBytes || this.memory.tailPoints > this.options.maxTailPoints
  }

  /** Holds the writer back while the log is at its bound. */
  private ensureRoom(now: number, share = 1): void {
    if (this.log.bytes <= this.options.logHardBytes * share) return
    try {
      while (this.pressed && this.memory.oldestSegment !== undefined) {
        this.move(MOVE_AT_LEAST * 16, now)
        this.dropSegments(now)
      }
    } catch (error) {
      this.noteMoveFailure(error)
      this.writeFailure = this.moveFailure
      throw EmbeddedErrors.BACKLOG({ limit: this.options.logHardBytes, reason: errorText(error) }, error)
    }
  }

  private noteMoveFailure(error: unknown): void {
    this.moveFailures++
    this.moveFailure = errorText(error)
  }

  private move(budget: number, now: number): void {
    const due = this.memory.due(budget, budget === Infinity || this.pressed)
    if (due.length === 0) return
    storeSeries(this.database, this.chunks, due, now)
    for (const series of due) this.memory.stored(series)
    this.databaseBytes = this.database.bytes
  }

  /** Removes log segments that nothing in memory needs, once SQLite's part is on the disk. */
  private dropSegments(now: number): void {
    const needed = Math.min(this.memory.oldestSegment ?? Infinity, this.log.currentSegment)
    if (this.log.oldestSegment >= needed) return
    this.database.transaction(() => {
      this.database.setSetting('maxSequenceFrom', needed)
      this.database.setSetting('maxSequence', this.sequenceAtStart.get(needed) ?? this.maxSequence)
      for (const row of this.database.expired(now, EXPIRED_AT_ONCE)) this.chunks.remove(row)
    })
    if (!this.database.checkpoint()) return
    if (this.copyingTo !== undefined) this.log.copyTo(this.copyingTo, needed)
    this.log.dropBefore(needed)
    for (const segment of this.sequenceAtStart.keys()) if (segment < needed) this.sequenceAtStart.delete(segment)
  }

  private append(operation: Uint8Array): number {
    let lsn: number
    try {
      lsn = this.log.append([operation])
      this.writeFailure = undefined
    } catch (error) {
      this.writeFailure = errorText(error)
      throw error
    }
    this.enter(this.log.currentSegment)
    return lsn
  }

  /** Before a segment's first record. What lies before `fromSegment` is all in SQLite: versions do not matter in its replay. */
  private enter(segment: number): void {
    if (this.sequenceAtStart.has(segment)) return
    const { maxSequence, fromSegment } = this.saved
    if (segment >= fromSegment) this.maxSequence = Math.max(this.maxSequence, maxSequence)
    this.sequenceAtStart.set(segment, this.maxSequence)
  }

  /** What is in the log must be in memory: where that fails, only an open from the log makes them one again. */
  private logged<Result>(apply: () => Result): Result {
    try {
      return apply()
    } catch (error) {
      this.broken = error instanceof Error ? error : new Error(String(error))
      throw error
    }
  }

  /** Does again what the log says was done; what of it SQLite has already changes nothing. */
  private replay(operation: Operation, segment: number, now: number): void {
    this.enter(segment)
    switch (operation.kind) {
      case OPERATION.WRITE:
        this.applyBatches(operation.batches, segment)
        return
      case OPERATION.DELETE_RANGE:
        deleteFromChunks(this.database, this.chunks, this.memory.entity(operation.range.entityId), operation.range)
        this.applyDelete(operation.range, segment, now)
        return
      case OPERATION.DELETE_ENTITY: {
        const entity = this.memory.entity(operation.entityId)
        deleteStoredEntity(this.database, this.chunks, entity)
        this.memory.drop(entity)
      }
    }
  }

  private applyDelete(range: DeleteRange, segment: number, now: number): RemovedLatest[] {
    const changed = deleteFromMemory(this.chunks, this.memory.entity(range.entityId), range, now)
    for (const { series } of changed) this.memory.touch(series, segment)
    return changed.map(({ removed }) => removed)
  }

  private applyBatches(batches: Uint8Array, segment: number): void {
    const { memory } = this
    const reader = new ByteReader(batches)
    let entity: Entity | undefined
    let version = 0
    let keepHistory = false
    let keepLatest = false
    const sink = {
      write: (entityId: string, sequence: number, history: boolean, latest: boolean) => {
        entity = memory.entity(entityId)
        if (sequence > this.maxSequence) this.maxSequence = sequence
        version = sequence === 0 ? Math.floor(this.maxSequence) + 0.5 : sequence
        keepHistory = history
        keepLatest = latest
      },
      point: (key: string, point: StoredPoint) => {
        if (entity === undefined || (!keepHistory && !keepLatest)) return
        const series = entity.seriesOf(key)
        memory.touch(series, segment)
        if (keepLatest) series.offerLatest(point, version)
        if (!keepHistory) return
        series.append(point)
        memory.countPoint(series, CHUNK_POINTS)
      },
    }
    while (!reader.atEnd) this.pointsWritten += decodeBatch(reader, sink)
  }
}
