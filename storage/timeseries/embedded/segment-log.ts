/**
 * The durable log of what is not yet in chunks: numbered segments of checksummed records. An append resolves the durability
 * question before it returns: at `power-cut` the record is synced to the disk, at `process-death` it is in the system's memory.
 *
 * After a failed sync the segment is never written again: the system may have dropped the bytes and say "ok" the next time.
 * The next append opens a new segment whose header says how much of the old one counts.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Durability } from '../../../disk/disk.ts'
import { segmentNames } from '../../../disk/segment-file.ts'
import { errorText } from '../../../model/errors.ts'
import { EmbeddedErrors } from './errors.ts'
import { diskFiles, type LogFiles } from './log-files.ts'
import {
  decodeHeader,
  encodeHeader,
  HEADER_BYTES,
  RECORD_HEADER_BYTES,
  recordAt,
  recordHeader,
  wholeRecordAfter,
  type LogRecord,
  type SegmentHeader,
} from './log-format.ts'

export interface SegmentLogOptions {
  readonly directory: string
  readonly durability: Durability
  /** A segment of this size is followed by a new one. */
  readonly segmentBytes: number
  readonly files?: LogFiles
  /** Where a log that was closed in order ended: a record before it that is not whole is damaged, not torn. */
  readonly closedAt?: LogEnd | undefined
}

export interface LogEnd {
  readonly segment: number
  readonly length: number
}

interface Segment {
  readonly number: number
  length: number
}

const NAMES = segmentNames('')

export class SegmentLog {
  private readonly options: SegmentLogOptions
  private readonly files: LogFiles
  private segments: Segment[] = []
  private file: number | undefined
  private poisoned = false
  private nextLsn = 1

  /** Opens the log and hands every record to `replay`, in order. Throws LOG_DAMAGED. */
  constructor(options: SegmentLogOptions, replay: (record: LogRecord, segment: number) => void) {
    this.options = options
    this.files = options.files ?? diskFiles
    this.recover(replay)
  }

  /** The number of the last record, 0 where there was never one. */
  get lastLsn(): number {
    return this.nextLsn - 1
  }

  get currentSegment(): number {
    return this.segments[this.segments.length - 1]?.number ?? 0
  }

  get oldestSegment(): number {
    return this.segments[0]?.number ?? 0
  }

  /** Up to where what was appended is sure to be whole; undefined after a sync that failed, since nothing is then. */
  get end(): LogEnd | undefined {
    if (this.poisoned) return undefined
    const last = this.segments[this.segments.length - 1]
    return { segment: last?.number ?? 0, length: last?.length ?? 0 }
  }

  get bytes(): number {
    return this.segments.reduce((sum, segment) => sum + segment.length, 0)
  }

  /** Appends one record durably; returns its number. Throws DISK_FULL, WRITE_FAILED (retryable): nothing of it is kept then. */
  append(payload: readonly Uint8Array[]): number {
    const segment = this.writableSegment()
    const file = this.file
    if (file === undefined) throw EmbeddedErrors.CLOSED()
    const head = recordHeader(this.nextLsn, payload)
    const size = payload.reduce((sum, part) => sum + part.byteLength, head.length)
    const path = this.pathOf(segment.number)
    try {
      this.files.write(file, [head, ...payload], segment.length)
    } catch (error) {
      this.undo(segment)
      throw failure(path, error)
    }
    if (this.options.durability === 'power-cut') {
      try {
        this.files.sync(file)
      } catch (error) {
        this.poisoned = true
        throw EmbeddedErrors.WRITE_FAILED({ file: path, reason: errorText(error) }, error)
      }
    }
    segment.length += size
    return this.nextLsn++
  }

  /** Removes the segments before this one. Throws what the disk throws; then some of them may be left. */
  dropBefore(number: number): void {
    while (this.segments.length > 1) {
      const oldest = this.segments[0]
      if (oldest === undefined || oldest.number >= number) return
      this.files.remove(this.pathOf(oldest.number))
      this.segments.shift()
      // One by one: were a later one's removal durable first, a power cut would leave a gap, which no open may pass over.
      if (this.options.durability === 'power-cut') this.files.syncDirectory(this.options.directory)
    }
  }

  /** Copies the segments before this one, as far as they count. Not synced. Throws what the disk throws. */
  copyTo(directory: string, before = Infinity): void {
    for (const { number, length } of this.segments) {
      if (number >= before) return
      const bytes = this.files.read(this.pathOf(number))
      writeFileSync(join(directory, NAMES.name(number)), bytes.subarray(0, length), { mode: 0o600 })
    }
  }

  /** Begins a new segment at the next append: what is in the present one can then be dropped. */
  roll(): void {
    const last = this.segments[this.segments.length - 1]
    if (last !== undefined && last.length > HEADER_BYTES) this.startSegment()
  }

  /** Syncs and closes. Idempotent. */
  close(): void {
    if (this.file === undefined) return
    const file = this.file
    this.file = undefined
    try {
      if (!this.poisoned) this.files.sync(file)
    } finally {
      this.files.close(file)
    }
  }

  private writableSegment(): Segment {
    const last = this.segments[this.segments.length - 1]
    if (last !== undefined && !this.poisoned && last.length < this.options.segmentBytes) return last
    return this.startSegment()
  }

