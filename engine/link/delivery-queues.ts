/**
 * What was read and is not delivered, a queue apart from the other: bodies up to a bound, behind them only the frames' positions, fetched
 * again when the queue's consumer has room. So a queue that stands still costs the others nothing. `Main` has the bound, the other queues,
 * of all tenants, have together about as much again.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import type { LinkEventListener } from './events.ts'
import type { FrameBroker, FrameContent, WantsQueue } from './frame-broker.ts'
import type { HeldDelivery, HeldFrame } from './held-frame.ts'
import { MAIN_QUEUE, type LinkConsumer } from './link.ts'
import type { FrameLinkBounds } from './options.ts'

/** Small enough that a consumer's room is used while the next batch is being made. */
const MAX_BATCH = 2048
/** Frames and bytes that are fetched at once. */
const FETCHES = 32
const FETCHED_BYTES = 4 << 20
const FETCH_RETRY_MS = 500
/** Of what the queues beside `Main` have together: one of few has no more. */
const LARGEST_SHARE = 0.25

interface Queue {
  readonly name: string
  consumer: LinkConsumer | undefined
  waiting: HeldDelivery[]
  head: number
  /** Behind it in `waiting` is what the consumer was not told of. */
  told: number
  bytes: number
  /** Frames with messages of this queue that are not in memory, oldest first. */
  parked: HeldFrame[]
  isFetching: boolean
  retry: TimerHandle | undefined
}

export interface DeliveryQueuesOptions {
  readonly broker: FrameBroker
  readonly clock: Clock
  readonly bounds: FrameLinkBounds
  readonly onEvent: LinkEventListener
  /** False while nothing may be delivered. */
  readonly mayDeliver: () => boolean
  /** The bodies of a frame are here again. */
  readonly reopened: (frame: HeldFrame, messages: readonly Message[]) => void
}

export class DeliveryQueues {
  delivered = 0
  private readonly options: DeliveryQueuesOptions
  private readonly queues = new Map<string, Queue>()
  private isPumping = false
  private mustPumpAgain = false
  private isClosed = false

  constructor(options: DeliveryQueuesOptions) {
    this.options = options
  }

  /** Gives the queue's messages to the consumer; the returned function takes them from it, and gives them to `Main`'s. */
  consume(consumer: LinkConsumer, name: string): () => void {
    const queue = this.queue(name)
    if (queue.consumer !== undefined) throw new Error(`the queue ${name} has a consumer`)
    queue.consumer = consumer
    queue.told = 0
    this.pump()
    return () => {
      if (queue.consumer !== consumer) return
      queue.consumer = undefined
      queue.told = 0
      this.pump()
    }
  }

  /** Takes a frame's messages: behind what waits of their queues. */
  add(frame: HeldFrame, deliveries: HeldDelivery[]): void {
    const name = deliveries[0]?.message.queueName
    if (deliveries.every(({ message }) => message.queueName === name)) {
      if (deliveries.length > 0) this.take(frame, this.queue(name ?? MAIN_QUEUE), deliveries)
      return
    }
    const byQueue = new Map<Queue, HeldDelivery[]>()
    for (const delivery of deliveries) {
      const queue = this.queue(delivery.message.queueName ?? MAIN_QUEUE)
      const own = byQueue.get(queue)
      if (own === undefined) byQueue.set(queue, [delivery])
      else own.push(delivery)
    }
    for (const [queue, own] of byQueue) this.take(frame, queue, own)
  }

  private take(frame: HeldFrame, queue: Queue, own: HeldDelivery[]): void {
    const bytes = (frame.bytes * own.length) / frame.count
    if (queue.parked.length === 0 && !queue.isFetching && !this.isOver(queue, own.length, bytes)) {
      push(queue, own, bytes)
      return
    }
    queue.parked.push(frame)
    // Without its bodies nobody knows whose messages they are.
    this.consumerOf(queue)?.ahead?.(own)
  }

