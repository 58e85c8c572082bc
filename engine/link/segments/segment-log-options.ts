/** What the embedded link is given, its bounds with what happens at each, and what it tells of itself. */
import type { Clock } from '../../../model/clock.ts'
import type { Disk, Durability } from '../../../disk/disk.ts'
import type { LinkEventListener } from '../events.ts'
import { DEFAULT_FRAME_BOUNDS, type FrameLinkBounds, type FrameLinkFigures, type FrameObserver } from '../options.ts'

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

export interface SegmentLogBounds extends FrameLinkBounds {
  readonly segmentBytes: number
  /** Bytes of segments that are not settled: senders are asked to pause near it, and refused at it. */
  readonly maxBacklogBytes: number
  readonly maxDeadLetters: number
  readonly maxDeadLetterBytes: number
}

export const DEFAULT_BOUNDS: SegmentLogBounds = {
  ...DEFAULT_FRAME_BOUNDS,
  segmentBytes: 64 << 20,
  maxBacklogBytes: 8 * 2 ** 30,
  maxDeadLetters: 100_000,
  maxDeadLetterBytes: 1 << 30,
  settleDelayMs: 5,
  maxOpenFrames: 16_384,
  // Nobody takes this process for gone.
  sleepMs: Infinity,
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
