/**
 * The sending side: one frame a partition in flight, what comes meanwhile is the next one. A frame whose fate is unknown is tried
 * again under its own id, so that the broker stores it once, until its time is over; then its messages are refused. What comes behind it
 * waits, so that nothing overtakes.
 */
import type { Clock, Random, TimerHandle } from '../../../model/clock.ts'
import { errorText, isMillraceError, type MillraceError } from '../../../model/errors.ts'
import type { Message } from '../../../model/message.ts'
import { LinkErrors } from '../errors.ts'
import { Frame, ReceiptTeller } from '../frame.ts'
import type { PublishReceipt } from '../link.ts'
import { partitionOf } from '../partition.ts'
import type { FrameBroker } from './broker.ts'
import type { FrameLinkEventListener } from './events.ts'
import type { FrameLinkBounds } from './options.ts'

/** Index bits of a sequence: messages of a frame at most. */
export const FRAME_MESSAGES = 4096
const RETRY_MS = 50
/** A frame takes no more at this size, or at half of what the broker takes: what a message adds is known only when it is encoded. */
const CLOSE_AT_BYTES = 512 << 10
const FRAMES_KEPT = 64

interface PendingFrame {
  readonly frame: Frame
  openedAt: number
}

/** What waits for one partition. */
interface Lane {
  readonly partition: number
  /** Oldest first: the first is in flight while `isSending`, the last takes messages. */
  readonly frames: PendingFrame[]
  isSending: boolean
  isDirty: boolean
  /** Why nothing is taken for a while: the stream is full. */
  refusal: MillraceError | undefined
  fullTimer: TimerHandle | undefined
  /** Told as full, and no frame was stored since. */
  isFull: boolean
  /** The last position that a frame from here was stored at; 0 for none. */
  lastPosition: number
  /** Told as silent, and no frame was stored since. */
  isSilent: boolean
}

export interface FramePublisherOptions {
  readonly broker: FrameBroker
  readonly clock: Clock
  readonly random: Random
  readonly bounds: FrameLinkBounds
  readonly onEvent: FrameLinkEventListener
}

export class FramePublisher {
  readonly counts = { published: 0, stored: 0, writes: 0, bytesWritten: 0, retries: 0 }
  private readonly options: FramePublisherOptions
  private readonly lanes: Lane[]
  private dirty: Lane[] = []
  private spare: Frame[] = []
  private readonly teller: ReceiptTeller
  private readonly idPrefix: string
  private frameCount = 0
  private pendingMessages = 0
  private pendingBytes = 0
  private fullLanes = 0
  private isWritable = true
  private isClosing = false
  private isScheduled = false
  private readonly writableListeners = new Set<() => void>()
  private whenIdle: (() => void)[] = []
  private readonly retryNow = new Set<() => void>()
  private readonly stopListening: () => void

  constructor(options: FramePublisherOptions) {
    const { broker, clock, random, onEvent } = options
    this.options = options
    this.idPrefix = random.uuid()
    this.teller = new ReceiptTeller(clock, (event) => {
      if (event.kind === 'receipt-threw') onEvent(event)
    })
    this.lanes = Array.from({ length: broker.partitions }, (_, partition) => ({
      partition,
      frames: [],
      isSending: false,
      isDirty: false,
      refusal: undefined,
      fullTimer: undefined,
      isFull: false,
      lastPosition: 0,
      isSilent: false,
    }))
    this.stopListening = broker.onConnection((connected) => {
      if (connected) for (const retry of [...this.retryNow]) retry()
    })
  }

  get refused(): number {
    return this.teller.refused
  }

  get pending(): number {
    return this.pendingMessages
  }

  /** Partitions whose stream did not answer the last frame in time, though the broker is there. */
  get silentPartitions(): readonly number[] {
    return this.lanes.filter(({ isSilent }) => isSilent).map(({ partition }) => partition)
  }

  get writable(): boolean {
    return this.isWritable
  }

  onWritable(listener: () => void): () => void {
    this.writableListeners.add(listener)
    return () => void this.writableListeners.delete(listener)
  }

