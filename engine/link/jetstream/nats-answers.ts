/** What the servers answer: an answer, that there is no such thing, or anything else, which is BROKER_AWAY. */
import { JetStreamApiError } from '@nats-io/jetstream'
import { errorText, type MillraceError } from '../../../model/errors.ts'
import type { NatsLine } from '../../cluster/nats-connection.ts'
import { openBlock } from '../../../disk/block.ts'
import { LinkErrors } from '../errors.ts'
import { API_CODES } from './nats-names.ts'

/** How long a question waits. */
export const ANSWER_MS = 3000

/** No such message; the second is what a delete of what is gone answers. */
const NO_MESSAGE: ReadonlySet<number> = new Set([API_CODES.messageNotFound, API_CODES.sequenceNotFound])
/** For who makes streams. To all others one that is not there is a broker that is away: nothing may count as settled for it. */
export const NO_STREAM: ReadonlySet<number> = new Set([...NO_MESSAGE, API_CODES.streamNotFound])

/** Undefined where there is no such message. Throws BROKER_AWAY. */
export async function present<Answer>(
  question: Promise<Answer | null>,
  missing: ReadonlySet<number> = NO_MESSAGE,
): Promise<Answer | undefined> {
  try {
    return (await question) ?? undefined
  } catch (error) {
    if (missing.has(codeOf(error) ?? 0)) return undefined
    throw away(error)
  }
}

/** Throws BROKER_AWAY. */
export async function answered<Answer>(question: Promise<Answer>): Promise<Answer> {
  try {
    return await question
  } catch (error) {
    throw away(error)
  }
}

/** Throws BROKER_AWAY: the client would keep back what it cannot send, for as long as that lasts. */
export function assertConnected({ connected }: NatsLine): void {
  if (!connected) throw LinkErrors.BROKER_AWAY({ reason: 'not connected' })
}

export function codeOf(error: unknown): number | undefined {
  return error instanceof JetStreamApiError ? error.code : undefined
}

/** Somebody else wrote behind what the writer knows. */
export function isOvertaken(error: unknown): boolean {
  const code = codeOf(error)
  return code === API_CODES.wrongLastSequence || code === API_CODES.wrongLastSequenceUnknown
}

export function away(error: unknown): MillraceError {
  return LinkErrors.BROKER_AWAY({ reason: errorText(error) }, error)
}

/** The body of the block that a message is; undefined where it is damaged. */
export function bodyOf(stored: Uint8Array): Buffer | undefined {
  return openBlock(Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength))
}
