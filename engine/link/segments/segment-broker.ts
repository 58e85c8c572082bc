/**
 * The broker of one process: one stream, in segments on its disk. Frame, settles and tries of a commit are one checksummed block
 * (`disk/block.ts`, `wire.ts`); after a disk error nothing is stored until a new segment could be written (`disk/record-log.ts`); what a run
 * left is read at opening (`disk/recovery.ts`).
 */
import type { TimerHandle } from '../../../model/clock.ts'
import { errorText, type MillraceError } from '../../../model/errors.ts'
import type { Message } from '../../../model/message.ts'
import type { Block } from '../../../disk/block.ts'
import type { DamagedRange } from '../../../disk/events.ts'
import { RecordLog, type RecordPlace } from '../../../disk/record-log.ts'
import type { Recovery } from '../../../disk/recovery.ts'
import type { SegmentFile } from '../../../disk/segment-file.ts'
import type { Segments } from '../../../disk/segments.ts'
import { BlockWriter } from '../block-writer.ts'
import { LinkErrors } from '../errors.ts'
import type { LinkEventListener } from '../events.ts'
import type {
  Commit,
  Committed,
  FrameBroker,
  FrameContent,
  FramePlace,
  FrameReader,
  FrameReaderListener,
  HistoryPiece,
  ReadStart,
  RecordWrite,
  StoredFrame,
  StreamRecord,
  WantsQueue,
} from '../frame-broker.ts'
import { LINK_SEGMENTS } from '../log-format.ts'
import { encodeRecord, NEW_RECORD, type ObserverNote } from '../record.ts'
import type { SegmentLogBounds, SegmentLogOptions } from './segment-log-options.ts'
import { SegmentReader, type Range } from './segment-reader.ts'
import { decodeBlock } from '../wire.ts'
import { FormerRuns } from './former-runs.ts'
import { placeIn, placeOf, storedFrame } from './segment-frame.ts'
import { SegmentHistory } from './segment-history.ts'

const FIRST_PROBE_MS = 100
const LAST_PROBE_MS = 5000
/**
 * A log without a segment begins to count here × Unix ms. What devices wrote carries the sequence as its version, so a log that was lost must
 * not count from below: 256,000 messages a second would have to come all the time to overtake it. The product stays far below 2^52, so that the
 * series store has room for a version between two sequences.
 */
const SEQUENCES_A_MS = 256

export async function openSegmentBroker(
  options: SegmentLogOptions,
  bounds: SegmentLogBounds,
  onEvent: LinkEventListener,
): Promise<SegmentBroker> {
  const { disk, directory, durability, clock } = options
  const settled: [number, number][] = []
  const tries = new Map<number, number>()
  let note: ObserverNote | undefined
  let storedAt = 0
  let recovered: Recovery = { segments: [], nextSequence: 1 }
  const log = await RecordLog.open(
    {
      disk,
      directory,
      durability,
      segmentBytes: bounds.segmentBytes,
      format: LINK_SEGMENTS,
      onEvent,
      startAt: (recovery) => {
        const isNew = recovery.segments.length === 0 && recovery.nextSequence === 1
        const nextSequence = isNew ? Math.floor(clock.now()) * SEQUENCES_A_MS : recovery.nextSequence
        recovered = { ...recovery, nextSequence }
        return nextSequence
      },
    },
    (content) => {
      for (const range of content.settled) settled.push(range)
      for (const [sequence, count] of content.attempts) tries.set(sequence, count)
      note = content.note ?? note
      storedAt = Math.max(storedAt, content.time)
    },
  )
  const former = new FormerRuns(recovered, settled, tries, note)
  const broker = new SegmentBroker(options, bounds, onEvent, log, former, storedAt)
  await broker.start()
  return broker
}

export class SegmentBroker implements FrameBroker {
  readonly streams = 1
  readonly step = 1
  readonly limits
  readonly recordRidesAlong = true
  readonly connected = true
  readonly maxBacklogBytes: number
  /** Of all segments with unsettled messages; kept here because every publish asks. */
  backlogBytes = 0
  refusal: MillraceError | undefined
  /** Messages that are durable and not settled. */
  unsettled: number
  writes = 0
  bytesWritten = 0
  diskFailures = 0
  private readonly options: SegmentLogOptions
  private readonly onEvent: LinkEventListener
  private readonly former: FormerRuns
  private readonly log: RecordLog
  private readonly segments: Segments
  private readonly bare = new BlockWriter(1)
  private nextSequence: number
  private settledBelow: number
  private removeBelow = 0
  private readonly mayGo = ({ nextSequence }: SegmentFile): boolean => nextSequence <= this.removeBelow
  private lastStoredAt: number
  private revision = 0
  /** The segment that this run opened first: what stands before it was there. */
  private ownFrom = Infinity
  private reader: SegmentReader | undefined
  private handedOut: { readonly frame: StoredFrame; readonly segment: SegmentFile; readonly offset: number }[] = []
  private readonly past: SegmentHistory
  private readonly roomListeners = new Set<() => void>()
  private probe: TimerHandle | undefined
  private probing: Promise<void> | undefined
  private isClosing = false