  publish(message: Message, receipt: PublishReceipt): void {
    this.counts.published++
    const lane = this.lanes[partitionOf(message.originator.id, this.lanes.length)]
    const refusal = this.refusalOf(message, lane)
    if (lane === undefined || refusal !== undefined) {
      this.teller.refuseSoon(receipt, refusal ?? LinkErrors.LINK_CLOSED())
      return
    }
    const { frame } = this.openFrame(lane, message)
    const before = frame.block.bytes
    try {
      frame.add(message, receipt)
    } catch (error) {
      // Nobody reads, and so nobody settles, a frame of nothing.
      if (frame.messages.length === 0) this.keep(lane.frames.pop())
      this.teller.refuseSoon(receipt, LinkErrors.MESSAGE_INVALID({ reason: errorText(error) }, error))
      return
    }
    this.pendingMessages++
    this.pendingBytes += frame.block.bytes - before
    if (this.isWritable && this.isOverHalf()) this.isWritable = false
    this.markDirty(lane)
  }

  /** Encodes only what may be too large. Throws MESSAGE_TOO_LARGE, MESSAGE_INVALID. */
  checkFits(message: Message): void {
    const limit = this.options.bounds.maxFrameBytes
    if (message.data.length > limit) throw LinkErrors.MESSAGE_TOO_LARGE({ size: message.data.length, limit })
    if (largestSize(message) <= limit) return
    const alone = new Frame(this.lanes.length)
    try {
      alone.block.message(message)
    } catch (error) {
      throw LinkErrors.MESSAGE_INVALID({ reason: errorText(error) }, error)
    }
    const size = alone.block.finish().length
    if (size > limit) throw LinkErrors.MESSAGE_TOO_LARGE({ size, limit })
  }

  /** Sends what waits, refuses what comes; resolves when every receipt was told. */
  async close(): Promise<void> {
    this.isClosing = true
    this.isWritable = false
    if (this.pendingMessages > 0) await new Promise<void>((resolve) => this.whenIdle.push(resolve))
    for (const lane of this.lanes) lane.fullTimer?.cancel()
    this.stopListening()
  }

  private refusalOf(message: Message, lane: Lane | undefined): MillraceError | undefined {
    const { maxPendingMessages, maxPendingBytes, maxFrameBytes } = this.options.bounds
    if (this.isClosing) return LinkErrors.LINK_CLOSED()
    if (message.data.length > maxFrameBytes) {
      return LinkErrors.MESSAGE_TOO_LARGE({ size: message.data.length, limit: maxFrameBytes })
    }
    if (this.pendingMessages >= maxPendingMessages || this.pendingBytes >= maxPendingBytes) {
      return LinkErrors.BUFFER_FULL({ messages: this.pendingMessages })
    }
    return lane?.refusal
  }

  /** The frame that the message joins: a new one where the last is in flight, large enough, or has no place for a large message. */
  private openFrame(lane: Lane, message: Message): PendingFrame {
    const last = lane.frames.at(-1)
    const isInFlight = lane.isSending && lane.frames.length === 1
    if (last !== undefined && !isInFlight) {
      const { entries, bytes } = last.frame.block
      const { maxFrameBytes } = this.options.bounds
      const closeAt = Math.min(CLOSE_AT_BYTES, maxFrameBytes / 2)
      const isSmall = entries < FRAME_MESSAGES && bytes < closeAt && bytes + largestSize(message) < maxFrameBytes
      if (entries === 0 || isSmall) return last
    }
    const opened = { frame: this.spare.pop() ?? new Frame(this.lanes.length), openedAt: this.options.clock.monotonic() }
    lane.frames.push(opened)
    return opened
  }

  private isOverHalf(): boolean {
    const { maxPendingMessages, maxPendingBytes } = this.options.bounds
    return (
      this.fullLanes > 0 || this.pendingMessages >= maxPendingMessages / 2 || this.pendingBytes >= maxPendingBytes / 2
    )
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
    const next = lane.frames[0]
    if (lane.isSending || next === undefined) return
    lane.isSending = true
    // Never rejects.
    void this.send(lane, next).then(() => this.sent(lane, next))
  }

