/** For tests: a broker in memory that several links share, and can be cut off from, and letters beside it. */
import type { Clock } from '../../../model/clock.ts'
import type { Member, Membership, Role } from '../../cluster/membership.ts'
import type { DeadLetter } from '../dead-letters.ts'
import { LinkErrors } from '../errors.ts'
import type { FrameBroker, FrameReader, FrameReaderListener, PartitionRecord, StoredFrame } from './broker.ts'
import type { LetterStore } from './options.ts'

interface MemoryFrame {
  readonly position: number
  readonly storedAt: number
  readonly body: Uint8Array
}

interface MemoryReader {
  readonly epoch: number
  readonly listener: FrameReaderListener
  readonly isCut: () => boolean
  next: number
  demand: number
}

interface MemoryPartition {
  frames: MemoryFrame[]
  nextPosition: number
  readonly ids: Map<string, number>
  record: PartitionRecord | undefined
  reader: MemoryReader | undefined
}

/** What outlives every link: the streams and the records. */
export class MemoryStreams {
  readonly clock: Clock
  readonly partitions: MemoryPartition[]
  readonly letters: DeadLetter[] = []
  /** Frames that a partition takes before it is full. */
  capacity = Infinity
  private letterCount = 0

  constructor(clock: Clock, partitions = 4) {
    this.clock = clock
    this.partitions = Array.from({ length: partitions }, () => ({
      frames: [],
      nextPosition: 1000,
      ids: new Map<string, number>(),
      record: undefined,
      reader: undefined,
    }))
  }

  partition(index: number): MemoryPartition {
    const partition = this.partitions[index]
    if (partition === undefined) throw new Error(`there is no partition ${index}`)
    return partition
  }

  /** The broker as one process sees it. */
  connect(): MemoryBroker {
    return new MemoryBroker(this)
  }

  letterStore(): LetterStore {
    const { letters } = this
    const remove = (id: number): boolean => {
      const index = letters.findIndex((letter) => letter.id === id)
      if (index >= 0) letters.splice(index, 1)
      return index >= 0
    }
    return {
      get count() {
        return letters.length
      },
      put: (letter) => {
        const isKnown = letters.some(({ message }) => message.id === letter.message.id)
        if (!isKnown) letters.push({ ...letter, id: ++this.letterCount, time: this.clock.now() })
        return Promise.resolve()
      },
      list: ({ after = 0, limit }) => Promise.resolve(letters.filter(({ id }) => id > after).slice(0, limit)),
      read: (id) => Promise.resolve(letters.find((letter) => letter.id === id)),
      remove: (id) => Promise.resolve(remove(id)),
      close: () => Promise.resolve(),
    }
  }

  pump(partition: MemoryPartition): void {
    this.clock.soon(() => {
      const { reader } = partition
      while (reader !== undefined && partition.reader === reader && reader.demand > 0 && !reader.isCut()) {
        const frame = partition.frames.find(({ position }) => position >= reader.next)
        if (frame === undefined) return
        reader.demand--
        reader.next = frame.position + 1
        reader.listener.onFrame(this.handle(partition, reader, frame))
      }
    })
  }

  private handle(partition: MemoryPartition, reader: MemoryReader, frame: MemoryFrame): StoredFrame {
    return {
      ...frame,
      acknowledge: () => {
        if (partition.reader !== reader) return Promise.reject(new Error('another reader reads'))
        partition.frames = partition.frames.filter((each) => each !== frame)
        return Promise.resolve()
      },
    }
  }
}

export class MemoryBroker implements FrameBroker {
  readonly partitions: number
  /** Answers of the next publishes are lost, though they are done. */
  lostAnswers = 0
  publishes = 0
  private readonly streams: MemoryStreams
  private readonly listeners = new Set<(connected: boolean) => void>()
  private isConnected = true

  constructor(streams: MemoryStreams) {
    this.streams = streams
    this.partitions = streams.partitions.length
  }