  constructor(
    options: SegmentLogOptions,
    bounds: SegmentLogBounds,
    onEvent: LinkEventListener,
    log: RecordLog,
    former: FormerRuns,
    storedAt: number,
  ) {
    this.options = options
    this.onEvent = onEvent
    this.former = former
    this.limits = {
      maxFrameMessages: bounds.maxPendingMessages,
      maxFrameBytes: Infinity,
      closeAtBytes: bounds.maxPendingBytes / 4,
    }
    this.maxBacklogBytes = bounds.maxBacklogBytes
    this.unsettled = former.unsettled
    this.settledBelow = former.settledBelow
    this.lastStoredAt = storedAt
    this.nextSequence = former.nextSequence
    this.log = log
    this.segments = log.segments
    this.past = new SegmentHistory(log.segments)
  }

  async start(): Promise<void> {
    this.ownFrom = (await this.log.openSegment()).id
    this.roomChanged()
  }

  get segmentCount(): number {
    return this.segments.count
  }

  onConnection(): () => void {
    return () => undefined
  }

  onRoom(listener: () => void): () => void {
    this.roomListeners.add(listener)
    return () => void this.roomListeners.delete(listener)
  }

  commit(_stream: number, { frame, record }: Commit): Promise<Committed> {
    const change = record?.change
    const isEmpty = change === undefined || (change.settled.length === 0 && change.tries.size === 0 && !change.note)
    if (frame === undefined && isEmpty) {
      this.recorded(record)
      return Promise.resolve().then(() => {
        this.roomChanged()
        return { position: 0, revision: ++this.revision }
      })
    }
    if (this.refusal !== undefined) return Promise.reject(this.refusal)
    const block = frame?.content.block ?? this.bare
    if (frame === undefined) block.reset()
    const messages = frame?.content.messages ?? []
    const position = this.nextSequence
    const next = position + messages.length
    if (messages.length > 0) this.number(block, messages, position)
    if (change !== undefined) {
      block.settled(change.settled)
      block.attempts(change.tries)
      if (change.note !== undefined) block.note(change.note)
    }
    const bytes = block.finish()
    const storedAt = this.lastStoredAt
    const committed = this.log.append(bytes, messages.length === 0 ? 0 : next).then(
      (place) => {
        this.writes++
        this.bytesWritten += place.bytes
        if (messages.length > 0) this.stored(messages, position, storedAt, place)
        this.unsettled -= change?.settled.length ?? 0
        this.recorded(record)
        this.roomChanged()
        return { position, revision: ++this.revision }
      },
      (error: unknown) => {
        throw this.refuse(error)
      },
    )
    // A step behind the receipts: who published hears before the message is delivered.
    const nothing = (): void => undefined
    void committed.then(nothing, nothing).then(() => this.handOut())
    return committed
  }

  readRecord(): Promise<StreamRecord> {
    const { settledBelow, note } = this.former
    const read = { position: settledBelow - 1, storedAt: Number.MAX_SAFE_INTEGER }
    const body = encodeRecord({ ...NEW_RECORD, epoch: this.ownFrom - 1, read, note })
    return Promise.resolve({ body, revision: this.revision, settledBytes: this.segments.bytesBelow(settledBelow) })
  }

  read(_stream: number, _epoch: number, { from }: ReadStart, listener: FrameReaderListener): Promise<FrameReader> {
    const { segments, onEvent } = this
    this.reader = new SegmentReader({
      clock: this.options.clock,
      segments,
      onEvent,
      from,
      frameOf: (block, segment) => this.frameOf(block, segment, from),
      onFrame: (frame) => listener.onFrame(frame),
      onLost: (segment, damage, first, end) => this.lost(segment, damage, first, end),
    })
    return Promise.resolve(this.reader)
  }

