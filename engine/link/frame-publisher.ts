/**
 * The sending side: one commit a stream in flight, what comes meanwhile is the next frame. A frame whose fate is unknown is tried
 * again under its own id, so that the broker stores it once, until its time is over; then its messages are refused. What comes behind it
 * waits, so that nothing overtakes. Where a record rides along, a commit also has what was settled since the last.
 */
import type { Clock, Random } from '../../model/clock.ts'
import { errorText, isMillraceError, type MillraceError } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import { LinkErrors } from './errors.ts'
import type { LinkEventListener } from './events.ts'
import type { Committed, FrameBroker, RecordWrite } from './frame-broker.ts'
import { Frame, ReceiptTeller } from './frame.ts'
import type { PublishReceipt } from './link.ts'
import type { FrameLinkBounds } from './options.ts'
import { partitionOf, streamOf } from './partition.ts'
import { newLane, type Lane, type PendingFrame, type RecordSource } from './publish-lane.ts'
import { PublishRoom } from './publish-room.ts'

const RETRY_MS = 50
const FRAMES_KEPT = 64

export interface FramePublisherOptions {
  readonly broker: FrameBroker
  readonly partitions: number
  readonly clock: Clock
  readonly random: Random
  readonly bounds: FrameLinkBounds
  readonly onEvent: LinkEventListener
}

export class FramePublisher {
  readonly counts = { published: 0, stored: 0, writes: 0, bytesWritten: 0, retries: 0, rests: 0, restedMs: 0 }
  /** What waits to be stored or is in flight, and who may add to it. */
  readonly room: PublishRoom
  private readonly options: FramePublisherOptions
  private readonly lanes: Lane[]
  private dirty: Lane[] = []
  private spare: Frame[] = []
  private readonly teller: ReceiptTeller
  private readonly idPrefix: string
  private frameCount = 0
  private isClosing = false
  private isScheduled = false
  private whenIdle: (() => void)[] = []
  private readonly retryNow = new Set<() => void>()
  private readonly stopListening: (() => void)[]

  constructor(options: FramePublisherOptions) {
    const { broker, partitions, clock, random, bounds, onEvent } = options
    this.options = options
    this.room = new PublishRoom(broker, bounds)
    this.idPrefix = random.uuid()
    this.teller = new ReceiptTeller(clock, onEvent)
    this.spare.push(new Frame(partitions))
    this.lanes = Array.from({ length: broker.streams }, (_, stream) => newLane(stream))
    this.stopListening = [
      broker.onConnection((connected) => {
        if (connected) for (const retry of [...this.retryNow]) retry()
      }),
      broker.onRoom(() => {
        for (const lane of this.lanes) this.sendNext(lane)
        this.room.lookIfFree()
      }),
    ]
  }

  get refused(): number {
    return this.teller.refused
  }

  /** Streams that did not answer the last frame in time, though the broker is there. */
  get silentStreams(): readonly number[] {
    return this.lanes.filter(({ isSilent }) => isSilent).map(({ stream }) => stream)
  }

  publish(message: Message, receipt: PublishReceipt): void {
    const { partitions, broker } = this.options
    this.counts.published++
    const lane =
      this.lanes.length === 1
        ? this.lanes[0]
        : this.lanes[streamOf(partitionOf(message.originator.id, partitions), broker.streams)]
    const refusal = this.refusalOf(message, lane)
    if (lane === undefined || refusal !== undefined) {
      this.teller.refuseSoon(receipt, refusal ?? LinkErrors.LINK_CLOSED())
      return
    }
    const pending = this.openFrame(lane, message)
    const { frame } = pending
    let size: number
    try {
      size = frame.add(message, receipt)
    } catch (error) {
      // Nobody reads, and so nobody settles, a frame of nothing.
      if (frame.messages.length === 0) this.keep(lane.frames.pop())
      this.teller.refuseSoon(receipt, LinkErrors.MESSAGE_INVALID({ reason: errorText(error) }, error))
      return
    }
    pending.bytes += size
    this.room.add(message.tenantId, size)
    if (!lane.isResting) this.markDirty(lane)
    else if (frame.messages.length >= lane.restUntil || this.isClosed(frame) || lane.frames.length > 1) lane.rest.end()
  }

  /** Encodes only what may be too large. Throws MESSAGE_TOO_LARGE, MESSAGE_INVALID. */
  checkFits(message: Message): void {
    const { largestMessage } = this
    const limit = this.options.broker.limits.maxFrameBytes
    const { length } = message.data
    if (length > largestMessage) throw LinkErrors.MESSAGE_TOO_LARGE({ size: length, limit: largestMessage })
    if (largestSize(message) <= limit) return
    const { block } = new Frame(this.options.partitions)
    try {
      block.message(message)
    } catch (error) {
      throw LinkErrors.MESSAGE_INVALID({ reason: errorText(error) }, error)
    }
    if (block.bytes > limit) throw LinkErrors.MESSAGE_TOO_LARGE({ size: block.bytes, limit })
  }