  private async send(lane: Lane, { frame, openedAt }: PendingFrame): Promise<void> {
    const { broker, clock, bounds } = this.options
    if (lane.refusal !== undefined) {
      this.teller.refuse(frame.receipts, lane.refusal)
      return
    }
    const body = frame.block.finish()
    if (body.length > bounds.maxFrameBytes) {
      this.teller.refuse(
        frame.receipts,
        LinkErrors.MESSAGE_TOO_LARGE({ size: body.length, limit: bounds.maxFrameBytes }),
      )
      return
    }
    const frameId = `${this.idPrefix}-${(++this.frameCount).toString(36)}`
    const deadline = openedAt + bounds.publishTimeoutMs
    for (;;) {
      try {
        const position = await broker.publish(lane.partition, body, frameId)
        this.stored(lane, frame, position, body.length)
        return
      } catch (error) {
        const refusal = isMillraceError(error) ? error : LinkErrors.BROKER_AWAY({ reason: errorText(error) }, error)
        const remaining = deadline - clock.monotonic()
        if (refusal.code === 'link.BACKLOG_FULL') this.full(lane, refusal)
        if (refusal.code !== 'link.BROKER_AWAY' || remaining <= 0) {
          if (refusal.code === 'link.BROKER_AWAY' && broker.connected) this.silent(lane, refusal)
          this.teller.refuse(frame.receipts, refusal)
          return
        }
        this.counts.retries++
        await this.retryPause(broker.connected ? Math.min(RETRY_MS, remaining) : remaining)
      }
    }
  }

  private silent(lane: Lane, { message }: MillraceError): void {
    if (!lane.isSilent) this.options.onEvent({ kind: 'stream-silent', partition: lane.partition, reason: message })
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

  private stored(lane: Lane, frame: Frame, position: number, bytes: number): void {
    const { partition, lastPosition } = lane
    if (position <= lastPosition) {
      this.options.onEvent({ kind: 'stream-went-back', partition, from: position, to: lastPosition })
    }
    lane.lastPosition = position
    for (const [index, message] of frame.messages.entries()) message.sequence = position * FRAME_MESSAGES + index
    this.counts.writes++
    this.counts.bytesWritten += bytes
    this.counts.stored += frame.messages.length
    this.teller.stored(frame.receipts)
    if (lane.isSilent) this.options.onEvent({ kind: 'stream-answers', partition })
    lane.isSilent = false
    if (!lane.isFull) return
    lane.isFull = false
    this.options.onEvent({ kind: 'stream-open', partition })
  }

  private sent(lane: Lane, done: PendingFrame): void {
    const { frame } = done
    lane.isSending = false
    lane.frames.shift()
    this.pendingMessages -= frame.messages.length
    this.pendingBytes -= frame.block.bytes
    frame.reset()
    // An empty writer counts its header: only what messages added was counted.
    this.pendingBytes += frame.block.bytes
    this.keep(done)
    this.sendNext(lane)
    this.checkWritable()
    if (this.pendingMessages > 0) return
    const waiting = this.whenIdle
    this.whenIdle = []
    for (const tell of waiting) tell()
  }

  /** For a next one; it must be empty. */
  private keep(pending: PendingFrame | undefined): void {
    if (pending !== undefined && this.spare.length < FRAMES_KEPT) this.spare.push(pending.frame)
  }

  /** Refuses what waits for the partition and what comes, for a while: then the next frame is the try. */
  private full(lane: Lane, refusal: MillraceError): void {
    this.isWritable = false
    if (!lane.isFull) this.options.onEvent({ kind: 'stream-full', partition: lane.partition })
    lane.isFull = true
    lane.refusal = refusal
    this.fullLanes++
    lane.fullTimer = this.options.clock.after(this.options.bounds.fullPauseMs, () => {
      lane.refusal = undefined
      this.fullLanes--
      this.checkWritable()
    })
  }

  private checkWritable(): void {
    if (this.isWritable || this.isClosing || this.isOverHalf()) return
    this.isWritable = true
    for (const listener of [...this.writableListeners]) listener()
  }
}

/** An upper bound of what the message adds to a frame, in bytes: a character is at most three. */
function largestSize(message: Message): number {
  let characters = message.data.length + 512
  for (const key in message.metadata) characters += key.length + (message.metadata[key]?.length ?? 0) + 8
  return characters * 3
}
