/** Reading a stream again: frames as they were stored, settled or not, as long as they are kept. It waits while deliveries wait. */
import type { Clock } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import type { LinkEventListener } from './events.ts'
import type { FrameBroker } from './frame-broker.ts'
import type { LoggedFrame, LogPosition } from './link.ts'

/** Read at a time: what a delivery may have to wait for. */
const PIECE_BYTES = 1 << 20
const PAUSE_MS = 10

export interface ReadingOptions {
  readonly broker: FrameBroker
  readonly clock: Clock
  readonly onEvent: LinkEventListener
  /** Messages wait to be delivered: they come first. */
  readonly isBehind: () => boolean
}

/** Ends where the stream ends. Rejects with BROKER_AWAY, or what the disk says; then it may begin again behind the last frame. */
export async function* readAgain(
  { broker, clock, onEvent, isBehind }: ReadingOptions,
  { stream, position: from }: LogPosition,
): AsyncGenerator<LoggedFrame> {
  let next = from
  for (;;) {
    while (isBehind()) await new Promise<void>((resolve) => void clock.after(PAUSE_MS, resolve))
    const piece = await broker.history(stream, next, PIECE_BYTES)
    for (const frame of piece.frames) {
      const { position, storedAt } = frame
      let messages
      try {
        messages = frame.read().messages
      } catch (error) {
        onEvent({ kind: 'frame-unreadable', stream, position, reason: errorText(error) })
        continue
      }
      yield { stream, position, storedAt, messages }
    }
    next = piece.next
    if (piece.isEnd) return
  }
}
