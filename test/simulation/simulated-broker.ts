/**
 * A broker whose network is slow, loses requests and answers, delivers a publish twice, and cuts processes off, all by seed. The
 * streams and records behind it keep the promises of `frame-broker.ts`: they are what a whole cluster is simulated on.
 */
import type { Clock } from '../../model/clock.ts'
import type { SeededRandom } from '../../engine/actor/testkit.ts'
import { LinkErrors } from '../../engine/link/errors.ts'
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
  StreamRecord,
  WantsQueue,
} from '../../engine/link/frame-broker.ts'
import { contentOf, FRAME_MESSAGES, storedFrame } from '../../engine/link/jetstream/nats-frame.ts'
import type { RunClock } from './run-clock.ts'

/** After that who asked takes it that no answer will come. */
const ANSWER_MS = 3000

/** Told of everything at the moment in which it is so. */
export interface StreamsWatcher {
  frameStored(stream: number, position: number, body: Uint8Array): void
  /** Before it leaves. */
  frameLeaves(stream: number, position: number): void
  recordWritten(stream: number, body: Uint8Array): void
}

interface Frame {
  readonly position: number
  readonly storedAt: number
  readonly body: Uint8Array
}

interface Stream {
  frames: Frame[]
  nextPosition: number
  /** Positions by frame id: what deduplicates. */
  readonly ids: Map<string, number>
  record: StreamRecord | undefined
  reader: Reader | undefined
}

interface Reader {
  readonly epoch: number
  readonly broker: SimulatedBroker
  readonly listener: FrameReaderListener
  next: number
  demand: number
  /** When the last frame arrives, monotonic ms: none overtakes it. */
  arrivesAtMs: number
}

export interface NetworkFaults {
  /** Probabilities. */
  lostRequest: number
  lostAnswer: number
  repeatedPublish: number
  /** One way. */
  maxDelayMs: number
}

export class SimulatedStreams {
  readonly clock: Clock
  readonly random: SeededRandom
  readonly faults: NetworkFaults = { lostRequest: 0, lostAnswer: 0, repeatedPublish: 0, maxDelayMs: 3 }
  /** Frames that a stream takes before it is full. */
  capacity = Infinity
  /** False are planted bugs. */
  deduplicates = true
  fencesRecords = true
  removesSettled = true
  private readonly watcher: StreamsWatcher
  private readonly streams: Stream[]

  constructor(clock: Clock, random: SeededRandom, streams: number, watcher: StreamsWatcher) {
    this.clock = clock
    this.random = random
    this.watcher = watcher
    this.streams = Array.from({ length: streams }, () => ({
      frames: [],
      nextPosition: 1,
      ids: new Map<string, number>(),
      record: undefined,
      reader: undefined,
    }))
  }

  get count(): number {
    return this.streams.length
  }

  get frameCount(): number {
    return this.streams.reduce((sum, { frames }) => sum + frames.length, 0)
  }

  /** The broker as a process with this clock sees it. */
  connect(clock: RunClock): SimulatedBroker {
    return new SimulatedBroker(this, clock)
  }

  delay(): number {
    return 0.01 + this.random.next() * this.faults.maxDelayMs
  }

  store(index: number, body: Uint8Array, frameId: string): number {
    const stream = this.stream(index)
    const known = this.deduplicates ? stream.ids.get(frameId) : undefined
    if (known !== undefined) return known
    if (stream.frames.length >= this.capacity) throw LinkErrors.BACKLOG_FULL({ bytes: 0, limit: this.capacity })
    const position = stream.nextPosition++
    stream.ids.set(frameId, position)
    stream.frames.push({ position, storedAt: this.clock.now(), body })
    this.watcher.frameStored(index, position, body)
    this.pump(index)
    return position
  }

  record(index: number): StreamRecord | undefined {
    return this.stream(index).record
  }