  /** Forgets what waits of a stream that is given up. */
  drop(stream: number): void {
    for (const queue of this.queues.values()) {
      const waiting = queue.waiting.slice(queue.head)
      const kept = waiting.filter(({ frame }) => frame.owner.stream !== stream)
      queue.bytes = waiting.length === 0 ? 0 : (queue.bytes * kept.length) / waiting.length
      queue.waiting = kept
      queue.head = 0
      queue.told = 0
      queue.parked = queue.parked.filter(({ owner }) => owner.stream !== stream)
    }
  }

  /** Frames of which at least one queue has no message in memory. */
  get parked(): number {
    let count = 0
    for (const queue of this.queues.values()) count += queue.parked.length
    return count
  }

  /** Whether anything waits to be delivered. */
  get isWaiting(): boolean {
    for (const { waiting, head, parked } of this.queues.values())
      if (waiting.length > head || parked.length > 0) return true
    return false
  }

  /** Delivers while the consumers have room. */
  pump(): void {
    if (this.isPumping) {
      this.mustPumpAgain = true
      return
    }
    this.isPumping = true
    do {
      this.mustPumpAgain = false
      for (const queue of this.queues.values()) this.deliver(queue)
    } while (this.mustPumpAgain)
    this.isPumping = false
    for (const queue of this.queues.values()) {
      this.unpark(queue)
      if (isIdle(queue)) this.queues.delete(queue.name)
    }
  }

  close(): void {
    this.isClosed = true
    for (const queue of this.queues.values()) queue.retry?.cancel()
  }

  private queue(name: string): Queue {
    let queue = this.queues.get(name)
    if (queue === undefined) {
      queue = {
        name,
        consumer: undefined,
        waiting: [],
        head: 0,
        told: 0,
        bytes: 0,
        parked: [],
        isFetching: false,
        retry: undefined,
      }
      this.queues.set(name, queue)
    }
    return queue
  }

  private consumerOf(queue: Queue): LinkConsumer | undefined {
    return queue.consumer ?? this.queues.get(MAIN_QUEUE)?.consumer
  }

  private isOver(queue: Queue, messages: number, bytes: number): boolean {
    const count = queue.waiting.length - queue.head
    const { maxMessages, maxBytes } = this.boundsOf(queue)
    return count > 0 && (count + messages > maxMessages || queue.bytes + bytes > maxBytes)
  }

  private boundsOf(queue: Queue): { readonly maxMessages: number; readonly maxBytes: number } {
    const { maxMemoryMessages, maxMemoryBytes } = this.options.bounds
    const others = this.queues.size - (this.queues.has(MAIN_QUEUE) ? 1 : 0)
    const share = queue.name === MAIN_QUEUE ? 1 : Math.min(LARGEST_SHARE, 1 / others)
    return { maxMessages: maxMemoryMessages * share, maxBytes: maxMemoryBytes * share }
  }

  private deliver(queue: Queue): void {
    while (!this.isClosed && queue.head < queue.waiting.length && this.options.mayDeliver()) {
      const consumer = this.consumerOf(queue)
      const room = Math.min(consumer?.room() ?? 0, MAX_BATCH)
      if (consumer === undefined) return
      if (room <= 0) {
        tellAhead(queue, consumer)
        return
      }
      const batch = take(queue, room)
      for (const delivery of batch) delivery.frame.delivered(delivery)
      this.delivered += batch.length
      consumer.deliver(batch)
    }
  }

