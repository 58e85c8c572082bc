/** For tests: a broker in memory that several links share, and can be cut off from, and letters beside it. */
import type { Clock } from '../../model/clock.ts'
import type { Member, Membership, Role } from '../cluster/membership.ts'
import type { DeadLetter, LetterStore } from './dead-letters.ts'
import { LinkErrors } from './errors.ts'
import type {
  Commit,
  Committed,
  FrameBroker,
  FrameContent,
  FramePlace,
  FrameReader,
  FrameReaderListener,
  FrameRest,
  HistoryPiece,
  ReadStart,
  RecordWrite,
  StreamRecord,
  WantsQueue,
} from './frame-broker.ts'
import type { ReadPoint } from './record.ts'
import { contentOf, FRAME_MESSAGES, storedFrame } from './jetstream/nats-frame.ts'

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

interface MemoryStream {
  frames: MemoryFrame[]
  nextPosition: number
  readonly ids: Map<string, number>
  record: StreamRecord | undefined
  reader: MemoryReader | undefined
}

/** What outlives every link: the streams and the records. */
export class MemoryStreams {
  readonly clock: Clock
  readonly streams: MemoryStream[]
  readonly letters: DeadLetter[] = []
  /** Frames that a stream takes before it is full. */
  capacity = Infinity
  private letterCount = 0

  constructor(clock: Clock, streams = 4) {
    this.clock = clock
    this.streams = Array.from({ length: streams }, () => ({
      frames: [],
      nextPosition: 1000,
      ids: new Map<string, number>(),
      record: undefined,
      reader: undefined,
    }))
  }

  stream(index: number): MemoryStream {
    const stream = this.streams[index]
    if (stream === undefined) throw new Error(`there is no stream ${index}`)
    return stream
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
      list: ({ tenantId, after = 0, limit }) => {
        const isOf = ({ message }: DeadLetter): boolean => tenantId === undefined || message.tenantId === tenantId
        return Promise.resolve(letters.filter((letter) => letter.id > after && isOf(letter)).slice(0, limit))
      },
      read: (id) => Promise.resolve(letters.find((letter) => letter.id === id)),
      remove: (id) => Promise.resolve(remove(id)),
      eraseRemoved: () => Promise.resolve({ isGone: true }),
      close: () => Promise.resolve(),
    }
  }

  pump(stream: MemoryStream): void {
    this.clock.soon(() => {
      const { reader } = stream
      while (reader !== undefined && stream.reader === reader && reader.demand > 0 && !reader.isCut()) {
        const frame = stream.frames.find(({ position }) => position >= reader.next)
        if (frame === undefined) return
        reader.demand--
        reader.next = frame.position + 1
        reader.listener.onFrame(storedFrame(frame, frame.body))
      }
    })
  }
}

export class MemoryBroker implements FrameBroker {
  readonly streams: number
  readonly step = FRAME_MESSAGES
  readonly limits = { maxFrameMessages: FRAME_MESSAGES, maxFrameBytes: 1 << 20, closeAtBytes: 1 << 19 }
  rest: FrameRest | undefined
  readonly recordRidesAlong = false
  readonly refusal = undefined
  readonly backlogBytes = 0
  readonly maxBacklogBytes = Infinity
  /** Answers of the next publishes are lost, though they are done. */
  lostAnswers = 0
  /** The next removals are not done. */
  lostRemovals = 0
  publishes = 0
  /** What a publish takes, beside its turn. */
  commitMs = 0
  private readonly memory: MemoryStreams
  private readonly listeners = new Set<(connected: boolean) => void>()
  private isConnected = true

  constructor(memory: MemoryStreams) {
    this.memory = memory
    this.streams = memory.streams.length
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
    for (const { reader } of this.memory.streams) {
      if (!connected && reader?.isCut() === true) reader.listener.onLost(new Error('disconnected'))
    }
    for (const listener of [...this.listeners]) listener(connected)
  }

  onRoom(): () => void {
    return () => undefined
  }

  async commit(stream: number, { frame, record }: Commit): Promise<Committed> {
    const position = frame === undefined ? 0 : await this.publish(stream, frame.content.block.finish(), frame.id)
    const revision = record === undefined ? 0 : await this.writeRecord(stream, record)
    return { position, revision }
  }