  /** From now on the commits of the stream have this owner's record with them; undefined: nobody's. */
  setSource(stream: number, source: RecordSource | undefined): void {
    const lane = this.lanes[stream]
    if (lane !== undefined) lane.source = source
  }

  /** Commits what the stream's owner has to write, with the next frame or alone. */
  commitRecord(stream: number): void {
    const lane = this.lanes[stream]
    if (lane === undefined) return
    lane.isRecordDue = true
    this.sendNext(lane)
  }

  /** Sends what waits, refuses what comes; resolves when every receipt was told. */
  async close(): Promise<void> {
    this.isClosing = true
    this.room.close()
    for (const { rest } of this.lanes) rest.end()
    if (this.room.messages > 0) await new Promise<void>((resolve) => this.whenIdle.push(resolve))
    for (const lane of this.lanes) lane.fullTimer?.cancel()
    for (const stop of this.stopListening) stop()
  }

  private get largestMessage(): number {
    return Math.min(this.options.broker.limits.maxFrameBytes, this.options.bounds.maxMessageSize)
  }

  private refusalOf(message: Message, lane: Lane | undefined): MillraceError | undefined {
    if (this.isClosing) return LinkErrors.LINK_CLOSED()
    const limit = this.largestMessage
    if (message.data.length > limit) return LinkErrors.MESSAGE_TOO_LARGE({ size: message.data.length, limit })
    return this.room.refusal ?? lane?.refusal
  }

  /** The frame that the message joins: a new one where the last is in flight, large enough, or has no place for a large message. */
  private openFrame(lane: Lane, message: Message): PendingFrame {
    const last = lane.frames.at(-1)
    const isInFlight = lane.isSending && lane.frames.length === 1
    if (last !== undefined && !isInFlight) {
      const { entries, bytes } = last.frame.block
      const hasPlace = bytes + largestSize(message) < this.options.broker.limits.maxFrameBytes
      if (entries === 0 || (hasPlace && !this.isClosed(last.frame))) return last
    }
    const frame = this.spare.pop() ?? new Frame(this.options.partitions)
    const opened = { frame, openedAt: this.options.clock.monotonic(), bytes: 0, id: '' }
    lane.frames.push(opened)
    return opened
  }

  /** It takes no further message. */
  private isClosed({ block }: Frame): boolean {
    const { maxFrameMessages, closeAtBytes } = this.options.broker.limits
    return block.entries >= maxFrameMessages || block.bytes >= closeAtBytes
  }

  private markDirty(lane: Lane): void {
    if (lane.isDirty || lane.isSending) return
    lane.isDirty = true
    this.dirty.push(lane)
    if (this.isScheduled) return
    this.isScheduled = true
    this.options.clock.soon(() => {
      this.isScheduled = false
      const lanes = this.dirty
      this.dirty = []
      for (const each of lanes) {
        each.isDirty = false
        this.sendNext(each)
      }
    })
  }

  private sendNext(lane: Lane): void {
    const { broker } = this.options
    if (lane.isSending || lane.isResting || broker.refusal !== undefined) return
    const next = lane.frames[0]
    if (next === undefined && !lane.isRecordDue) return
    const refusal = next === undefined ? undefined : (lane.refusal ?? this.tooLarge(next))
    if (next !== undefined && refusal !== undefined) {
      this.teller.refuse(next.frame.receipts, refusal)
      this.done(lane, next)
      return
    }
    const record = lane.source?.takeRecord()
    lane.isRecordDue = false
    if (next === undefined && record === undefined) return
    lane.isSending = true
    lane.sentAtMs = this.options.clock.monotonic()
    if (next !== undefined && next.id === '') next.id = `${this.idPrefix}-${(++this.frameCount).toString(36)}`
    const frame = next === undefined ? undefined : { content: next.frame, id: next.id }
    broker.commit(lane.stream, { frame, record }).then(
      (committed) => this.committed(lane, next, record, committed),
      (error: unknown) => this.failed(lane, next, record, error),
    )
  }

  private tooLarge({ frame }: PendingFrame): MillraceError | undefined {
    const limit = this.options.broker.limits.maxFrameBytes
    const size = frame.block.bytes
    return size > limit ? LinkErrors.MESSAGE_TOO_LARGE({ size, limit }) : undefined
  }

  private committed(
    lane: Lane,
    pending: PendingFrame | undefined,
    record: RecordWrite | undefined,
    { position, revision }: Committed,
  ): void {
    if (record !== undefined) lane.source?.recordWritten(revision)
    if (pending === undefined) {
      lane.isSending = false
      this.sendNext(lane)
      return
    }
    this.stored(lane, pending.frame, position)
    this.restBehind(lane, pending.frame)
    this.done(lane, pending)
  }

