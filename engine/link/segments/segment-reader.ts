/** Hands out the frames of the log in order: from memory while it stands at the log's end, else from the files. */
import type { Clock, TimerHandle } from '../../../model/clock.ts'
import type { SegmentFile } from '../../../disk/segment-file.ts'
import type { FrameReader, StoredFrame } from '../frame-broker.ts'
import type { OpenFrame } from '../record.ts'
import type { FrameInSegment, SegmentFrames } from './segment-frames.ts'

const READ_RETRY_MS = 1000
/** Frames are read as they are wanted: no more than one look at the file brings. */
const PIECE_BYTES = 1
/** Of frames that were stored while it was behind: without them it would hardly catch up with a busy writer. */
const TAIL_BYTES = 4 << 20

export interface SegmentReaderOptions {
  readonly clock: Clock
  readonly frames: SegmentFrames
  /** Where it begins. */
  readonly from: number
  /** What is known of a frame beside its block. Asked once, when it is handed out. */
  readonly notedOf: (frame: FrameInSegment) => OpenFrame | undefined
  readonly onFrame: (frame: StoredFrame) => void
  /** Reading failed at a sequence, and is tried again. */
  readonly onFailed: (from: number, error: unknown) => void
}

export class SegmentReader implements FrameReader {
  private readonly options: SegmentReaderOptions
  private demand = 0
  /** The sequence that comes next, while it is behind. */
  private next: number
  /** Not at the end of the log. */
  private isBehind = true
  /** Read from the files, and to be handed out before the tail. */
  private read: FrameInSegment[] = []
  /** The newest frames of the log while it is behind, one after the other. */
  private tail: FrameInSegment[] = []
  private tailBytes = 0
  private isReading = false
  private isClosed = false
  private retry: TimerHandle | undefined
  private reading: Promise<void> = Promise.resolve()

  constructor(options: SegmentReaderOptions) {
    this.options = options
    this.next = options.from
  }

  request(frames: number): void {
    this.demand += frames
    this.readOn()
  }

  /** A frame is durable at the end of the log. */
  stored(frame: FrameInSegment, segment: SegmentFile, offset: number): void {
    if (this.isClosed || frame.position < this.next) return
    if (!this.isBehind && this.demand > 0) {
      this.demand--
      this.options.onFrame(frame)
      return
    }
    if (!this.isBehind) {
      this.isBehind = true
      this.next = frame.position
      this.options.frames.moveTo({ segment, offset, next: frame.position })
    }
    this.tail.push(frame)
    this.tailBytes += frame.bytes
    while (this.tailBytes > TAIL_BYTES) this.dropOldest()
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.retry?.cancel()
    await this.reading
  }

  private readOn(): void {
    if (this.isReading || this.isClosed || this.retry !== undefined || !this.isBehind) return
    if (this.demand === 0) return
    this.isReading = true
    this.reading = this.readUntilEnough().then(
      () => {
        this.isReading = false
        this.readOn()
      },
      (error: unknown) => {
        this.isReading = false
        this.options.onFailed(this.next, error)
        if (this.isClosed) return
        this.retry = this.options.clock.after(READ_RETRY_MS, () => {
          this.retry = undefined
          this.readOn()
        })
      },
    )
  }

  private async readUntilEnough(): Promise<void> {
    while (this.isBehind && !this.isClosed && this.demand > 0) {
      const read = this.read.shift()
      if (read !== undefined) this.handOut({ ...read, noted: this.options.notedOf(read) })
      else if (!this.handOutTail()) await this.readSome()
    }
  }

  /** False where the files have frames that come before those in memory. */
  private handOutTail(): boolean {
    while ((this.tail[0]?.position ?? Infinity) < this.next) this.dropOldest()
    const [first] = this.tail
    if (first?.position !== this.next) return false
    this.dropOldest()
    this.handOut(first)
    this.isBehind = this.tail.length > 0
    return true
  }

  private handOut(frame: FrameInSegment): void {
    this.next = frame.end
    this.demand--
    this.options.onFrame(frame)
  }

  /** Reads the next frames, or learns that there are none. */
  private async readSome(): Promise<void> {
    const { frames, next, isEnd } = await this.options.frames.read(this.next, PIECE_BYTES)
    this.read.push(...frames)
    if (frames.length > 0) return
    this.next = next
    // What was stored since it was read is in the tail, or comes.
    if (isEnd && this.tail.length === 0) this.isBehind = false
  }

  private dropOldest(): void {
    this.tailBytes -= this.tail.shift()?.bytes ?? 0
  }
}
