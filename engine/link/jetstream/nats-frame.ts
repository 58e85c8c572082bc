/** Frames as the streams of NATS have them: one block a message. */
import { errorText } from '../../../model/errors.ts'
import type { Message } from '../../../model/message.ts'
import type { FrameContent, StoredFrame, WantsQueue } from '../frame-broker.ts'
import type { ReadPoint } from '../record.ts'
import { decodeBlock, type BlockContent } from '../wire.ts'
import { bodyOf } from './nats-answers.ts'

/** Index bits of a sequence: messages of a frame at most. */
export const FRAME_MESSAGES = 4096

export function storedFrame({ position, storedAt }: ReadPoint, body: Uint8Array): StoredFrame {
  const read = (): FrameContent => contentOf(position, body, undefined)
  return { position, storedAt, bytes: body.length, place: 0, noted: undefined, read }
}

/** One whose messages this process has still, as it stored them. */
export function ownFrame({ position, storedAt }: ReadPoint, bytes: number, messages: readonly Message[]): StoredFrame {
  const read = (): FrameContent => {
    let sequence = position * FRAME_MESSAGES
    for (const message of messages) message.sequence = sequence++
    return { messages, count: messages.length }
  }
  return { position, storedAt, bytes, place: 0, noted: undefined, read }
}

/** Throws where the checksum does not fit or the schema is not kept. */
export function contentOf(position: number, stored: Uint8Array, wants: WantsQueue | undefined): BlockContent {
  const body = bodyOf(stored)
  if (body === undefined) throw new Error('its checksum does not fit')
  let content: BlockContent
  try {
    content = decodeBlock(body, wants === undefined ? { entries: true } : { entries: true, wants })
  } catch (error) {
    throw new Error(`it does not keep the schema: ${errorText(error)}`, { cause: error })
  }
  const { messages, count, firstSequence } = content
  if (count === 0 || count > FRAME_MESSAGES) throw new Error(`it holds ${count} messages`)
  const first = position * FRAME_MESSAGES
  for (const message of messages) message.sequence = first + (message.sequence - firstSequence)
  content.attempts = content.attempts.map(([sequence, tries]) => [first + (sequence - firstSequence), tries])
  content.firstSequence = first
  return content
}