  /** Fetches the next parked frames where the queue's consumer has room. */
  private unpark(queue: Queue): void {
    if (queue.parked.length === 0 || queue.isFetching || queue.retry !== undefined || this.isClosed) return
    const { maxMessages, maxBytes } = this.boundsOf(queue)
    const isLow = queue.waiting.length - queue.head <= maxMessages / 2 && queue.bytes <= maxBytes / 2
    if (!isLow || !this.options.mayDeliver() || (this.consumerOf(queue)?.room() ?? 0) <= 0) return
    queue.isFetching = true
    const frames = nextOf(queue.parked)
    this.fetch(queue, frames).then(
      () => {
        queue.isFetching = false
        this.pump()
      },
      (error: unknown) => {
        queue.isFetching = false
        const stream = frames[0]?.owner.stream ?? 0
        this.options.onEvent({ kind: 'stream-troubled', stream, reason: errorText(error) })
        if (this.isClosed) return
        queue.retry = this.options.clock.after(FETCH_RETRY_MS, () => {
          queue.retry = undefined
          this.pump()
        })
      },
    )
  }

  private async fetch(queue: Queue, frames: readonly HeldFrame[]): Promise<void> {
    const { broker, onEvent, reopened } = this.options
    const wants: WantsQueue = (name) => (name ?? MAIN_QUEUE) === queue.name
    const contents = await Promise.allSettled(frames.map((frame) => broker.fetch(frame.owner.stream, frame, wants)))
    for (const [index, frame] of frames.entries()) {
      // Dropped meanwhile.
      if (queue.parked[0] !== frame) continue
      const messages = messagesOf(contents[index])
      queue.parked.shift()
      if (messages === undefined) {
        const { stream } = frame.owner
        const reason = `frame ${frame.position} has left the stream before it was settled`
        onEvent({ kind: 'stream-troubled', stream, reason })
        frame.owner.abandon(frame)
        continue
      }
      reopened(frame, messages)
      const deliveries = frame.deliveriesOf(messages)
      push(queue, deliveries, (frame.bytes * deliveries.length) / frame.count)
    }
  }
}

function nextOf(parked: readonly HeldFrame[]): HeldFrame[] {
  let bytes = 0
  let count = 0
  while (count < Math.min(parked.length, FETCHES) && bytes < FETCHED_BYTES) bytes += parked[count++]?.bytes ?? 0
  return parked.slice(0, count)
}

/** Undefined where the frame has left the stream. Throws where it could not be fetched. */
function messagesOf(
  fetched: PromiseSettledResult<FrameContent | undefined> | undefined,
): readonly Message[] | undefined {
  if (fetched?.status === 'rejected') throw fetched.reason
  return fetched?.value?.messages
}

/** Names come from rule chains: one that nobody uses any more is forgotten. */
function isIdle(queue: Queue): boolean {
  const { consumer, waiting, parked, isFetching, retry } = queue
  return consumer === undefined && waiting.length === 0 && parked.length === 0 && !isFetching && retry === undefined
}

function push(queue: Queue, deliveries: HeldDelivery[], bytes: number): void {
  // Most often nothing waits: the frame's own list will do.
  if (queue.waiting.length === 0) queue.waiting = deliveries
  else for (const delivery of deliveries) queue.waiting.push(delivery)
  queue.bytes += bytes
}

/** Of each once, however often there is no room. */
function tellAhead(queue: Queue, consumer: LinkConsumer): void {
  const from = Math.max(queue.head, queue.told)
  if (consumer.ahead === undefined || from >= queue.waiting.length) return
  queue.told = queue.waiting.length
  consumer.ahead(queue.waiting.slice(from))
}

function take(queue: Queue, count: number): HeldDelivery[] {
  const rest = queue.waiting.length - queue.head
  if (queue.head === 0 && rest <= count) {
    const all = queue.waiting
    queue.waiting = []
    queue.told = 0
    queue.bytes = 0
    return all
  }
  const batch = queue.waiting.slice(queue.head, queue.head + count)
  queue.bytes -= (queue.bytes * batch.length) / rest
  queue.head += batch.length
  if (queue.head === queue.waiting.length) {
    queue.waiting = []
    queue.head = 0
    queue.told = 0
    queue.bytes = 0
  }
  return batch
}
