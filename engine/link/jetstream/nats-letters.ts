/**
 * Dead letters of a cluster: a stream of their own, a letter a message, its id the message's place there. The same burial twice is one
 * letter, by the id that the server remembers for an hour. A tenant's letters have a subject of their own: nobody else's are read for it, and
 * over the bound the oldest letters of the tenants that hold the most go.
 */
import { jetstream, jetstreamManager, JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream'
import type { Clock } from '../../../model/clock.ts'
import { errorText, type MillraceError } from '../../../model/errors.ts'
import type { NatsLine } from '../../cluster/nats-connection.ts'
import { openBlock } from '../block.ts'
import { BlockWriter } from '../block-writer.ts'
import type { DeadLetter, LetterQuery, LetterStore } from '../dead-letters.ts'
import { LinkErrors } from '../errors.ts'
import type { LinkEventListener } from '../events.ts'
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
  readonly maxLetters: number
  readonly onEvent?: LinkEventListener | undefined
}

/** So often within its bound a process that buries looks whose letters are too many. */
const LOOKS = 64

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
  /** Letters stored here since the last look at the shares. */
  private unlooked = 0
  private looking: Promise<void> | undefined

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
    const stored = await this.ask(() =>
      client.publish(this.names.letterSubject(message.tenantId), block.finish(), options),
    )
    if (stored?.duplicate !== false) return
    this.known++
    this.unlooked++
    const { maxLetters } = this.options
    // The letter is stored, whatever becomes of the look: the next one makes up for it.
    if (this.known > maxLetters || this.unlooked > maxLetters / LOOKS) await this.keepShares().catch(() => undefined)
  }

  async list({ tenantId, after = 0, limit }: LetterQuery): Promise<DeadLetter[]> {
    const { names } = this
    if (tenantId === undefined) return this.listSubject('>', after, limit, undefined)
    const [own, old] = await Promise.all([
      this.listSubject(names.letterSubject(tenantId), after, limit, tenantId),
      this.listSubject(names.oldLetterSubject, after, limit, tenantId),
    ])
    return [...own, ...old].sort((a, b) => a.id - b.id).slice(0, limit)
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

  /** Whose letters the old subject holds, only the letters themselves say. */
  private async listSubject(
    next_by_subj: string,
    after: number,
    limit: number,
    tenantId: string | undefined,
  ): Promise<DeadLetter[]> {
    const letters: DeadLetter[] = []
    for (let seq = after + 1; letters.length < limit;) {
      const message = await this.ask(() => this.manager.direct.getMessage(this.names.letters, { seq, next_by_subj }))
      if (message === null || message === undefined) break
      seq = message.seq + 1
      const letter = letterOf(message.seq, message.data)
      const isAsked = tenantId === undefined || letter?.message.tenantId === tenantId
      if (letter !== undefined && isAsked) letters.push(letter)
    }
    return letters
  }

  private keepShares(): Promise<void> {
    return (this.looking ??= this.dropBeyondShares().finally(() => {
      this.looking = undefined
    }))
  }

  /** Letters of before they had subjects by tenant count as one tenant's. */
  private async dropBeyondShares(): Promise<void> {
    const { maxLetters, onEvent } = this.options
    const { letters } = this.names
    const info = await this.ask(() => this.manager.streams.info(letters, { subjects_filter: '>' }))
    const counts = Object.entries(info?.state.subjects ?? {})
    this.unlooked = 0
    this.known = info?.state.messages ?? 0
    if (this.known <= maxLetters) return
    const most = maxLetters - Math.floor(maxLetters / LOOKS)
    const keep = shareOf(
      counts.map(([, count]) => count),
      most,
    )
    let dropped = 0
    for (const [filter, count] of counts) {
      if (count <= keep) continue
      dropped += (await this.ask(() => this.manager.streams.purge(letters, { filter, keep })))?.purged ?? 0
    }
    this.known -= dropped
    if (dropped > 0) onEvent?.({ kind: 'dead-letters-dropped', count: dropped })
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

/** How many each may keep, so that all together have no more than `most`: what some leave of their share, the others have. */
function shareOf(counts: readonly number[], most: number): number {
  let rest = most
  let sharers = counts.length
  for (const count of counts.toSorted((a, b) => a - b)) {
    if (count * sharers > rest) return Math.max(1, Math.floor(rest / sharers))
    rest -= count
    sharers--
  }
  return most
}

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
