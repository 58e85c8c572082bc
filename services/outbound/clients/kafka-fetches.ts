/**
 * What a consumer fetched and nobody has read yet, within what may be held over all brokers together. A broker is asked when there is room for
 * an answer, and what it answered with takes the place of that: the library holds the answers of all brokers at once, each as large as they say.
 */
import type {
  CallbackWithPromise,
  ConnectionPool,
  Consumer,
  FetchOptions,
  Message,
  MessagesStream,
} from '@platformatic/kafka'
import type { Clock, TimerHandle } from '../../../model/clock.ts'

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
const LOOK_MS = 10_000
/** Brokers answer within the second that they may wait. */
const MAX_SILENT_LOOKS = 3

/** Of an answer: what it was taken out of stays in memory as long as one of its records does. */
interface Unread {
  records: number
  bytes: number
}

export class KafkaFetches {
  private readonly room: FetchRoom
  private readonly clock: Clock
  private readonly silent: () => void
  /** Of requests that are under way, and of answers that were not read to the end. */
  private held = 0
  /** The oldest first: records are read in the order in which they came. */
  private readonly answers: Unread[] = []
  /** The answer that is being taken. */
  private pushed: Unread = { records: 0, bytes: 0 }
  private isClosed = false
  /** Requests that wait for room: how each is given up. */
  private readonly waiting = new Set<() => void>()
  private readonly expected = new Set<ExpectedAnswer>()

  /** `silent` is told of a broker that is heard and does not answer. */
  constructor(room: FetchRoom, clock: Clock, silent: () => void) {
    this.room = room
    this.clock = clock
    this.silent = silent
  }

  /** Before it fetches. `pool`: of connections whose requests have no time of their own, since there may be no room for an answer for long. */
  bindConsumer(consumer: Consumer, pool: ConnectionPool): void {
    const fetch = consumer.fetch.bind(consumer)
    const bounded = (options: Options, answer: Answer): void => {
      this.whenThereIsRoom(
        () => {
          const wait = this.room.isWaitedFor ? { maxWaitTime: SHORT_WAIT_MS } : {}
          const expected = new ExpectedAnswer(this.clock, this.room, this.silent)
          this.expected.add(expected)
          fetch({ ...options, ...wait, connectionPool: pool }, (error, response) => {
            expected.cancel()
            this.expected.delete(expected)
            this.answered(() => answer(error, response))
          })
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
      if (message !== null) {
        this.pushed.records++
        this.pushed.bytes += bytesOf(message)
      }
      return push(message)
    }
    Object.defineProperty(stream, 'push', { value: counted })
  }

  /** The next record was read. */
  read(): void {
    const [oldest] = this.answers
    if (this.isClosed || oldest === undefined || --oldest.records > 0) return
    this.answers.shift()
    this.held -= oldest.bytes
    this.room.leave(oldest.bytes)
  }

  /** Nothing of it is held any more. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.room.leave(this.held)
    for (const giveUp of [...this.waiting]) giveUp()
    for (const expected of this.expected) expected.cancel()
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
    const unread: Unread = { records: 0, bytes: 0 }
    this.pushed = unread
    pass()
    if (this.isClosed) return
    if (unread.records > 0) this.answers.push(unread)
    this.held += unread.bytes - ASKED_BYTES
    this.room.replace(ASKED_BYTES, unread.bytes)
  }
}

/** While more is held than there is room for no broker is heard, and none is to blame. */
class ExpectedAnswer {
  private readonly clock: Clock
  private readonly room: FetchRoom
  private readonly silent: () => void
  private silentLooks = 0
  private timer: TimerHandle

  constructor(clock: Clock, room: FetchRoom, silent: () => void) {
    this.clock = clock
    this.room = room
    this.silent = silent
    this.timer = clock.after(LOOK_MS, this.look)
  }

  cancel(): void {
    this.timer.cancel()
  }

  private readonly look = (): void => {
    this.silentLooks = this.room.isOver ? 0 : this.silentLooks + 1
    if (this.silentLooks > MAX_SILENT_LOOKS) return this.silent()
    this.timer = this.clock.after(LOOK_MS, this.look)
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