  async readRecord(stream: number): Promise<StreamRecord | undefined> {
    await this.pass()
    return this.memory.stream(stream).record
  }

  async read(index: number, epoch: number, start: ReadStart, listener: FrameReaderListener): Promise<FrameReader> {
    await this.pass()
    const stream = this.memory.stream(index)
    const before = stream.reader
    if (before !== undefined && before.epoch > epoch)
      throw LinkErrors.FENCED({ stream: index, reason: 'a later epoch reads' })
    const reader: MemoryReader = {
      epoch,
      listener,
      isCut: () => !this.isConnected,
      next: isStill(stream, start.lastRead) ? start.from : 0,
      demand: 0,
    }
    stream.reader = reader
    if (before?.isCut() === false) before.listener.onLost(new Error('another reader reads'))
    return {
      request: (frames) => {
        reader.demand += frames
        this.memory.pump(stream)
      },
      close: () => {
        if (stream.reader === reader) stream.reader = undefined
        return Promise.resolve()
      },
    }
  }

  async fetch(stream: number, { position }: FramePlace, wants: WantsQueue): Promise<FrameContent | undefined> {
    await this.pass()
    const frame = this.memory.stream(stream).frames.find((each) => each.position === position)
    return frame === undefined ? undefined : contentOf(position, frame.body, wants)
  }

  async history(index: number, from: number, maxBytes: number): Promise<HistoryPiece> {
    await this.pass()
    const { frames, nextPosition } = this.memory.stream(index)
    const piece: MemoryFrame[] = []
    let bytes = 0
    for (const frame of frames) {
      if (frame.position < from) continue
      if (bytes >= maxBytes)
        return { frames: piece.map((each) => storedFrame(each, each.body)), next: frame.position, isEnd: false }
      bytes += frame.body.length
      piece.push(frame)
    }
    return { frames: piece.map((each) => storedFrame(each, each.body)), next: nextPosition, isEnd: true }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  private async publish(index: number, body: Uint8Array, frameId: string): Promise<number> {
    await this.pass()
    const { commitMs } = this
    if (commitMs > 0) await new Promise<void>((resolve) => void this.memory.clock.after(commitMs, resolve))
    this.publishes++
    const stream = this.memory.stream(index)
    const known = stream.ids.get(frameId)
    if (known === undefined && stream.frames.length >= this.memory.capacity) {
      throw LinkErrors.BACKLOG_FULL({ bytes: stream.frames.length, limit: this.memory.capacity })
    }
    const position = known ?? stream.nextPosition++
    if (known === undefined) {
      stream.ids.set(frameId, position)
      stream.frames.push({ position, storedAt: this.memory.clock.now(), body: Uint8Array.from(body) })
      this.memory.pump(stream)
    }
    if (this.lostAnswers > 0) {
      this.lostAnswers--
      throw LinkErrors.BROKER_AWAY({ reason: 'the answer was lost' })
    }
    return position
  }

  private async writeRecord(index: number, { body, revision, removeBelow, notRemoved }: RecordWrite): Promise<number> {
    const content = body()
    await this.pass()
    const stream = this.memory.stream(index)
    if (stream.record?.revision !== revision) {
      throw LinkErrors.FENCED({ stream: index, reason: 'the record has changed' })
    }
    stream.record = { body: content, revision: (revision ?? 0) + 1, settledBytes: 0 }
    if (stream.frames.some(({ position }) => position < removeBelow) && this.lostRemovals > 0) {
      this.lostRemovals--
      notRemoved()
    } else stream.frames = stream.frames.filter(({ position }) => position >= removeBelow)
    return stream.record.revision
  }

  /** Each question takes a turn; one of who is cut off has no answer. */
  private async pass(): Promise<void> {
    await new Promise<void>((resolve) => this.memory.clock.soon(resolve))
    if (!this.isConnected) throw LinkErrors.BROKER_AWAY({ reason: 'not connected' })
  }
}

/** False where the stream lost its end and counted again. */
function isStill({ frames, nextPosition }: MemoryStream, { position, storedAt }: ReadPoint): boolean {
  const found = frames.find((frame) => frame.position === position)
  return found === undefined ? position < nextPosition : found.storedAt <= storedAt
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