  writeRecord(index: number, body: Uint8Array, revision: number | undefined): number {
    const stream = this.stream(index)
    if (this.fencesRecords && stream.record?.revision !== revision)
      throw LinkErrors.FENCED({ stream: index, reason: 'the record has changed' })
    stream.record = { body, revision: (stream.record?.revision ?? 0) + 1, settledBytes: 0 }
    this.watcher.recordWritten(index, body)
    return stream.record.revision
  }

  remove(index: number, below: number): void {
    const stream = this.stream(index)
    for (const { position } of stream.frames) if (position < below) this.watcher.frameLeaves(index, position)
    stream.frames = stream.frames.filter(({ position }) => position >= below)
  }

  frames(index: number, from: number): readonly Frame[] {
    return this.stream(index).frames.filter(({ position }) => position >= from)
  }

  /** Ends the reader before. */
  open(
    index: number,
    epoch: number,
    from: number,
    broker: SimulatedBroker,
    listener: FrameReaderListener,
  ): FrameReader {
    const stream = this.stream(index)
    const before = stream.reader
    if (before !== undefined && before.epoch > epoch)
      throw LinkErrors.FENCED({ stream: index, reason: 'a later epoch reads' })
    const reader: Reader = { epoch, broker, listener, next: from, demand: 0, arrivesAtMs: 0 }
    stream.reader = reader
    if (before !== undefined) this.reportLost(before, 'another reader reads')
    return {
      request: (frames) => {
        reader.demand += frames
        this.pump(index)
      },
      close: () => {
        if (stream.reader === reader) stream.reader = undefined
        return Promise.resolve()
      },
    }
  }

  /** The connection of a process is lost: so are its readers. */
  cut(broker: SimulatedBroker): void {
    for (const stream of this.streams) {
      const { reader } = stream
      if (reader?.broker === broker) this.reportLost(reader, 'disconnected')
    }
  }

  private reportLost(reader: Reader, reason: string): void {
    // Behind the frames that are on their way.
    const wait = Math.max(0, reader.arrivesAtMs - this.clock.monotonic())
    this.clock.after(wait, () => reader.broker.clock.arrive(() => reader.listener.onLost(new Error(reason))))
  }

  private pump(index: number): void {
    const { reader, frames } = this.stream(index)
    if (reader === undefined || reader.broker.isCut) return
    for (const frame of frames) {
      if (reader.demand <= 0) return
      if (frame.position < reader.next) continue
      reader.demand--
      reader.next = frame.position + 1
      this.send(reader, frame)
    }
  }

  private send(reader: Reader, frame: Frame): void {
    const now = this.clock.monotonic()
    reader.arrivesAtMs = Math.max(reader.arrivesAtMs, now + this.delay())
    this.clock.after(reader.arrivesAtMs - now, () => {
      reader.broker.clock.arrive(() => reader.listener.onFrame(storedFrame(frame, frame.body)))
    })
  }

  private stream(index: number): Stream {
    const stream = this.streams[index]
    if (stream === undefined) throw new RangeError(`there is no stream ${index}`)
    return stream
  }
}

export class SimulatedBroker implements FrameBroker {
  readonly streams: number
  readonly step = FRAME_MESSAGES
  readonly limits = { maxFrameMessages: FRAME_MESSAGES, maxFrameBytes: 1 << 20, closeAtBytes: 1 << 19 }
  /** Often: that nothing gets lost in it is what is asked here. */
  readonly rest = { part: 0.5, mostMs: 10, leastTookMs: 0.5, leastMessages: 2 }
  readonly recordRidesAlong = false
  readonly refusal = undefined
  readonly backlogBytes = 0
  readonly maxBacklogBytes = Infinity
  readonly clock: RunClock
  /** Nothing passes between the process and the broker. */
  isCut = false
  private readonly network: SimulatedStreams
  private readonly listeners = new Set<(connected: boolean) => void>()
  /** What the process knows: news of its connection reach a process that stands still when it goes on. */
  private isConnected = true
  /** Questions without an answer. */
  private readonly open = new Set<(error: Error) => void>()

