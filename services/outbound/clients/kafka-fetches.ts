/**
 * What a consumer fetched and nobody has read yet, within what may be held over all brokers together. A broker is asked when there is room for
 * an answer, and what it answered with takes the place of that: the library holds the answers of all brokers at once, each as large as they say.
 */
import type { CallbackWithPromise, Consumer, FetchOptions, Message, MessagesStream } from '@platformatic/kafka'

/** In bytes, of whoever shares it. */
export interface FetchRoom {
  /** False: there is none, or others have waited longer. */
  enter(bytes: number): boolean
  /** Calls back once there is room for so many. */
  onRoom(bytes: number, listener: () => void): void
  /** In the place of what was entered, whether there is room or not. */
  replace(had: number, bytes: number): void
  leave(bytes: number): void
  /** More is held than there is room for. */
  readonly isOver: boolean
  readonly isWaitedFor: boolean
}

type Options = FetchOptions<Buffer, Buffer, Buffer, Buffer>
type Stream = MessagesStream<Buffer, Buffer, Buffer, Buffer>
type Answer = CallbackWithPromise<Awaited<ReturnType<Consumer['fetch']>>>

/** Above what an answer has: half of it is asked for, and brokers send a batch whole. */
const ASKED_BYTES = 2 ** 20
/** How long a broker waits for records while others wait for the room. */
const SHORT_WAIT_MS = 200
/** Of a record beside its value, key and headers. */
const RECORD_BYTES = 1024

export class KafkaFetches {
  private readonly room: FetchRoom
  /** Of requests that are under way, and of what was not read. */
  private held = 0
  /** Of records of the answer that is being taken. */
  private pushed = 0
  private isClosed = false
  /** Requests that wait for room: how each is given up. */
  private readonly waiting = new Set<() => void>()

  constructor(room: FetchRoom) {
    this.room = room
  }

  /** Before it fetches. */
  bindConsumer(consumer: Consumer): void {
    const fetch = consumer.fetch.bind(consumer)
    const bounded = (options: Options, answer: Answer): void => {
      this.whenThereIsRoom(
        () => {
          const wait = this.room.isWaitedFor ? { maxWaitTime: SHORT_WAIT_MS } : {}
          fetch({ ...options, ...wait }, (error, response) => this.answered(() => answer(error, response)))
        },
        () => answer(new Error('the consumer is closed')),
      )
    }
    Object.defineProperty(consumer, 'fetch', { value: bounded })
  }

  /** Of that consumer. */
  bindStream(stream: Stream): void {
    const push = stream.push.bind(stream)
    const counted = (message: Message | null): boolean => {
      if (message !== null) this.pushed += bytesOf(message)
      return push(message)
    }
    Object.defineProperty(stream, 'push', { value: counted })
  }

  read(message: Message): void {
    if (this.isClosed) return
    const bytes = bytesOf(message)
    this.held -= bytes
    this.room.leave(bytes)
  }

  /** Nothing of it is held any more. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.room.leave(this.held)
    for (const giveUp of [...this.waiting]) giveUp()
  }

  private whenThereIsRoom(begin: () => void, giveUp: () => void): void {
    if (this.isClosed) return giveUp()
    if (this.room.enter(ASKED_BYTES)) {
      this.held += ASKED_BYTES
      return begin()
    }
    this.waiting.add(giveUp)
    this.room.onRoom(ASKED_BYTES, () => {
      // Given up: whoever waits behind it is told instead.
      if (this.waiting.delete(giveUp) && !this.isClosed) this.whenThereIsRoom(begin, giveUp)
    })
  }

  /** The library takes all records of an answer in one step. */
  private answered(pass: () => void): void {
    this.pushed = 0
    pass()
    if (this.isClosed) return
    this.held += this.pushed - ASKED_BYTES
    this.room.replace(ASKED_BYTES, this.pushed)
  }
}

function bytesOf({ key, value, headers }: Message): number {
  // Records may be without either, whatever the declaration says.
  const parts: readonly (Buffer | undefined)[] = [key, value]
  let bytes = RECORD_BYTES
  for (const part of parts) bytes += part?.length ?? 0
  for (const [name, content] of headers) bytes += name.length + content.length
  return bytes
}
