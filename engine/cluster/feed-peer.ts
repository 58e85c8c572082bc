/** One other process, as the change feed sees it: the session to it, and what came of its session to us. */
import type { Interests, NumberedMessage, Pulse } from './feed-message.ts'
import { numberedText } from './feed-message.ts'

/** Text of changes that one message carries, in characters. */
const MAX_CHARACTERS = 256 * 1024

/** Says a text to the peer; false where it is lost. */
export type Say = (text: string) => boolean

export type Reception = 'in order' | 'new session' | 'lost' | 'ignored'

export class FeedPeer {
  readonly id: string
  /** The newest version of our interests that it heeds; -1 before any. */
  heeded = -1
  /** Up to when it is known that nothing of it is missing, Unix ms. */
  soundAt: number
  /** Since when it may not have heeded all that we want, Unix ms. */
  unheededSince = Infinity
  /** It said good-bye: nothing of it will be missed. */
  isLeaving = false
  /** Somebody went on without waiting for this version to be heeded; -1 for nobody. */
  lateVersion = -1
  /** The first answer of a session may come after changes that we should have heard. */
  awaitsFirstAnswer = false
  /** When it was last asked to begin again, monotonic ms. */
  askedAt = -Infinity
  private readonly self: string
  private readonly say: Say
  private session = 0
  private number = 0
  private theirSession = 0
  private received = 0
  private isInOrder = false
  private changes: string[] = []
  private characters = 0
  private answer: number | undefined

  constructor(id: string, self: string, say: Say, soundAt: number) {
    this.id = id
    this.soundAt = soundAt
    this.self = self
    this.say = say
  }

  /** Whether all that it told so far has arrived, its interests first. */
  get isHeard(): boolean {
    return this.isInOrder
  }

  /** Begins a session: what was under way before is void, and all that we want is told first. */
  begin(session: number, interests: readonly Interests[], isNew: boolean): void {
    this.session = session
    this.number = 0
    this.heeded = -1
    this.awaitsFirstAnswer = true
    this.announce(interests, isNew)
  }

  announce(interests: readonly Interests[], isNew: boolean): void {
    this.flush(isNew)
    for (const part of interests) this.sayNumbered({ interests: part }, [], isNew)
  }

  /** Joins what leaves with this turn. */
  add(change: string, isNew: boolean): void {
    this.changes.push(change)
    this.characters += change.length
    if (this.characters >= MAX_CHARACTERS) this.flush(isNew)
  }

  /** Its interests up to this version are heeded from here on: it is told with this turn. */
  answerVersion(version: number): void {
    this.answer = version
  }

  flush(isNew: boolean): void {
    if (this.changes.length === 0 && this.answer === undefined) return
    const { changes, answer } = this
    this.changes = []
    this.characters = 0
    this.answer = undefined
    this.sayNumbered(answer === undefined ? {} : { heeds: answer }, changes, isNew)
  }

  pulse(): void {
    const pulse: Pulse = { from: this.self, session: this.session, upTo: this.number }
    this.say(JSON.stringify(pulse))
  }

  sign(sign: 'again' | 'bye'): void {
    this.say(JSON.stringify({ from: this.self, sign }))
  }

  /** What is refused keeps its number: the peer finds it missing. */
  private sayNumbered(parts: Pick<NumberedMessage, 'interests' | 'heeds'>, changes: string[], isNew: boolean): void {
    const { self: from, session } = this
    this.number++
    this.say(numberedText({ from, session, number: this.number, ...(isNew ? { isNew } : {}), ...parts }, changes))
  }

  receive({ session, number }: Pick<NumberedMessage, 'session' | 'number'>): Reception {
    if (session < this.theirSession) return 'ignored'
    if (session > this.theirSession && number === 1) {
      this.theirSession = session
      this.received = 1
      this.isInOrder = true
      return 'new session'
    }
    if (session > this.theirSession || number !== this.received + 1) {
      this.isInOrder = false
      return 'lost'
    }
    this.received = number
    return this.isInOrder ? 'in order' : 'lost'
  }

  /** True where something is missing. */
  misses({ session, upTo }: Pulse): boolean {
    if (session < this.theirSession) return false
    if (session === this.theirSession && this.isInOrder && this.received === upTo) return false
    this.isInOrder = false
    return true
  }
}
