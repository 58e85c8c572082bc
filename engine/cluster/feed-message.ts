/**
 * What change feeds say to each other. Between two processes each direction is a session of numbered messages; its first ones tell all
 * that the speaker wants to hear, later ones what is new. A pulse tells the number so far, so that a loss at the end shows too.
 */
import { z } from 'zod'

const interestsSchema = z.object({
  /** What was told before is no longer so. */
  isReset: z.boolean(),
  /** All kinds that are wanted of every entity. */
  kinds: z.array(z.string()),
  add: z.array(z.string()),
  remove: z.array(z.string()),
  /** With the last part: the listener answers it. */
  version: z.int().optional(),
})

const speaker = { from: z.string(), session: z.int() }

const messageSchema = z.union([
  z.object({
    ...speaker,
    number: z.int().positive(),
    /** The speaker has told nobody of changes before. */
    isNew: z.boolean().optional(),
    interests: interestsSchema.optional(),
    /** The version of the listener's interests that the speaker heeds. */
    heeds: z.int().optional(),
    changes: z.array(z.unknown()).optional(),
  }),
  z.object({ ...speaker, upTo: z.int().nonnegative() }),
  /** The speaker asks for a new session of the listener's, or leaves. */
  z.object({ from: z.string(), sign: z.enum(['again', 'bye']) }),
])

export type Interests = z.infer<typeof interestsSchema>
export type FeedMessage = z.infer<typeof messageSchema>
export type NumberedMessage = Extract<FeedMessage, { readonly number: number }>
export type Pulse = Extract<FeedMessage, { readonly upTo: number }>

/** Throws where it is none. */
export function parseFeedMessage(body: string): FeedMessage {
  return messageSchema.parse(JSON.parse(body))
}

/** A numbered message around changes that are text already. */
export function numberedText(message: Omit<NumberedMessage, 'changes'>, changes: readonly string[]): string {
  const head = JSON.stringify(message)
  return changes.length === 0 ? head : `${head.slice(0, -1)},"changes":[${changes.join(',')}]}`
}
