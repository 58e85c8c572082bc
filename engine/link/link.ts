/**
 * The link: the durable, ordered, partitioned way from whoever has a message to the rule engine. What piled up while the
 * last frame was being stored is the next frame; alone, a message is a frame of one and waits for nobody. No timers.
 *
 * Promises of every implementation (`contract.ts` checks them):
 * - `stored` is called only after the frame that holds the message is durable at the configured level.
 * - Messages of one originator are delivered in the order in which they were published.
 * - What was stored and not settled is delivered again after a restart, with its attempt count; what was settled is not.
 */
import type { Message } from '../../model/message.ts'
import type { MillraceError } from '../../model/errors.ts'

/** The queue of messages that name none. */
export const MAIN_QUEUE = 'Main'

/** Told once what became of a publish. The same object may stand for many messages: it is called once for each. */
export interface PublishReceipt {
  /** The message is durable: the device may be acknowledged. */
  stored(): void
  /** The message is not stored and will not be: back-pressure (`retryable`), closed, or the disk refused. */
  refused(error: MillraceError): void
}

/** A message on its way through the engine. */
export interface Delivery {
  readonly message: Message
  /** 1 for the first try; durable, so a restart does not begin again at 1. */
  readonly attempt: number
  /**
   * True once the link has given the message to another process: who holds it lets it go (by `settle`, which then does nothing) instead of
   * beginning it. Absent where that never happens.
   */
  readonly isGone?: boolean
}

export interface LinkConsumer {
  /** Takes a batch in log order, no more than `room` said. */
  deliver(batch: readonly Delivery[]): void
  /** How many more deliveries the consumer takes now; the link holds the rest (in memory up to its bound, then on disk). */
  room(): number
  /** What waits as there is no room for it, in log order: it is delivered later. Some is told twice. */
  ahead?(deliveries: readonly Delivery[]): void
}

/** What a link never takes, asked before something is committed that cannot be taken back. */
export interface PublishBound {
  /**
   * Throws what `publish` would refuse this message with for ever: MESSAGE_TOO_LARGE, MESSAGE_INVALID. A refusal that passes, such as
   * back-pressure, is not asked for.
   */
  checkFits(message: Message): void
}

/** A place in one stream of the log. */
export interface LogPosition {
  readonly stream: number
  readonly position: number
}

/** What was stored together, as its owner or who reads it again sees it. */
export interface LoggedFrame extends LogPosition {
  /** Unix ms. */
  readonly storedAt: number
  readonly messages: readonly Message[]
}

export interface ReadableLink {
  /** An originator's messages are all in one of them. */
  readonly streams: number
  /**
   * Frames of a stream from the first at or above a position up to its end, each once, settled or not; what comes later is read from
   * the last position + 1 on. Settled frames are there for the retention. It waits while deliveries wait, and is in no bound.
   */
  read(from: LogPosition): AsyncIterable<LoggedFrame>
}

/** What those see who only publish. */
export interface PublishLink {
  /** Joins the open frame. Never throws; the receipt tells. */
  publish(message: Message, receipt: PublishReceipt): void
  /** False while the link's buffer is over its bound: senders stop reading their sockets until `onWritable`. */
  readonly writable: boolean
  /**
   * For senders that have no socket to stop reading and must answer: while it is not `writable` because of what waits, who has little of that
   * is taken still.
   */
  hasRoomFor(tenantId: string): boolean
  /** Calls back each time `writable` turns true again; returns the way to stop listening. */
  onWritable(listener: () => void): () => void
}

export interface Link extends PublishLink {
  /**
   * Starts delivery of a queue's messages, replaying first what was stored and not settled. One consumer a queue; that of `Main` also gets
   * what belongs to a queue that has no consumer. A queue whose consumer has no room holds up no other. The returned function gives the queue
   * up: what was delivered is still settled by its consumer, what was not and what comes goes to `Main`.
   */
  consume(consumer: LinkConsumer, queueName?: string): () => void
  /** The consumer has room again. */
  wake(): void
  /** Ends messages: their effects are committed. Durable soon after; a crash before that delivers them once more. */
  settle(deliveries: readonly Delivery[]): void
  /**
   * Notes durably that a delivery failed for the `tries`-th time and will be tried again: its count survives a restart. This and the other
   * two take the objects that the link delivered.
   */
  failed(delivery: Delivery, tries: number): void
  /** Moves a message to the dead letters, durably with its body, reason and tries, and settles it. */
  bury(delivery: Delivery, reason: string, tries: number): void
  /** Drains what is published, stores what is settled, closes. Idempotent. */
  close(): Promise<void>
}
