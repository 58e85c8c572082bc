/**
 * Dead letters of a cluster: a stream of their own, a letter a message, its id the message's place there. The same burial twice is one
 * letter, by the id that the server remembers for an hour. A tenant's letters have a subject of their own: nobody else's are read for it, and
 * over the bounds, of letters and of bytes, the oldest letters of the tenants that hold the most go.
 */
import { jetstream, jetstreamManager, type JetStreamManager, type PurgeOpts } from '@nats-io/jetstream'
import type { Clock } from '../../../model/clock.ts'
import type { Erased } from '../../../model/erased.ts'
import { errorText } from '../../../model/errors.ts'
import type { NatsLine } from '../../cluster/nats-connection.ts'
import {
  decodeLetter,
  encodeLetter,
  type DeadLetter,
  type LetterQuery,
  type LetterStore,
  type NewLetter,
} from '../dead-letters.ts'
import type { LinkEventListener } from '../events.ts'
import { ANSWER_MS, assertConnected, bodyOf, present } from './nats-answers.ts'
import { natsNames, type NatsNames } from './nats-names.ts'

/** How old the figure of the letters may be: other processes bury and remove too. */
const COUNT_AGE_MS = 2000

export interface NatsLettersOptions {
  /** Stays its owner's to close. */
  readonly line: NatsLine
  readonly prefix: string
  readonly clock: Clock
  readonly maxLetters: number
  /** What the stream may take. The bound kept here is lower: at its own, the server would drop the oldest of anybody. */
  readonly maxBytes: number
  readonly onEvent?: LinkEventListener | undefined
}

