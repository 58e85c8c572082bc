/**
 * Where a frame stands, from the reply subject that the server gave it: `$JS.ACK.<stream>.<consumer>.<tries>.<position>.<delivery>.<nanoseconds>.<pending>`,
 * or with domain and account before the stream.
 */
import type { ReadPoint } from '../record.ts'

const NANOS = 1_000_000

/** The places of what one consumer sends. It numbers its deliveries from 1: a frame that was lost on the way between servers is missed. */
export class FramePlaces {
  private received = 0

  /** Throws where the frame is not the one that the consumer sent next: those before it have to be read again. */
  next(reply: string): ReadPoint {
    const tokens = reply.split('.')
    const first = tokens.length === 9 ? 4 : 6
    const position = Number(tokens[first + 1])
    const delivery = Number(tokens[first + 2])
    const storedAt = Math.floor(Number(tokens[first + 3]) / NANOS)
    const isPlace = reply.startsWith('$JS.ACK.') && Number.isSafeInteger(position) && Number.isFinite(storedAt)
    if (!isPlace) throw new Error(`a message without a place in its stream: ${reply}`)
    if (delivery !== ++this.received) throw new Error(`delivery ${delivery} came in place of ${this.received}`)
    return { position, storedAt }
  }
}