  private failed(lane: Lane, pending: PendingFrame | undefined, record: RecordWrite | undefined, error: unknown): void {
    if (record !== undefined) lane.source?.recordRefused(error)
    const { broker, clock, bounds } = this.options
    const refusal = isMillraceError(error) ? error : LinkErrors.BROKER_AWAY({ reason: errorText(error) }, error)
    if (refusal.code === 'link.DISK_REFUSED') {
      this.refuseAll(lane, refusal)
      return
    }
    if (pending === undefined) {
      lane.isSending = false
      this.sendNext(lane)
      return
    }
    const remaining = pending.openedAt + bounds.publishTimeoutMs - clock.monotonic()
    if (refusal.code === 'link.BROKER_AWAY' && remaining > 0) {
      this.counts.retries++
      void this.retryPause(broker.connected ? Math.min(RETRY_MS, remaining) : remaining).then(() => {
        lane.isSending = false
        this.sendNext(lane)
      })
      return
    }
    if (refusal.code === 'link.BACKLOG_FULL') this.full(lane, refusal)
    if (refusal.code === 'link.BROKER_AWAY' && broker.connected) this.silent(lane, refusal)
    this.room.lookIfFull()
    this.teller.refuse(pending.frame.receipts, refusal)
    this.done(lane, pending)
  }

  /** While a disk refuses there is no next try: nothing waits for it, whatever the write was that failed. */
  private refuseAll(lane: Lane, refusal: MillraceError): void {
    const refused = [...lane.frames]
    lane.isSending = false
    this.room.lookIfFull()
    for (const { frame } of refused) this.teller.refuse(frame.receipts, refusal)
    for (const each of refused) this.done(lane, each)
  }

  private silent(lane: Lane, { message }: MillraceError): void {
    if (!lane.isSilent) this.options.onEvent({ kind: 'stream-silent', stream: lane.stream, reason: message })
    lane.isSilent = true
  }

  /** Ends early when the connection comes back. */
  private retryPause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel()
        this.retryNow.delete(end)
        resolve()
      }
      const timer = this.options.clock.after(delayMs, end)
      this.retryNow.add(end)
    })
  }

  private restBehind(lane: Lane, { messages }: Frame): void {
    const { broker, clock } = this.options
    const { rest } = broker
    const [, waiting, further] = lane.frames
    if (rest === undefined || this.isClosing || messages.length < rest.leastMessages) return
    // Nothing more would go with the next frame.
    if (further !== undefined || (waiting !== undefined && this.isClosed(waiting.frame))) return
    const tookMs = clock.monotonic() - lane.sentAtMs
    if (tookMs < rest.leastTookMs) return
    lane.isResting = true
    lane.restUntil = messages.length + (waiting?.frame.messages.length ?? 0)
    this.counts.rests++
    const began = clock.monotonic()
    void lane.rest.take(clock, Math.min(rest.mostMs, tookMs * rest.part)).then(() => {
      lane.isResting = false
      this.counts.restedMs += clock.monotonic() - began
      this.sendNext(lane)
    })
  }

  private stored(lane: Lane, frame: Frame, position: number): void {
    const { stream, lastPosition } = lane
    const { broker, onEvent } = this.options
    if (position <= lastPosition) onEvent({ kind: 'stream-went-back', stream, from: position, to: lastPosition })
    lane.lastPosition = position
    let sequence = position * broker.step
    for (const message of frame.messages) message.sequence = sequence++
    this.counts.writes++
    this.counts.bytesWritten += frame.block.bytes
    this.counts.stored += frame.messages.length
    this.teller.stored(frame.receipts)
    if (lane.isSilent) onEvent({ kind: 'stream-answers', stream })
    lane.isSilent = false
    if (!lane.isFull) return
    lane.isFull = false
    onEvent({ kind: 'stream-open', stream })
  }

  private done(lane: Lane, pending: PendingFrame): void {
    const { frame } = pending
    lane.isSending = false
    lane.frames.splice(lane.frames.indexOf(pending), 1)
    this.room.remove(frame.messages, frame.sizes, pending.bytes)
    frame.reset()
    this.keep(pending)
    this.sendNext(lane)
    this.room.lookIfFree()
    if (this.room.messages > 0) return
    const waiting = this.whenIdle
    this.whenIdle = []
    for (const tell of waiting) tell()
  }

  private keep(pending: PendingFrame | undefined): void {
    if (pending !== undefined && this.spare.length < FRAMES_KEPT) this.spare.push(pending.frame)
  }

  /** Refuses what waits for the stream and what comes, for a while: then the next frame is the try. */
  private full(lane: Lane, refusal: MillraceError): void {
    this.room.streamFull()
    if (!lane.isFull) this.options.onEvent({ kind: 'stream-full', stream: lane.stream })
    lane.isFull = true
    lane.refusal = refusal
    lane.fullTimer = this.options.clock.after(this.options.bounds.fullPauseMs, () => {
      lane.refusal = undefined
      this.room.streamTried()
    })
  }
}

/** An upper bound of what the message adds to a frame, in bytes: a character is at most three. */
function largestSize(message: Message): number {
  let characters = message.data.length + 512
  for (const key in message.metadata) characters += key.length + (message.metadata[key]?.length ?? 0) + 8
  return characters * 3
}
