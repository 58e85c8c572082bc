/**
 * What waits to be sent, in messages and bytes, and who may add to it. Over half of the bounds senders are asked to pause, as they are while the broker
 * holds them up; a tenant that has little waiting may go on. What is over the bounds is refused.
 */
import type { MillraceError } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import { LinkErrors } from './errors.ts'
import type { FrameBroker } from './frame-broker.ts'
import type { FrameLinkBounds } from './options.ts'
import { TenantWaiting, type Sizes } from './tenant-waiting.ts'

/** Share of a stream that may be taken before senders are asked to pause. */
const NEARLY_FULL = 0.9
/** Of what may wait, what one tenant has room for while over half of it is taken. */
const TENANT_SHARE = 0.125

export class PublishRoom {
  private readonly broker: FrameBroker
  private readonly bounds: FrameLinkBounds
  private readonly waiting = new TenantWaiting()
  private waitingMessages = 0
  private waitingBytes = 0
  private fullStreams = 0
  private isOpen = true
  private isClosed = false
  private readonly listeners = new Set<() => void>()

  constructor(broker: FrameBroker, bounds: FrameLinkBounds) {
    this.broker = broker
    this.bounds = bounds
  }

  /** Messages that wait, or are in flight. */
  get messages(): number {
    return this.waitingMessages
  }

  /** False: senders are asked to pause. */
  get isWritable(): boolean {
    return this.isOpen
  }

  onWritable(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  hasRoomFor(tenantId: string): boolean {
    if (this.isOpen) return true
    if (this.isClosed || this.isHeldUp()) return false
    const { maxPendingMessages, maxPendingBytes } = this.bounds
    return !this.waiting.isOver(tenantId, maxPendingMessages * TENANT_SHARE, maxPendingBytes * TENANT_SHARE)
  }

  /** Why nothing more may wait. */
  get refusal(): MillraceError | undefined {
    const { maxPendingMessages, maxPendingBytes } = this.bounds
    if (this.waitingMessages >= maxPendingMessages || this.waitingBytes >= maxPendingBytes) {
      return LinkErrors.BUFFER_FULL({ messages: this.waitingMessages })
    }
    const { backlogBytes: bytes, maxBacklogBytes } = this.broker
    if (bytes >= maxBacklogBytes) return LinkErrors.BACKLOG_FULL({ bytes, limit: maxBacklogBytes })
    return this.broker.refusal
  }

  add(tenantId: string, bytes: number): void {
    this.waiting.add(tenantId, bytes)
    this.waitingMessages++
    this.waitingBytes += bytes
    this.lookIfFull()
  }

  /** They were sent or refused. `sizes` are those of the messages, `bytes` their sum. */
  remove(messages: readonly Message[], sizes: Sizes, bytes: number): void {
    this.waitingMessages -= messages.length
    this.waitingBytes -= bytes
    this.waiting.remove(messages, sizes)
  }

  /** A stream takes nothing for a while. */
  streamFull(): void {
    this.isOpen = false
    this.fullStreams++
  }

  /** A stream that was full is tried again. */
  streamTried(): void {
    this.fullStreams--
    this.lookIfFree()
  }

  /** Senders may have to pause. */
  lookIfFull(): void {
    if (this.isOpen && this.isOverHalf()) this.isOpen = false
  }

  /** Senders that were asked to pause may go on. */
  lookIfFree(): void {
    if (this.isOpen || this.isClosed || this.isOverHalf()) return
    this.isOpen = true
    for (const listener of [...this.listeners]) listener()
  }

  close(): void {
    this.isClosed = true
    this.isOpen = false
  }

  private isOverHalf(): boolean {
    const { maxPendingMessages, maxPendingBytes } = this.bounds
    return this.waitingMessages >= maxPendingMessages / 2 || this.waitingBytes >= maxPendingBytes / 2 || this.isHeldUp()
  }

  /** By the broker, whoever sends. */
  private isHeldUp(): boolean {
    const { broker } = this
    return (
      this.fullStreams > 0 ||
      broker.refusal !== undefined ||
      broker.backlogBytes >= broker.maxBacklogBytes * NEARLY_FULL
    )
  }
}