  async fetch(_stream: number, frame: FramePlace, wants: WantsQueue): Promise<FrameContent | undefined> {
    const { position, bytes, count } = frame
    const { segmentId, offset } = placeIn(frame.place)
    const segment = this.segments.withId(segmentId)
    if (segment === undefined) return undefined
    const record = await this.log.tryRead({ segment, offset, bytes })
    if (record !== undefined) return decodeBlock(record.body, { entries: true, wants })
    this.lost(segment, { from: offset, to: offset + bytes }, position, position + count)
    return undefined
  }

  history(_stream: number, from: number, maxBytes: number): Promise<HistoryPiece> {
    return this.past.read(from, maxBytes)
  }

  async close(): Promise<void> {
    this.isClosing = true
    this.probe?.cancel()
    await this.probing
    await this.reader?.close()
    await this.log.close()
  }

  private number(block: BlockWriter, messages: readonly Message[], position: number): void {
    this.nextSequence = position + messages.length
    this.lastStoredAt = Math.max(this.lastStoredAt, this.options.clock.now())
    block.renumber(position)
    block.time(this.lastStoredAt)
  }

  private stored(
    messages: readonly Message[],
    position: number,
    storedAt: number,
    { segment, offset, bytes }: RecordPlace,
  ): void {
    const count = messages.length
    this.unsettled += count
    if (this.reader === undefined) return
    const content = { messages, count }
    const place = placeOf(segment, offset)
    const frame = { position, storedAt, bytes, place, noted: undefined, count, read: () => content }
    this.handedOut.push({ frame, segment, offset })
  }

  private handOut(): void {
    const frames = this.handedOut
    if (frames.length === 0) return
    this.handedOut = []
    for (const { frame, segment, offset } of frames) this.reader?.stored(frame, segment, offset)
  }

  /** What the record says is durable. */
  private recorded(record: RecordWrite | undefined): void {
    if (record === undefined) return
    this.settledBelow = Math.max(this.settledBelow, record.settledBelow)
    this.removeBelow = Math.max(this.removeBelow, record.removeBelow)
    void this.segments.remove(this.mayGo)
  }

  private frameOf(
    { body, offset, end }: Block,
    segment: SegmentFile,
    from: number,
  ): { readonly frame: StoredFrame | undefined; readonly range: Range | undefined } {
    const isOwn = segment.id >= this.ownFrom
    if (!isOwn) {
      const { firstSequence, count } = decodeBlock(body, { entries: false })
      if (count === 0) return { frame: undefined, range: undefined }
      const range: Range = [firstSequence, firstSequence + count]
      if (range[1] <= from) return { frame: undefined, range }
    }
    const content = decodeBlock(body, { entries: true })
    if (content.count === 0) return { frame: undefined, range: undefined }
    const noted = isOwn ? undefined : this.former.take(content)
    const frame = storedFrame(content, { offset, end }, segment, noted)
    return { frame, range: [content.firstSequence, content.firstSequence + content.count] }
  }

  private lost(segment: SegmentFile, damage: DamagedRange, from: number, to: number): void {
    // Damage that was there at the opening was told then, and its messages were never counted.
    if (segment.isDamaged) return
    segment.isDamaged = true
    const lostMessages = to - from - this.former.settledWithin(from, to)
    this.unsettled -= lostMessages
    this.onEvent({ kind: 'damaged', file: segment.path, ...damage, lostMessages })
  }

  private refuse(error: unknown): MillraceError {
    const refusal = LinkErrors.DISK_REFUSED({ reason: errorText(error) }, error)
    this.refusal = refusal
    this.diskFailed(this.segments.newest?.path ?? this.options.directory, error)
    this.probeLater(FIRST_PROBE_MS)
    return refusal
  }

  private diskFailed(file: string, error: unknown): void {
    this.diskFailures++
    this.onEvent({ kind: 'disk-failed', file, error })
  }

  private probeLater(pauseMs: number): void {
    if (this.isClosing) return
    this.probe = this.options.clock.after(pauseMs, () => {
      this.probe = undefined
      this.probing = this.log.openSegment().then(
        ({ path }) => {
          this.refusal = undefined
          this.onEvent({ kind: 'disk-recovered', file: path })
          this.roomChanged()
        },
        (error: unknown) => {
          this.diskFailed(this.options.directory, error)
          this.probeLater(Math.min(LAST_PROBE_MS, pauseMs * 2))
        },
      )
    })
  }

  private roomChanged(): void {
    this.backlogBytes = this.segments.bytesFrom(this.settledBelow)
    for (const listener of this.roomListeners) listener()
  }
}