  private startSegment(): Segment {
    const last = this.segments[this.segments.length - 1]
    const number = (last?.number ?? 0) + 1
    const path = this.pathOf(number)
    let file: number | undefined
    try {
      file = this.files.create(path)
      const header = { number, firstLsn: this.nextLsn, previousLength: last?.length ?? 0 }
      this.files.write(file, [encodeHeader(header)], 0)
      // The header first: a power cut must not leave a long file of zeros in its place.
      this.files.sync(file)
      this.makeSpace(file, HEADER_BYTES)
      this.files.sync(file)
      this.files.syncDirectory(this.options.directory)
    } catch (error) {
      if (file !== undefined) this.files.close(file)
      this.files.remove(path)
      throw failure(path, error)
    }
    if (this.file !== undefined) this.files.close(this.file)
    this.file = file
    this.poisoned = false
    const segment = { number, length: HEADER_BYTES }
    this.segments.push(segment)
    return segment
  }

  /**
   * A sync that must make a new file length durable too costs several times one that need not, and holds up every other sync
   * of the disk meanwhile (`benchmarks/link`): records go into space that is there already. On a full disk they go without:
   * the log must open, and take the deletes that make room.
   */
  private makeSpace(file: number, from: number): void {
    const missing = this.options.segmentBytes - from
    if (this.options.durability !== 'power-cut' || missing <= 0) return
    try {
      this.files.write(file, [Buffer.alloc(missing)], from)
    } catch {
      this.files.truncate(file, from)
    }
  }

  /** Takes a part-written record back; where that fails too, the segment is left for good. */
  private undo(segment: Segment): void {
    try {
      if (this.file !== undefined) this.files.truncate(this.file, segment.length)
    } catch {
      this.poisoned = true
    }
  }

  private recover(replay: (record: LogRecord, segment: number) => void): void {
    const numbers = this.files
      .list(this.options.directory)
      .map((name) => NAMES.id(name))
      .filter((number) => number !== undefined)
      .sort((a, b) => a - b)
    const loaded = this.loadSegments(numbers)
    for (const [index, { header, bytes }] of loaded.entries()) {
      const next = loaded[index + 1]?.header
      if (next !== undefined && next.number !== header.number + 1) {
        throw EmbeddedErrors.LOG_DAMAGED({
          file: this.pathOf(header.number + 1),
          offset: 0,
          reason: 'the segment is missing',
        })
      }
      this.segments.push({
        number: header.number,
        length: this.replaySegment(header, bytes, next?.previousLength, replay),
      })
    }
    const last = this.segments[this.segments.length - 1]
    if (last === undefined) {
      this.startSegment()
      return
    }
    // What was found may never have been synced by the process that died; from here on it counts.
    this.file = this.files.open(this.pathOf(last.number))
    this.files.truncate(this.file, last.length)
    this.makeSpace(this.file, last.length)
    this.files.sync(this.file)
  }

  private loadSegments(numbers: readonly number[]): { header: SegmentHeader; bytes: Buffer }[] {
    const loaded: { header: SegmentHeader; bytes: Buffer }[] = []
    for (const number of numbers) {
      const path = this.pathOf(number)
      const bytes = this.files.read(path)
      const header = decodeHeader(bytes)
      if (header !== undefined && header.number === number) loaded.push({ header, bytes })
      else if (number === numbers[numbers.length - 1] && bytes.length <= HEADER_BYTES) {
        // The process died while it began this segment: nobody was told of anything in it.
        this.files.remove(path)
      } else throw EmbeddedErrors.LOG_DAMAGED({ file: path, offset: 0, reason: 'no valid header' })
    }
    return loaded
  }

  /** Returns how many bytes of the segment are valid. */
  private replaySegment(
    header: SegmentHeader,
    bytes: Buffer,
    knownLength: number | undefined,
    replay: (record: LogRecord, segment: number) => void,
  ): number {
    const file = this.pathOf(header.number)
    const end = knownLength ?? bytes.length
    if (end > bytes.length)
      throw EmbeddedErrors.LOG_DAMAGED({ file, offset: bytes.length, reason: 'its end is missing' })
    const valid = bytes.subarray(0, end)
    let offset = HEADER_BYTES
    let expected = header.firstLsn
    while (offset < end) {
      const record = recordAt(valid, offset)
      if (record?.lsn !== expected) {
        const { closedAt } = this.options
        const wasWhole = closedAt?.segment === header.number && offset < closedAt.length
        const torn = knownLength === undefined && !wasWhole && wholeRecordAfter(valid, offset, expected) === undefined
        if (torn) break
        throw EmbeddedErrors.LOG_DAMAGED({ file, offset, reason: 'checksum mismatch' })
      }
      replay(record, header.number)
      offset += RECORD_HEADER_BYTES + record.payload.length
      expected++
    }
    this.nextLsn = expected
    return offset
  }

  private pathOf(number: number): string {
    return join(this.options.directory, NAMES.name(number))
  }
}

function failure(file: string, error: unknown): Error {
  const full = error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
  if (full) return EmbeddedErrors.DISK_FULL({ file }, error)
  return EmbeddedErrors.WRITE_FAILED({ file, reason: errorText(error) }, error)
}
