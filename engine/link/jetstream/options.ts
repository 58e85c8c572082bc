/** What the frame link is given, its bounds with what happens at each, and what it tells of itself. */
import type { Clock, Random } from '../../../model/clock.ts'
import type { Membership } from '../../cluster/membership.ts'
import type { LetterKeeper } from '../burial.ts'
import type { DeadLetters } from '../dead-letters.ts'
import type { FrameBroker } from './broker.ts'
import type { FrameLinkEventListener } from './events.ts'

/** Dead letters that are shared by the processes of a cluster. */
export interface SharedLetters extends DeadLetters, LetterKeeper {
  close(): Promise<void>
}

/** Where the letters are kept; `publish` of a replay is the link's. */
export type LetterStore = Omit<SharedLetters, 'replay'>

export interface FrameLinkOptions {
  readonly broker: FrameBroker
  readonly letters: LetterStore
  readonly membership: Membership
  readonly clock: Clock
  readonly random: Random
  readonly bounds?: Partial<FrameLinkBounds>
  /** What a person on call should know; must not throw. */
  readonly onEvent?: FrameLinkEventListener
}

export interface FrameLinkBounds {
  /** Messages and bytes that wait for the broker: over half of it senders are asked to pause, over all of it refused. */
  readonly maxPendingMessages: number
  readonly maxPendingBytes: number
  /** Bytes of one frame as the broker takes it: a larger message is refused. */
  readonly maxFrameBytes: number
  /** How long a frame is tried before its messages are refused: whether it was stored is then unknown. */
  readonly publishTimeoutMs: number
  /** How long a full stream is left alone before the next try. */
  readonly fullPauseMs: number
  /** Undelivered messages and bytes kept in memory for `Main`, and about as much for all other queues; of what comes then, only the positions are kept. */
  readonly maxMemoryMessages: number
  readonly maxMemoryBytes: number
  /** Frames of one partition that are read and not settled: beyond it the partition is read no further. */
  readonly maxOpenFrames: number
  /** How soon what was settled of frames that are not yet settled whole is noted in the partition's record. */
  readonly settleDelayMs: number
  /** The least time between two such notes of a partition: each is a write that the broker syncs. */
  readonly notePauseMs: number
  /** How long a partition that another process shall have waits for what is being processed. */
  readonly handOverMs: number
  /** How long a living owner may keep a partition that this process shall have. */
  readonly takeOverMs: number
  /** Who stood still for longer asks whether its partitions are still its own. */
  readonly sleepMs: number
}

export const DEFAULT_FRAME_BOUNDS: FrameLinkBounds = {
  maxPendingMessages: 65_536,
  maxPendingBytes: 32 << 20,
  maxFrameBytes: (1 << 20) - 8192,
  publishTimeoutMs: 10_000,
  fullPauseMs: 250,
  maxMemoryMessages: 20_000,
  maxMemoryBytes: 16 << 20,
  maxOpenFrames: 4096,
  settleDelayMs: 20,
  notePauseMs: 200,
  handOverMs: 1500,
  takeOverMs: 15_000,
  sleepMs: 2000,
}

export interface FrameLinkFigures {
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
  /** In memory, waiting for the broker. */
  readonly pending: number
  /** Delivered and not settled. */
  readonly outstanding: number
  /** Frames read and not settled whole, and those of them whose messages wait in the stream because their queue has no room. */
  readonly openFrames: number
  readonly parkedFrames: number
  readonly partitions: number
  readonly takeOvers: number
  readonly lostPartitions: number
  readonly silentPartitions: number
  /** How often a stream was found with frames missing. */
  readonly streamDamages: number
  readonly connected: boolean
  readonly deadLetters: number
}
