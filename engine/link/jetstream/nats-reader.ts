/**
 * Reads one stream as one owner: a pull consumer made for this reader alone. Pulls ask for as many frames as there is room for; a server that
 * neither sends frames nor heartbeats, an ended consumer or a lost connection end the reader, and the next one begins at the first that is not settled.
 */
import { createInbox, type Msg, type Subscription } from '@nats-io/transport-node'
import type { Clock, TimerHandle } from '../../../model/clock.ts'
import { errorText } from '../../../model/errors.ts'
import type { NatsLine } from '../../cluster/nats-connection.ts'
import type { FrameReader, FrameReaderListener } from '../frame-broker.ts'
import type { ReadPoint } from '../record.ts'
import { ownFrame, storedFrame } from './nats-frame.ts'
import { FramePlaces } from './frame-place.ts'
import type { OwnFrames } from './own-frames.ts'
import { framesIn, StreamHoles, type Hole, type StreamInventory } from './stream-holes.ts'

const NANOS = 1_000_000
const PULL_EXPIRES_MS = 30_000
const HEARTBEAT_MS = 1000
/** Silence after which the consumer counts as gone. */
const SILENCE_MS = 3500
const PULL_AGAIN_MS = 100

export interface NatsReaderOptions {
  readonly line: NatsLine
  readonly clock: Clock
  readonly stream: string
  readonly consumer: string
  readonly listener: FrameReaderListener
  /** As of a moment after the consumer was made. */
  readonly inventory: StreamInventory
  readonly takeInventory: () => Promise<StreamInventory>
  /** What one pull may bring: more than the largest frame, and less than makes the server take this process for slow. */
  readonly maxPullBytes: number
  /** Of its stream, stored by this process. */
  readonly own: OwnFrames
  /** Removes the consumer from the server; the reader does not wait for it. */
  readonly remove: () => Promise<void>
}

export class NatsReader implements FrameReader {
  readonly own: OwnFrames
  readonly stream: string
  private readonly options: NatsReaderOptions
  private readonly inbox: string
  private readonly subscription: Subscription
  private readonly stopListening: () => void
  /** Pulls that the server has not ended, oldest first, with what each may still bring. */
  private readonly pulls = new Map<number, number>()
  private pullCount = 0
  private lastHeardMs: number
  private watch: TimerHandle | undefined
  private pullAgain: TimerHandle | undefined
  private readonly places = new FramePlaces()
  private readonly holes: StreamHoles
  /** Asked for, and in no pull. */
  private unpulled = 0
  private isOver = false

  constructor(options: NatsReaderOptions) {
    this.options = options
    const { line, clock, stream } = options
    this.stream = stream
    this.own = options.own
    this.lastHeardMs = clock.monotonic()
    this.inbox = createInbox()
    this.holes = new StreamHoles(options.inventory)
    this.subscription = line.connection.subscribe(`${this.inbox}.*`, {
      callback: (error, message) => {
        if (error !== null) this.lose(error)
        else this.receive(message)
      },
    })
    this.stopListening = line.onConnection((connected) => {
      if (!connected) this.lose(new Error('the connection was lost'))
    })
    this.watchSilence()
  }

  request(frames: number): void {
    this.unpulled += frames
    if (this.pullAgain === undefined) this.pull()
  }

  close(): Promise<void> {
    if (!this.isOver) {
      this.end()
      // Whoever reads next removes it where this fails.
      void this.options.remove().catch(() => undefined)
    }
    return Promise.resolve()
  }

  private pull(): void {
    if (this.unpulled === 0 || this.isOver) return
    const { line, stream, consumer, clock, maxPullBytes } = this.options
    const batch = this.unpulled
    this.unpulled = 0
    const number = ++this.pullCount
    if (this.pulls.size === 0) this.lastHeardMs = clock.monotonic()
    this.pulls.set(number, batch)
    const body = JSON.stringify({
      batch,
      max_bytes: maxPullBytes,
      expires: PULL_EXPIRES_MS * NANOS,
      idle_heartbeat: HEARTBEAT_MS * NANOS,
    })
    line.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, body, {
      reply: `${this.inbox}.${number}`,
    })
  }

  private receive(message: Msg): void {
    if (this.isOver) return
    this.lastHeardMs = this.options.clock.monotonic()
    const code = message.headers?.code ?? 0
    if (code > 0 && message.data.length === 0) this.status(message, code, message.headers?.description ?? '')
    else this.frame(message)
  }

  private frame(message: Msg): void {
    for (const [number, left] of this.pulls) {
      // The server serves its pulls in turns: only the sum over them is exact, and that is what is asked for again.
      if (left > 1) this.pulls.set(number, left - 1)
      else this.pulls.delete(number)
      break
    }
    const reply = message.reply ?? ''
    let place: ReadPoint
    try {
      place = this.places.next(reply)
    } catch (error) {
      // Before it is handed out: what is settled behind it would count for the lost frame too.
      this.lose(new Error(errorText(error), { cause: error }))
      return
    }
    const hole = this.holes.before(place.position)
    if (hole !== undefined) void this.explain(hole)
    const { data } = message
    const own = this.own.take(place.position, data)
    this.options.listener.onFrame(own === undefined ? storedFrame(place, data) : ownFrame(place, data.length, own))
  }

  /** A former owner's last removals may come after the inventory: what is missing is what the stream still counts. */
  private async explain(hole: Hole): Promise<void> {
    let frames: number
    try {
      frames = framesIn(hole, await this.options.takeInventory())
    } catch (error) {
      this.lose(new Error(`frames ${hole.from} to ${hole.to} did not come: ${errorText(error)}`, { cause: error }))
      return
    }
    if (!this.isOver && frames > 0) this.options.listener.onDamage({ kind: 'frames-missing', ...hole, frames })
  }

  private status(message: Msg, code: number, description: string): void {
    if (code === 100) return
    const number = Number(message.subject.slice(this.inbox.length + 1))
    const left = this.pulls.get(number) ?? 0
    this.pulls.delete(number)
    const isOver = /consumer deleted|consumer is push|bad request|not found/i.test(description)
    if (isOver || code === 503) {
      this.lose(new Error(`the server says ${code} ${description}`))
      return
    }
    // 408: the pull's time is over. 409: it is full, its leader moved, a server stops. What it did not bring is asked for again.
    this.unpulled += left
    if (code === 408 || /maxbytes/i.test(description)) {
      this.pull()
      return
    }
    this.pullAgain ??= this.options.clock.after(PULL_AGAIN_MS, () => {
      this.pullAgain = undefined
      this.pull()
    })
  }

  private watchSilence(): void {
    const { clock } = this.options
    this.watch = clock.after(HEARTBEAT_MS, () => {
      const silenceMs = clock.monotonic() - this.lastHeardMs
      if (this.pulls.size > 0 && silenceMs > SILENCE_MS) this.lose(new Error(`silent for ${Math.round(silenceMs)} ms`))
      else this.watchSilence()
    })
  }

  private lose(reason: Error): void {
    if (this.isOver) return
    this.end()
    this.options.listener.onLost(reason)
  }

  private end(): void {
    this.isOver = true
    this.own.close()
    this.stopListening()
    this.watch?.cancel()
    this.pullAgain?.cancel()
    const { connection } = this.options.line
    if (!connection.isClosed() && !this.subscription.isClosed()) {
      try {
        this.subscription.unsubscribe()
      } catch (error) {
        // It ends with its connection, which is ending.
        if (!connection.isClosed() && !connection.isDraining()) throw new Error(errorText(error), { cause: error })
      }
    }
  }
}
