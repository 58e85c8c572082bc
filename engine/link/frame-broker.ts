/**
 * What the frame link asks of a broker: streams of frames, and a record per stream that is changed only by who knows its present revision.
 * `segments/` keeps them in files of this process, `jetstream/` on NATS servers; a simulated one runs a whole cluster
 * on a simulated clock.
 */
import type { MillraceError } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import type { StreamDamage } from './events.ts'
import type { Frame } from './frame.ts'
import type { ObserverNote, OpenFrame, ReadPoint } from './record.ts'

/** Says which queues' messages are wanted. */
export type WantsQueue = (queueName: string | undefined) => boolean

export interface FrameContent {
  /** With their sequences: all of the frame, or those that were wanted. */
  readonly messages: readonly Message[]
  /** How many messages the frame has, also those that were not wanted. */
  readonly count: number
  /** Tries so far, by sequence, of a frame that was stored with some. */
  readonly attempts?: readonly (readonly [sequence: number, tries: number])[]
}

/** A frame as the stream keeps it. */
export interface StoredFrame {
  /** Rises within the stream. */
  readonly position: number
  /**
   * When it was stored, Unix ms of the broker's clock: a position that is known as settled and was stored later than it is another frame's
   * (the broker lost its end and counted again).
   */
  readonly storedAt: number
  readonly bytes: number
  /** Where `fetch` finds it, beside the position. */
  readonly place: number
  /** What the broker noted of it, where it keeps that itself; a record has the rest. */
  readonly noted: OpenFrame | undefined
  /** Throws where the frame cannot be read. Called before the next frame comes. */
  read(): FrameContent
}

export interface ReadStart {
  readonly from: number
  readonly lastRead: ReadPoint
}

/** Frames of one stream, in order. */
export interface FrameReader {
  /** At most `frames` more may be handed to `onFrame`; called again as there is room. */
  request(frames: number): void
  close(): Promise<void>
}

export interface FrameReaderListener {
  onFrame(frame: StoredFrame): void
  /** Told by every reader that meets it. */
  onDamage(damage: StreamDamage): void
  /** The reader was ended by somebody else's take-over, or by a lost connection: frames may be missing from here on. */
  onLost(reason: Error): void
}

export interface StreamRecord {
  readonly body: Uint8Array
  /** Handed back to change it. */
  readonly revision: number
  /** Of settled frames that are still there, about. */
  readonly settledBytes: number
}

/** What came since the last record that is durable: for a broker that stores changes instead of the whole. */
export interface RecordChange {
  /** Sequences, ascending. */
  readonly settled: readonly number[]
  /** Tries so far, by sequence. */
  readonly tries: ReadonlyMap<number, number>
  /** Of the observer, where it is another one than before. */
  readonly note: ObserverNote | undefined
}

export interface RecordWrite {
  /** The record as a whole. */
  readonly body: () => Uint8Array
  readonly change: RecordChange
  /** Of the record that it replaces; undefined where there is none. */
  readonly revision: number | undefined
  /** Every frame below is settled. */
  readonly settledBelow: number
  /** Frames below this position leave the stream, once the record is durable. */
  readonly removeBelow: number
  /** Called where they did not leave: the owner asks again. A broker that tries by itself need not. */
  readonly notRemoved: () => void
}

export interface FrameCommit {
  readonly content: Frame
  /** The same with each try. */
  readonly id: string
}

/** What is stored together, or one after the other: the frame first, then the record, then what the record lets leave. */
export interface Commit {
  readonly frame?: FrameCommit | undefined
  readonly record?: RecordWrite | undefined
}

export interface Committed {
  /** Of the frame; 0 without one. */
  readonly position: number
  /** Of the record; 0 without one. */
  readonly revision: number
}

export interface BrokerLimits {
  /** Messages and bytes of a frame at most; it takes no further message at `closeAtBytes`. */
  readonly maxFrameMessages: number
  readonly maxFrameBytes: number
  readonly closeAtBytes: number
}

/**
 * How long a stream waits behind a frame. Devices that wait for each answer send again as soon as they have it: without a rest they end up in two
 * halves, one in flight and one waiting for it, though a frame costs much beside what its messages cost.
 */
export interface FrameRest {
  /** Of what the frame took. */
  readonly part: number
  readonly mostMs: number
  /** Behind a frame that took less or held fewer messages there is none: nobody would wait for long, or few would come. */
  readonly leastTookMs: number
  readonly leastMessages: number
}

/** Of the frames that come to this process's readers, those that it stored itself and still had in memory. */
export interface OwnFrameFigures {
  /** Kept now. */
  readonly ownFrameBytes: number
  /** Frames that came and were kept, and those that had to be decoded. Each only grows. */
  readonly ownFrames: number
  readonly decodedFrames: number
}

export const NO_OWN_FRAMES: OwnFrameFigures = { ownFrameBytes: 0, ownFrames: 0, decodedFrames: 0 }

/** A piece of the log, settled or not. */
export interface HistoryPiece {
  readonly frames: readonly StoredFrame[]
  /** Where the next piece begins. */
  readonly next: number
  /** Nothing more was stored when it was read. */
  readonly isEnd: boolean
}

export interface FrameBroker {
  readonly streams: number
  /** Sequences of a frame begin at its position × this. */
  readonly step: number
  readonly limits: BrokerLimits
  /** Absent: the next frame leaves at once. */
  readonly rest?: FrameRest | undefined
  /** Absent where it keeps none. */
  readonly ownFrames?: OwnFrameFigures
  /** A record costs nothing beside a frame: both go in one commit. */
  readonly recordRidesAlong: boolean
  /** False while the broker does not answer. */
  readonly connected: boolean
  onConnection(listener: (connected: boolean) => void): () => void
  /** Why nothing is stored at present, as far as is known without a try. */
  readonly refusal: MillraceError | undefined
  /** What waits to be settled, and its bound, where both are known without a try; else 0 and Infinity. */
  readonly backlogBytes: number
  readonly maxBacklogBytes: number
  /** Calls back when it may store again, or has more room. */
  onRoom(listener: () => void): () => void
  /**
   * Resolves when everything is as durable as the stream is configured. A frame is stored once for one id, however often it is tried
   * within the broker's memory of ids (minutes). Rejects `retryable`: BACKLOG_FULL where the stream is full, DISK_REFUSED where nothing of the
   * commit was stored, BROKER_AWAY where no answer came (it may be stored: try again with the same id); FENCED where the record has another revision.
   */
  commit(stream: number, commit: Commit): Promise<Committed>
  readRecord(stream: number): Promise<StreamRecord | undefined>
  /**
   * Starts reading as the owner of this epoch, with the first frame at or above `start.from`, and ends every reader of this and of earlier
   * epochs. Rejects FENCED where one of a later epoch reads. Begins with the oldest frame where the stream has not, or has another frame at,
   * the position that was read last: it lost its end and counted again.
   */
  read(stream: number, epoch: number, start: ReadStart, listener: FrameReaderListener): Promise<FrameReader>
  /** Content of a stored frame once more; undefined where it has left the stream. Rejects where it cannot be read. */
  fetch(stream: number, frame: FramePlace, wants: WantsQueue): Promise<FrameContent | undefined>
  /** Frames from the first at or above `from` on, settled or not, about `maxBytes` of them. */
  history(stream: number, from: number, maxBytes: number): Promise<HistoryPiece>
  close(): Promise<void>
}

export interface FramePlace {
  readonly position: number
  readonly place: number
  readonly bytes: number
  readonly count: number
}
