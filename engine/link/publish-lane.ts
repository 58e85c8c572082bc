/** What waits to be stored in one stream, and what is known of the stream's frames on their way. */
import type { TimerHandle } from '../../model/clock.ts'
import type { MillraceError } from '../../model/errors.ts'
import { Rest } from '../../model/rest.ts'
import type { RecordWrite } from './frame-broker.ts'
import type { Frame } from './frame.ts'

/** Who owns a stream, as far as its commits are concerned. */
export interface RecordSource {
  /** What is to be written now, if anything is. */
  takeRecord(): RecordWrite | undefined
  recordWritten(revision: number): void
  recordRefused(error: unknown): void
}

export interface PendingFrame {
  readonly frame: Frame
  readonly openedAt: number
  /** What its messages added. */
  bytes: number
  id: string
}

/** What waits for one stream. */
export interface Lane {
  readonly stream: number
  /** Oldest first: the first is in flight while `isSending`, the last takes messages. */
  readonly frames: PendingFrame[]
  isSending: boolean
  sentAtMs: number
  /** Behind a frame, so that who was told of it may be in the next. */
  readonly rest: Rest
  isResting: boolean
  /** So many messages end it: as many as were told, beside those that waited. */
  restUntil: number
  isDirty: boolean
  /** Whose record rides along with the frames. */
  source: RecordSource | undefined
  isRecordDue: boolean
  /** Why nothing is taken for a while: the stream is full. */
  refusal: MillraceError | undefined
  fullTimer: TimerHandle | undefined
  /** Told as full, and no frame was stored since. */
  isFull: boolean
  /** The last position that a frame from here was stored at; 0 for none. */
  lastPosition: number
  /** Told as silent, and no frame was stored since. */
  isSilent: boolean
}

export function newLane(stream: number): Lane {
  return {
    stream,
    frames: [],
    isSending: false,
    sentAtMs: 0,
    rest: new Rest(),
    isResting: false,
    restUntil: 0,
    isDirty: false,
    source: undefined,
    isRecordDue: false,
    refusal: undefined,
    fullTimer: undefined,
    isFull: false,
    lastPosition: 0,
    isSilent: false,
  }
}
