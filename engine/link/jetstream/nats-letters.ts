/**
 * Dead letters of a cluster: a stream of their own, a letter a message, its id the message's place there. The same burial twice is one
 * letter, by the id that the server remembers for an hour. Bounded: over its bound the oldest letters go.
 */
import { jetstream, jetstreamManager, JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream'
import type { Clock } from '../../../model/clock.ts'
import { errorText, type MillraceError } from '../../../model/errors.ts'
import type { NatsLine } from '../../cluster/nats-connection.ts'
import { openBlock } from '../block.ts'
import { BlockWriter } from '../block-writer.ts'
import type { DeadLetter, LetterQuery, LetterStore } from '../dead-letters.ts'
import { LinkErrors } from '../errors.ts'
import { decodeBlock } from '../wire.ts'
import { API_CODES, natsNames, type NatsNames } from './nats-names.ts'

const ANSWER_MS = 3000
/** How old the figure of the letters may be: other processes bury and remove too. */
const COUNT_AGE_MS = 2000

export interface NatsLettersOptions {
  /** Stays its owner's to close. */
  readonly line: NatsLine
  readonly prefix: string
  readonly clock: Clock
}

/** The stream has to be there: `openNatsBroker` makes it. Throws BROKER_AWAY where the server does not tell of it. */
export async function openNatsLetters(options: NatsLettersOptions): Promise<LetterStore> {
  const manager = await jetstreamManager(options.line.connection, { checkAPI: false, timeout: ANSWER_MS })
  const letters = new NatsLetters(options, natsNames(options.prefix), manager)
  await letters.countAgain()
  return letters
}

class NatsLetters implements LetterStore {
  private readonly options: NatsLettersOptions
  private readonly names: NatsNames
  private readonly manager: JetStreamManager
  private known = 0
  private countedAtMs = 0
  private counting: Promise<void> | undefined

  constructor(options: NatsLettersOptions, names: NatsNames, manager: JetStreamManager) {
    this.options = options
    this.names = names
    this.manager = manager
  }

  /** As of some seconds ago. */
  get count(): number {
    const { clock, line } = this.options
    if (line.connected && clock.monotonic() - this.countedAtMs > COUNT_AGE_MS) {
      // While the server does not answer, the last figure stands.
      void this.countAgain().catch(() => undefined)
    }
    return this.known
  }

  async put({ message, reason, attempts }: Omit<DeadLetter, 'id' | 'time'>): Promise<void> {
    const block = new BlockWriter(1)
    block.message(message)
    block.attempts(new Map([[message.sequence, attempts]]))
    block.deadLetter(reason, this.options.clock.now())
    const client = jetstream(this.options.line.connection, { timeout: ANSWER_MS })
    // An originator's sequences are its own: with its id, one names the message.
    const msgID = `${message.originator.id}-${message.sequence}`
    const options = { msgID, timeout: ANSWER_MS }
    const stored = await this.ask(() => client.publish(this.names.letterSubject, block.finish(), options))
    if (stored?.duplicate === false) this.known++
  }

  async list({ tenantId, after = 0, limit }: LetterQuery): Promise<DeadLetter[]> {
    const letters: DeadLetter[] = []
    const { letters: stream, letterSubject } = this.names
    for (let seq = after + 1; letters.length < limit;) {
      const query = { seq, next_by_subj: letterSubject }
      const message = await this.ask(() => this.manager.direct.getMessage(stream, query))
      if (message === null || message === undefined) break
      seq = message.seq + 1
      const letter = letterOf(message.seq, message.data)
      const isAsked = tenantId === undefined || letter?.message.tenantId === tenantId
      if (letter !== undefined && isAsked) letters.push(letter)
    }
    return letters
  }

  async read(id: number): Promise<DeadLetter | undefined> {
    const message = await this.ask(() => this.manager.streams.getMessage(this.names.letters, { seq: id }))
    return message === null || message === undefined ? undefined : letterOf(id, message.data)
  }

  async remove(id: number): Promise<boolean> {
    const isRemoved = await this.ask(() => this.manager.streams.deleteMessage(this.names.letters, id))
    if (isRemoved === true) this.known--
    return isRemoved ?? false
  }

  async close(): Promise<void> {
    await this.counting?.catch(() => undefined)
  }

  countAgain(): Promise<void> {
    return (this.counting ??= this.ask(() => this.manager.streams.info(this.names.letters))
      .then((info) => {
        this.known = info?.state.messages ?? 0
        this.countedAtMs = this.options.clock.monotonic()
      })
      .finally(() => {
        this.counting = undefined
      }))
  }

  /** Undefined where the server says that there is no such message. */
  private async ask<Answer>(question: () => Promise<Answer>): Promise<Answer | undefined> {
    if (!this.options.line.connected) throw away('not connected')
    try {
      return await question()
    } catch (error) {
      const isMissing = error instanceof JetStreamApiError && MISSING.has(error.code)
      if (isMissing) return undefined
      throw away(errorText(error), error)
    }
  }
}

/** No message found; and "sequence not found", which a delete of what is gone answers. */
const MISSING: ReadonlySet<number> = new Set([API_CODES.messageNotFound, API_CODES.sequenceNotFound])

/** Undefined where it is damaged. */
function letterOf(id: number, stored: Uint8Array): DeadLetter | undefined {
  const body = openBlock(Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength))
  if (body === undefined) return undefined
  const { messages, reason, time, attempts } = decodeBlock(body, { entries: true })
  const message = messages[0]
  if (message === undefined) return undefined
  return { id, message, reason: reason ?? '', time, attempts: attempts[0]?.[1] ?? 0 }
}

function away(reason: string, cause?: unknown): MillraceError {
  return LinkErrors.BROKER_AWAY({ reason }, cause)
}
