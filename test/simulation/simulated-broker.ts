/**
 * A broker whose network is slow, loses requests and answers, delivers a publish twice, and cuts processes off, all by seed. The
 * streams and records behind it keep the promises of `broker.ts`: they are what a whole cluster is simulated on.
 */
import type { Clock } from '../../model/clock.ts'
import type { SeededRandom } from '../../engine/actor/testkit.ts'
import { LinkErrors } from '../../engine/link/errors.ts'
import type {
  FrameBroker,
  FrameReader,
  FrameReaderListener,
  PartitionRecord,
  StoredFrame,
} from '../../engine/link/jetstream/broker.ts'
import type { RunClock } from './run-clock.ts'

/** After that who asked takes it that no answer will come. */
const ANSWER_MS = 3000
const REPEAT_ACK_MS = 500

/** Told of everything at the moment in which it is so. */
export interface StreamsWatcher {
  frameStored(partition: number, position: number, body: Uint8Array): void
  /** Before it leaves. */
  frameLeaves(partition: number, position: number): void
  recordWritten(partition: number, body: Uint8Array): void
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
  record: PartitionRecord | undefined
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
  /** Frames that a partition takes before it is full. */
  capacity = Infinity
  /** False are planted bugs. */
  deduplicates = true
  fencesRecords = true
  private readonly watcher: StreamsWatcher
  private readonly streams: Stream[]

  constructor(clock: Clock, random: SeededRandom, partitions: number, watcher: StreamsWatcher) {
    this.clock = clock
    this.random = random
    this.watcher = watcher
    this.streams = Array.from({ length: partitions }, () => ({
      frames: [],
      nextPosition: 1,
      ids: new Map<string, number>(),
      record: undefined,
      reader: undefined,
    }))
  }

  get partitions(): number {
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

  store(partition: number, body: Uint8Array, frameId: string): number {
    const stream = this.stream(partition)
    const known = this.deduplicates ? stream.ids.get(frameId) : undefined
    if (known !== undefined) return known
    if (stream.frames.length >= this.capacity) throw LinkErrors.BACKLOG_FULL({ bytes: 0, limit: this.capacity })
    const position = stream.nextPosition++
    stream.ids.set(frameId, position)
    stream.frames.push({ position, storedAt: this.clock.now(), body })
    this.watcher.frameStored(partition, position, body)
    this.pump(partition)
    return position
  }

  record(partition: number): PartitionRecord | undefined {
    return this.stream(partition).record
  }

  writeRecord(partition: number, body: Uint8Array, revision: number | undefined): number {
    const stream = this.stream(partition)
    if (this.fencesRecords && stream.record?.revision !== revision)
      throw LinkErrors.FENCED({ partition, reason: 'the record has changed' })
    stream.record = { body, revision: (stream.record?.revision ?? 0) + 1 }
    this.watcher.recordWritten(partition, body)
    return stream.record.revision
  }

  body(partition: number, position: number): Uint8Array | undefined {
    return this.stream(partition).frames.find((frame) => frame.position === position)?.body
  }

  /** Ends the reader before, and begins with the oldest frame. */
  open(partition: number, epoch: number, broker: SimulatedBroker, listener: FrameReaderListener): FrameReader {
    const stream = this.stream(partition)
    const before = stream.reader
    if (before !== undefined && before.epoch > epoch)
      throw LinkErrors.FENCED({ partition, reason: 'a later epoch reads' })
    const reader: Reader = { epoch, broker, listener, next: 0, demand: 0, arrivesAtMs: 0 }
    stream.reader = reader
    if (before !== undefined) this.reportLost(before, 'another reader reads')
    return {
      request: (frames) => {
        reader.demand += frames
        this.pump(partition)
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

  private pump(partition: number): void {
    const stream = this.stream(partition)
    const { reader } = stream
    if (reader === undefined || reader.broker.isCut) return
    for (const frame of stream.frames) {
      if (reader.demand <= 0) return
      if (frame.position < reader.next) continue
      reader.demand--
      reader.next = frame.position + 1
      this.send(partition, reader, frame)
    }
  }

  private send(partition: number, reader: Reader, frame: Frame): void {
    const now = this.clock.monotonic()
    reader.arrivesAtMs = Math.max(reader.arrivesAtMs, now + this.delay())
    const stored: StoredFrame = { ...frame, acknowledge: () => this.acknowledge(partition, reader, frame) }
    this.clock.after(reader.arrivesAtMs - now, () => {
      reader.broker.clock.arrive(() => reader.listener.onFrame(stored))
    })
  }

  private async acknowledge(partition: number, reader: Reader, frame: Frame): Promise<void> {
    const stream = this.stream(partition)
    for (;;) {
      try {
        return await reader.broker.ask(() => {
          if (stream.reader !== reader) throw LinkErrors.FENCED({ partition, reason: 'another reader reads' })
          if (!stream.frames.includes(frame)) return
          this.watcher.frameLeaves(partition, frame.position)
          stream.frames = stream.frames.filter((each) => each !== frame)
        })
      } catch (error) {
        if (stream.reader !== reader || !reader.broker.connected) throw error
        await new Promise<void>((resolve) => void reader.broker.clock.after(REPEAT_ACK_MS, resolve))
      }
    }
  }

  private stream(partition: number): Stream {
    const stream = this.streams[partition]
    if (stream === undefined) throw new RangeError(`there is no partition ${partition}`)
    return stream
  }
}

export class SimulatedBroker implements FrameBroker {
  readonly partitions: number
  readonly clock: RunClock
  /** Nothing passes between the process and the broker. */
  isCut = false
  private readonly streams: SimulatedStreams
  private readonly listeners = new Set<(connected: boolean) => void>()
  /** What the process knows: news of its connection reach a process that stands still when it goes on. */
  private isConnected = true
  /** Questions without an answer. */
  private readonly open = new Set<(error: Error) => void>()

  constructor(streams: SimulatedStreams, clock: RunClock) {
    this.streams = streams
    this.partitions = streams.partitions
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
    this.streams.cut(this)
  }

  mend(): void {
    if (!this.isCut) return
    this.isCut = false
    this.clock.arrive(() => {
      this.isConnected = true
      for (const listener of [...this.listeners]) listener(true)
    })
  }

  publish(partition: number, body: Uint8Array, frameId: string): Promise<number> {
    const copy = Uint8Array.from(body)
    const { random, faults } = this.streams
    return this.ask(() => this.streams.store(partition, copy, frameId), random.chance(faults.repeatedPublish))
  }

  readRecord(partition: number): Promise<PartitionRecord | undefined> {
    return this.ask(() => this.streams.record(partition))
  }

  writeRecord(partition: number, body: Uint8Array, revision: number | undefined): Promise<number> {
    return this.ask(() => this.streams.writeRecord(partition, body, revision))
  }

  read(partition: number, epoch: number, listener: FrameReaderListener): Promise<FrameReader> {
    return this.ask(() => this.streams.open(partition, epoch, this, listener))
  }

  fetch(partition: number, position: number): Promise<Uint8Array | undefined> {
    return this.ask(() => this.streams.body(partition, position))
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  /** Carries a question to the broker and its answer back, as the network of this moment does. */
  ask<Answer>(apply: () => Answer, isRepeated = false): Promise<Answer> {
    const { streams, clock } = this
    const { random, faults } = streams
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
        streams.clock.after(streams.delay(), () => {
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
      if (!random.chance(faults.lostRequest)) streams.clock.after(streams.delay(), arrive)
      if (isRepeated) streams.clock.after(streams.delay() * 3, arrive)
    })
  }
}