/** What the server keeps beside a letter's body and subject, about: its headers and its own record. */
const ENTRY_BYTES = 128
/** So often within its bound a process that buries looks whose letters are too many. */
const LOOKS = 64
/** Of the stream's bytes: the rest is for what all processes store between two looks. */
const BYTES_SHARE = 0.75

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
  /** Of the stream, as of the last look, with what was stored here since; and what is being stored. */
  private bytes = 0
  private unlookedBytes = 0
  private bytesUnderWay = 0
  private readonly whenStored: (() => void)[] = []
  private looking: Promise<void> | undefined
  private isLookFailing = false

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

  async put(letter: NewLetter): Promise<void> {
    const { message } = letter
    const block = encodeLetter(letter, this.options.clock.now())
    const client = jetstream(this.options.line.connection, { timeout: ANSWER_MS })
    // An originator's sequences are its own: with its id, one names the message.
    const msgID = `${message.originator.id}-${message.sequence}`
    const options = { msgID, timeout: ANSWER_MS }
    const subject = this.names.letterSubject(message.tenantId)
    const size = block.length + subject.length + ENTRY_BYTES
    await this.makeRoom(size)
    try {
      const stored = await this.ask(() => client.publish(subject, block, options))
      if (stored?.duplicate !== false) return
    } finally {
      this.bytesUnderWay -= size
      for (const go of this.whenStored.splice(0)) go()
    }
    this.known++
    this.unlooked++
    this.bytes += size
    this.unlookedBytes += size
    // The letter is stored, whatever becomes of the look: the next one makes up for it.
    if (this.mustLook) await this.tryToKeepShares()
  }

  /** Takes the room, so that letters that are stored side by side do not fill the stream. */
  private async makeRoom(size: number): Promise<void> {
    const most = this.options.maxBytes * BYTES_SHARE
    while (this.bytes + this.bytesUnderWay + size > most) {
      if (this.bytesUnderWay > 0) await new Promise<void>((resolve) => this.whenStored.push(resolve))
      else {
        // Where the server does not tell, it will not store the letter either.
        await this.tryToKeepShares()
        if (this.bytesUnderWay === 0) break
      }
    }
    this.bytesUnderWay += size
  }

  private get mustLook(): boolean {
    const { maxLetters, maxBytes } = this.options
    if (this.known > maxLetters || this.unlooked > maxLetters / LOOKS) return true
    return this.bytes > maxBytes * BYTES_SHARE || this.unlookedBytes > maxBytes / LOOKS
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
    return message === undefined ? undefined : letterOf(id, message.data)
  }

  async remove(id: number): Promise<boolean> {
    const isRemoved = await this.ask(() => this.manager.streams.deleteMessage(this.names.letters, id))
    if (isRemoved === true) this.known--
    return isRemoved ?? false
  }

  /** The server overwrites what is deleted. */
  eraseRemoved(): Promise<Erased> {
    return Promise.resolve({ isGone: true })
  }

  async close(): Promise<void> {
    await this.counting?.catch(() => undefined)
  }

  countAgain(): Promise<void> {
    return (this.counting ??= this.ask(() => this.manager.streams.info(this.names.letters))
      .then((info) => {
        this.known = info?.state.messages ?? 0
        this.bytes = info?.state.bytes ?? 0
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
      if (message === undefined) break
      seq = message.seq + 1
      const letter = letterOf(message.seq, message.data)
      const isAsked = tenantId === undefined || letter?.message.tenantId === tenantId
      if (letter !== undefined && isAsked) letters.push(letter)
    }
    return letters
  }

  /** Never rejects: the next letter asks again. */
  private async tryToKeepShares(): Promise<void> {
    try {
      await this.keepShares()
      this.isLookFailing = false
    } catch (error) {
      if (!this.isLookFailing) this.options.onEvent?.({ kind: 'dead-letter-shares-unknown', reason: errorText(error) })
      this.isLookFailing = true
    }
  }

  private keepShares(): Promise<void> {
    return (this.looking ??= this.dropBeyondShares().finally(() => {
      this.looking = undefined
    }))
  }

  /** Letters of before they had subjects by tenant count as one tenant's. */
  private async dropBeyondShares(): Promise<void> {
    const { maxLetters, maxBytes, onEvent } = this.options
    const { letters } = this.names
    const info = await this.ask(() => this.manager.streams.info(letters, { subjects_filter: '>' }))
    this.known = info?.state.messages ?? 0
    this.bytes = info?.state.bytes ?? 0
    this.unlooked = 0
    this.unlookedBytes = 0
    let dropped = 0
    if (this.known > maxLetters) dropped += await this.dropByCount(Object.entries(info?.state.subjects ?? {}))
    if (this.bytes + this.bytesUnderWay > maxBytes * BYTES_SHARE) dropped += await this.dropByBytes()
    this.known -= dropped
    if (dropped > 0) onEvent?.({ kind: 'dead-letters-dropped', count: dropped })
  }

  private async dropByCount(counts: readonly (readonly [subject: string, count: number])[]): Promise<number> {
    const { maxLetters } = this.options
    const all = counts.map(([, count]) => count)
    const keep = shareOf(all, maxLetters - Math.floor(maxLetters / LOOKS))
    let dropped = 0
    for (const [filter, count] of counts) if (count > keep) dropped += await this.purge({ filter, keep })
    return dropped
  }

  /** The server counts no bytes by subject: the sizes of all letters are read, without their bodies. */
  private async dropByBytes(): Promise<number> {
    const { maxBytes } = this.options
    const sizes = await this.sizesBySubject()
    const totals = new Map([...sizes].map(([subject, own]) => [subject, own.reduce((sum, [, size]) => sum + size, 0)]))
    const all = [...totals.values()]
    const bytes = all.reduce((sum, size) => sum + size, 0)
    const most = maxBytes * BYTES_SHARE - maxBytes / LOOKS - this.bytesUnderWay
    // As the server counts them: what it keeps beside a letter is only about known here.
    const keep = shareOf(all, Math.max(0, most) * (bytes / Math.max(1, this.bytes)))
    let dropped = 0
    for (const [filter, own] of sizes) {
      let over = (totals.get(filter) ?? 0) - keep
      const seq = own.find(([, size]) => {
        if (over <= 0) return true
        over -= size
        this.bytes -= size
        return false
      })?.[0]
      const last = own.at(-1)?.[0] ?? 0
      if (seq !== own[0]?.[0]) dropped += await this.purge({ filter, seq: seq ?? last + 1 })
    }
    return dropped
  }

  /** Of each letter its place and about what it takes, oldest first. */
  private async sizesBySubject(): Promise<Map<string, (readonly [seq: number, bytes: number])[]>> {
    const sizes = new Map<string, (readonly [number, number])[]>()
    await this.ask(async () => {
      const client = jetstream(this.options.line.connection, { timeout: ANSWER_MS })
      const consumer = await client.consumers.get(this.names.letters, { headers_only: true })
      const headers = await consumer.consume({ max_messages: 1000 })
      for await (const { subject, seq, headers: own, info } of headers) {
        const bytes = Number(own?.get('Nats-Msg-Size') ?? 0) + subject.length + ENTRY_BYTES
        const known = sizes.get(subject)
        if (known === undefined) sizes.set(subject, [[seq, bytes]])
        else known.push([seq, bytes])
        if (info.pending === 0) break
      }
      await headers.close()
      await consumer.delete()
    })
    return sizes
  }

  private async purge(what: PurgeOpts): Promise<number> {
    return (await this.ask(() => this.manager.streams.purge(this.names.letters, what)))?.purged ?? 0
  }

  /** Undefined where the server says that there is no such message. */
  private async ask<Answer>(question: () => Promise<Answer | null>): Promise<Answer | undefined> {
    assertConnected(this.options.line)
    return present(question())
  }
}

/** How much each may keep, so that all together have no more than `most`: what some leave of their share, the others have. */
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
  const body = bodyOf(stored)
  return body === undefined ? undefined : decodeLetter(id, body)
}