  get connected(): boolean {
    return this.isConnected
  }

  onConnection(listener: (connected: boolean) => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  /** Cuts the process off, or heals that: its readers are lost. */
  connect(connected: boolean): void {
    this.isConnected = connected
    for (const { reader } of this.streams.partitions) {
      if (!connected && reader?.isCut() === true) reader.listener.onLost(new Error('disconnected'))
    }
    for (const listener of [...this.listeners]) listener(connected)
  }

  async publish(partition: number, body: Uint8Array, frameId: string): Promise<number> {
    await this.pass()
    this.publishes++
    const stream = this.streams.partition(partition)
    const known = stream.ids.get(frameId)
    if (known === undefined && stream.frames.length >= this.streams.capacity) {
      throw LinkErrors.BACKLOG_FULL({ bytes: stream.frames.length, limit: this.streams.capacity })
    }
    const position = known ?? stream.nextPosition++
    if (known === undefined) {
      stream.ids.set(frameId, position)
      stream.frames.push({ position, storedAt: this.streams.clock.now(), body: Uint8Array.from(body) })
      this.streams.pump(stream)
    }
    if (this.lostAnswers > 0) {
      this.lostAnswers--
      throw LinkErrors.BROKER_AWAY({ reason: 'the answer was lost' })
    }
    return position
  }

  async readRecord(partition: number): Promise<PartitionRecord | undefined> {
    await this.pass()
    return this.streams.partition(partition).record
  }

  async writeRecord(partition: number, body: Uint8Array, revision: number | undefined): Promise<number> {
    await this.pass()
    const stream = this.streams.partition(partition)
    if (stream.record?.revision !== revision) throw LinkErrors.FENCED({ partition, reason: 'the record has changed' })
    stream.record = { body, revision: (revision ?? 0) + 1 }
    return stream.record.revision
  }

  async read(partition: number, epoch: number, listener: FrameReaderListener): Promise<FrameReader> {
    await this.pass()
    const stream = this.streams.partition(partition)
    const before = stream.reader
    if (before !== undefined && before.epoch > epoch)
      throw LinkErrors.FENCED({ partition, reason: 'a later epoch reads' })
    const reader: MemoryReader = { epoch, listener, isCut: () => !this.isConnected, next: 0, demand: 0 }
    stream.reader = reader
    if (before?.isCut() === false) before.listener.onLost(new Error('another reader reads'))
    return {
      request: (frames) => {
        reader.demand += frames
        this.streams.pump(stream)
      },
      close: () => {
        if (stream.reader === reader) stream.reader = undefined
        return Promise.resolve()
      },
    }
  }

  async fetch(partition: number, position: number): Promise<Uint8Array | undefined> {
    await this.pass()
    return this.streams.partition(partition).frames.find((frame) => frame.position === position)?.body
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  /** Each question takes a turn; one of who is cut off has no answer. */
  private async pass(): Promise<void> {
    await new Promise<void>((resolve) => this.streams.clock.soon(resolve))
    if (!this.isConnected) throw LinkErrors.BROKER_AWAY({ reason: 'not connected' })
  }
}

/** Who is alive, as a test says it. */
export class TestMembership {
  private present: Member[] = []
  private readonly listeners = new Set<() => void>()

  join(id: string, roles: readonly Role[] = ['engine']): Membership {
    const self: Member = { id, roles, startedAt: 0 }
    this.change([...this.present, self])
    return {
      self,
      members: () => this.present,
      onChange: (listener) => {
        this.listeners.add(listener)
        return () => void this.listeners.delete(listener)
      },
      close: () => Promise.resolve(this.leave(id)),
    }
  }

  leave(id: string): void {
    this.change(this.present.filter((member) => member.id !== id))
  }

  private change(members: Member[]): void {
    this.present = members.sort((a, b) => (a.id < b.id ? -1 : 1))
    for (const listener of [...this.listeners]) listener()
  }
}
