/** What the frame link is given, its bounds with what happens at each, and what it tells of itself. */
import type { Clock, Random } from '../../model/clock.ts'
import type { Membership } from '../cluster/membership.ts'
import type { LetterStore } from './dead-letters.ts'
import type { LinkEventListener } from './events.ts'
import type { FrameBroker, OwnFrameFigures } from './frame-broker.ts'
import type { LoggedFrame } from './link.ts'

/** Sees every frame of the streams that this process owns in the order of the log, and remembers durably what it needs for that. */
export interface FrameObserver {
  /** This process owns the stream from now on. `note` is what `encode` returned, as the stream's record has it. */
  taken(stream: number, epoch: number, note: Uint8Array | undefined): void
  gone(stream: number): void
  /**
   * Before any of its messages is delivered; messages may be changed here. A frame comes again after a crash, behind the same state. What it
   * returns is kept as long as the frame.
   */
  opened(frame: LoggedFrame): unknown
  /** Some messages of a frame were fetched again, out of the order of the log: they are to be changed in the same way. */
  reopened(frame: LoggedFrame, memo: unknown): void
  /** What it needs to go on behind the frame that was opened last. */
  encode(stream: number): Uint8Array | undefined
}

/** What moves with a stream besides its frames. */
export interface StreamWatcher {
  /**
   * This process owns the stream under this epoch, which rises with each owner; none of its messages is delivered before this resolves. Where it rejects, it is asked again as long as `isHeld`.
   */
  taken(stream: number, isHeld: () => boolean, epoch: number): Promise<void>
  /**
   * The latest epoch that it knows of: the next one is above it, also where the log itself was made anew or restored and remembers none. Who is
   * not the latest owner is found out by the log's record still.
   */
  epochOf?(stream: number): Promise<number>
  /** It is handed over: nothing more of it is delivered, and what runs may end. */
  leaving?(stream: number): void
  /** Nothing that is done for the stream counts any more. */
  gone(stream: number): void
}

export interface FrameLinkOptions {
  readonly broker: FrameBroker
  /** Of partitions; a broker's streams share them out. */
  readonly partitions: number
  readonly observer?: FrameObserver | undefined
  readonly letters: LetterStore
  readonly membership: Membership
  readonly clock: Clock
  readonly random: Random
  readonly bounds?: Partial<FrameLinkBounds>
  /** What a person on call should know; must not throw. */
  readonly onEvent?: LinkEventListener
}

export interface FrameLinkBounds {
  /** Messages and bytes that wait for the broker: over half of it senders are asked to pause, over all of it refused. */
  readonly maxPendingMessages: number
  readonly maxPendingBytes: number
  /** Characters of one message's data. */
  readonly maxMessageSize: number
  /** How long a frame is tried before its messages are refused: whether it was stored is then unknown. */
  readonly publishTimeoutMs: number
  /** How long a full stream is left alone before the next try. */
  readonly fullPauseMs: number
  /** Undelivered messages and bytes kept in memory for `Main`, and about as much for all other queues; of what comes then, only the positions are kept. */
  readonly maxMemoryMessages: number
  readonly maxMemoryBytes: number
  /** Frames of one stream that are read and not settled: beyond it the stream is read no further. */
  readonly maxOpenFrames: number
  /** How soon what was settled is noted in the stream's record. */
  readonly settleDelayMs: number
  /** The least time between two such notes of a stream: each is a write that the broker syncs. */
  readonly notePauseMs: number
  /** How often a record is written that says no more than how far was read. */
  readonly progressMs: number
  /** How long a stream that another process shall have waits for what is being processed. */
  readonly handOverMs: number
  /** How long a living owner may keep a stream that this process shall have. */
  readonly takeOverMs: number
  /** Who stood still for longer asks whether its streams are still its own. */
  readonly sleepMs: number
  /** Settled frames stay for so long and up to so many bytes, of all streams, to be read again. */
  readonly retentionMs: number
  readonly retentionBytes: number
  /** The longest that a stream rests behind a frame; 0: it never rests. Counts where the broker's streams rest. */
  readonly restMs: number
  /** Of frames stored here that are still to come from the broker, all streams; 0: each is decoded. Counts where the broker keeps them. */
  readonly ownFrameBytes: number
}

export const DEFAULT_FRAME_BOUNDS: FrameLinkBounds = {
  maxPendingMessages: 65_536,
  maxPendingBytes: 32 << 20,
  maxMessageSize: 16 << 20,
  publishTimeoutMs: 10_000,
  fullPauseMs: 250,
  maxMemoryMessages: 20_000,
  maxMemoryBytes: 16 << 20,
  maxOpenFrames: 4096,
  settleDelayMs: 20,
  notePauseMs: 200,
  progressMs: 1000,
  handOverMs: 1500,
  takeOverMs: 15_000,
  sleepMs: 2000,
  retentionMs: 3_600_000,
  retentionBytes: 256 << 20,
  restMs: 10,
  ownFrameBytes: 12 << 20,
}

export interface FrameLinkFigures extends OwnFrameFigures {
  readonly published: number
  readonly stored: number
  readonly refused: number
  readonly delivered: number
  readonly settled: number
  readonly failed: number
  readonly buried: number
  /** Frames stored, and their bytes. */
  readonly writes: number
  readonly bytesWritten: number
  /** Tries of a frame after the first. */
  readonly retries: number
  /** Behind frames, and how long they were. */
  readonly rests: number
  readonly restedMs: number
  /** In memory, waiting for the broker. */
  readonly pending: number
  /** Delivered and not settled. */
  readonly outstanding: number
  /** Frames read and not settled whole, and those of them whose messages wait in the stream because their queue has no room. */
  readonly openFrames: number
  readonly parkedFrames: number
  readonly streams: number
  readonly takeOvers: number
  readonly lostStreams: number
  readonly silentStreams: number
  /** How often a stream was found with frames missing. */
  readonly streamDamages: number
  readonly connected: boolean
  readonly deadLetters: number
}
