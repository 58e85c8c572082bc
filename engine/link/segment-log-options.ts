/** What the embedded link is given, its bounds with what happens at each, and what it tells of itself. */
import type { Clock } from '../../model/clock.ts'
import type { Disk, Durability } from '../../disk/disk.ts'
import type { LinkEventListener } from './events.ts'
import type { FrameLinkFigures, FrameObserver } from './options.ts'

export interface SegmentLogOptions {
  readonly directory: string
  readonly disk: Disk
  readonly clock: Clock
  readonly durability: Durability
  readonly partitions: number
  readonly bounds?: Partial<SegmentLogBounds>
  readonly observer?: FrameObserver | undefined
  /** What a person on call should know; must not throw. */
  readonly onEvent?: LinkEventListener
}

export interface SegmentLogBounds {
  readonly segmentBytes: number
  /** Messages and bytes that wait for the disk: over half of it senders are asked to pause, over all of it refused. */
  readonly maxPendingMessages: number
  readonly maxPendingBytes: number
  /** Bytes of segments that are not settled: the same two steps. */
  readonly maxBacklogBytes: number
  /** Undelivered messages kept in memory; further ones are read back from disk. */
  readonly maxMemoryMessages: number
  readonly maxMemoryBytes: number
  /** Characters of one message's data. */
  readonly maxMessageSize: number
  readonly maxDeadLetters: number
  readonly maxDeadLetterBytes: number
  /** The longest that a settle waits for a frame to ride along with. */
  readonly settleDelayMs: number
  /** Frames that are read and not settled: beyond it the log is read no further. */
  readonly maxOpenFrames: number
  /** Settled frames stay for so long and up to so many bytes, to be read again. */
  readonly retentionMs: number
  readonly retentionBytes: number
}

export const DEFAULT_BOUNDS: SegmentLogBounds = {
  segmentBytes: 64 << 20,
  maxPendingMessages: 65_536,
  maxPendingBytes: 32 << 20,
  maxBacklogBytes: 8 * 2 ** 30,
  maxMemoryMessages: 20_000,
  maxMemoryBytes: 16 << 20,
  maxMessageSize: 16 << 20,
  maxDeadLetters: 100_000,
  maxDeadLetterBytes: 1 << 30,
  settleDelayMs: 5,
  maxOpenFrames: 16_384,
  retentionMs: 3_600_000,
  retentionBytes: 256 << 20,
}

export interface SegmentLogFigures extends FrameLinkFigures {
  /** Writes, syncs and new segments that the disk refused. */
  readonly diskFailures: number
  /** Durable and not settled. */
  readonly unsettled: number
  readonly backlogBytes: number
  readonly segments: number
  readonly deadLettersDropped: number
}