  constructor(network: SimulatedStreams, clock: RunClock) {
    this.network = network
    this.streams = network.count
    this.clock = clock
  }

  get connected(): boolean {
    return this.isConnected
  }

  onConnection(listener: (connected: boolean) => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  cut(): void {
    if (this.isCut) return
    this.isCut = true
    this.clock.arrive(() => {
      this.isConnected = false
      for (const reject of [...this.open]) reject(LinkErrors.BROKER_AWAY({ reason: 'the connection was lost' }))
      for (const listener of [...this.listeners]) listener(false)
    })
    this.network.cut(this)
  }

  mend(): void {
    if (!this.isCut) return
    this.isCut = false
    this.clock.arrive(() => {
      this.isConnected = true
      for (const listener of [...this.listeners]) listener(true)
    })
  }

  onRoom(): () => void {
    return () => undefined
  }

  async commit(stream: number, { frame, record }: Commit): Promise<Committed> {
    const { network } = this
    let position = 0
    if (frame !== undefined) {
      const body = Uint8Array.from(frame.content.block.finish())
      const isRepeated = network.random.chance(network.faults.repeatedPublish)
      position = await this.ask(() => network.store(stream, body, frame.id), isRepeated)
    }
    if (record === undefined) return { position, revision: 0 }
    const body = record.body()
    const revision = await this.ask(() => network.writeRecord(stream, body, record.revision))
    // Nobody waits for it, and it may be lost.
    if (network.removesSettled) void this.ask(() => network.remove(stream, record.removeBelow)).catch(record.notRemoved)
    return { position, revision }
  }

  readRecord(stream: number): Promise<StreamRecord | undefined> {
    return this.ask(() => this.network.record(stream))
  }

  read(stream: number, epoch: number, { from }: ReadStart, listener: FrameReaderListener): Promise<FrameReader> {
    return this.ask(() => this.network.open(stream, epoch, from, this, listener))
  }

  async fetch(stream: number, { position }: FramePlace, wants: WantsQueue): Promise<FrameContent | undefined> {
    const [frame] = await this.ask(() => this.network.frames(stream, position))
    return frame?.position === position ? contentOf(position, frame.body, wants) : undefined
  }

  async history(stream: number, from: number): Promise<HistoryPiece> {
    const frames = await this.ask(() => this.network.frames(stream, from))
    const next = (frames.at(-1)?.position ?? from - 1) + 1
    return { frames: frames.map((frame) => storedFrame(frame, frame.body)), next, isEnd: true }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  /** Carries a question to the broker and its answer back, as the network of this moment does. */
  ask<Answer>(apply: () => Answer, isRepeated = false): Promise<Answer> {
    const { network, clock } = this
    const { random, faults } = network
    if (!this.isConnected) {
      return new Promise((_, reject) => clock.soon(() => reject(LinkErrors.BROKER_AWAY({ reason: 'not connected' }))))
    }
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        this.open.delete(fail)
        timeout.cancel()
        reject(error)
      }
      this.open.add(fail)
      const timeout = clock.after(ANSWER_MS, () => fail(LinkErrors.BROKER_AWAY({ reason: 'no answer' })))
      const answer = (tell: () => void): void => {
        if (random.chance(faults.lostAnswer)) return
        network.clock.after(network.delay(), () => {
          if (this.isCut) return
          clock.arrive(() => {
            if (!this.open.delete(fail)) return
            timeout.cancel()
            tell()
          })
        })
      }
      const arrive = (): void => {
        // What is under way when the connection is cut may arrive or not.
        if (this.isCut && random.chance(0.5)) return
        try {
          const result = apply()
          answer(() => resolve(result))
        } catch (error) {
          answer(() => reject(error instanceof Error ? error : new Error(String(error))))
        }
      }
      if (!random.chance(faults.lostRequest)) network.clock.after(network.delay(), arrive)
      if (isRepeated) network.clock.after(network.delay() * 3, arrive)
    })
  }
}
