/**
 * The change feed of a process in a cluster: listeners here, changes from everywhere. Each process tells all others what it wants to
 * hear; a publisher sends only that, a message a turn to each who wants some of it, numbered. Where a number is missing, a process went
 * without good-bye, or the bus was away, something may have been missed: `onGap` tells, and whoever remembers or shows reads again.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { InProcessChangeFeed } from '../subscriptions/change-feed.ts'
import type { Change, ChangeFeed, ChangeKind, ChangeListener, ChangeOf } from '../subscriptions/change.ts'
import type { ClusterBus } from './bus.ts'
import { changeText, remoteChange } from './change-text.ts'
import { parseFeedMessage, type FeedMessage, type NumberedMessage } from './feed-message.ts'
import { FeedPeer } from './feed-peer.ts'
import { Gaps } from './gaps.ts'
import { OthersInterests, OwnInterests } from './interests.ts'
import type { Membership } from './membership.ts'
import { Waiting } from './waiting.ts'

export interface ChangeFeedSettings {
  /** How often the others are told how many messages there were for them. */
  readonly pulseMs: number
  /** How long `settled` waits for a member that does not answer. */
  readonly settleWaitMs: number
  /** How long opening waits for a member that does not answer. */
  readonly openWaitMs: number
}

export const DEFAULT_CHANGE_FEED_SETTINGS: ChangeFeedSettings = Object.freeze({
  pulseMs: 500,
  settleWaitMs: 2000,
  openWaitMs: 3000,
})

export interface ClusterChangeFeedOptions {
  readonly bus: ClusterBus
  readonly membership: Membership
  /** Prefix of all subjects, as the membership's. */
  readonly cluster: string
  readonly clock: Clock
  /** Hears of a listener that threw and of a message that could not be read. */
  readonly report: (error: unknown) => void
  readonly settings?: Partial<ChangeFeedSettings>
}

export interface ChangeFeedFigures {
  /** Changes that went to other processes, and that came from them. */
  readonly sent: number
  readonly received: number
  /** Messages that the bus did not take. */
  readonly refused: number
  /** How often listeners were told that something may be missing. */
  readonly gaps: number
  /** How often `settled` waited in vain. */
  readonly unsettled: number
}

export interface ClusterChangeFeed extends ChangeFeed {
  figures(): ChangeFeedFigures
  /** Sends what waits, says good-bye. Idempotent. */
  close(): Promise<void>
}

/**
 * Resolves when it is known what every other member wants to hear, so that no change is published past a listener; a member that does
 * not answer in time is told of a gap when it does.
 */
export async function openClusterChangeFeed(options: ClusterChangeFeedOptions): Promise<ClusterChangeFeed> {
  const feed = new ConnectedChangeFeed(options)
  await feed.open()
  return feed
}

/** How long the loss of an interest can go unnoticed where its listener hears us otherwise: pulses tell it, and it asks. */
const UNNOTICED_MS = 2000
/** Members that are gone, and until when they were heard. */
const MAX_DEPARTED = 1000

class ConnectedChangeFeed implements ClusterChangeFeed {
  private readonly bus: ClusterBus
  private readonly membership: Membership
  private readonly prefix: string
  private readonly self: string
  private readonly clock: Clock
  private readonly report: (error: unknown) => void
  private readonly settings: ChangeFeedSettings
  private readonly local: InProcessChangeFeed
  private readonly own = new OwnInterests()
  private readonly others = new OthersInterests<FeedPeer>()
  private readonly peers = new Map<string, FeedPeer>()
  /** Up to when those that are gone were heard: they may come back. */
  private readonly departed = new Map<string, number>()
  private readonly gaps: Gaps
  private readonly waiting: Waiting
  private readonly stops: (() => void)[] = []
  private pulses: TimerHandle | undefined
  private lastSession = 0
  private isNew = true
  private isTurnAsked = false
  private closing: Promise<void> | undefined
  private readonly counts = { sent: 0, received: 0, refused: 0, unsettled: 0 }

  constructor(options: ClusterChangeFeedOptions) {
    this.bus = options.bus
    this.membership = options.membership
    this.prefix = `${options.cluster}.changes`
    this.self = options.membership.self.id
    this.clock = options.clock
    this.report = options.report
    this.settings = { ...DEFAULT_CHANGE_FEED_SETTINGS, ...options.settings }
    this.local = new InProcessChangeFeed(options.report)
    this.gaps = new Gaps(options.clock, options.report)
    this.waiting = new Waiting(options.clock)
  }

  async open(): Promise<void> {
    this.stops.push(
      this.bus.subscribe(`${this.prefix}.${this.self}`, (body) => this.hear(body)),
      this.bus.onConnection((connected) => this.connectionChanged(connected)),
      this.membership.onChange(() => this.meet()),
    )
    try {
      await this.bus.flush()
    } catch (error) {
      for (const stop of this.stops.splice(0)) stop()
      throw error
    }
    this.meet()
    for (const peer of this.peers.values()) this.askAgain(peer)
    this.armPulse()
    await this.waiting.until(() => [...this.peers.values()].every(({ isHeard }) => isHeard), this.settings.openWaitMs)
    // The answers to what they want go ahead of the first change.
    this.flush()
    this.isNew = false
  }

  publish(change: Change): void {
    this.local.publish(change)
    if (!this.others.isWanted(change.kind, change.entity.id)) return
    const text = changeText(change)
    this.others.forEach(change.kind, change.entity.id, (peer) => {
      this.counts.sent++
      peer.add(text, this.isNew)
    })
    this.askTurn()
  }

  listenToAll<Kind extends ChangeKind>(kinds: readonly Kind[], listener: (change: ChangeOf<Kind>) => void): () => void {
    const stop = this.local.listenToAll(kinds, listener)
    this.own.addKinds(kinds)
    return this.listening(stop, () => this.own.removeKinds(kinds))
  }

  listen(entity: EntityId, listener: ChangeListener): () => void {
    const stop = this.local.listen(entity, listener)
    this.own.addEntity(entity.id)
    return this.listening(stop, () => this.own.removeEntity(entity.id))
  }

  private listening(stop: () => void, removeInterest: () => void): () => void {
    this.askTurn()
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      stop()
      removeInterest()
      this.askTurn()
    }
  }

  settled(): Promise<void> {
    const version = this.own.wantedVersion
    const since = this.clock.now()
    const isSettled = (): boolean => [...this.peers.values()].every(({ heeded }) => heeded >= version)
    return this.waiting.until(isSettled, this.settings.settleWaitMs).then((inTime) => {
      if (inTime) return
      this.counts.unsettled++
      for (const peer of this.peers.values()) {
        if (peer.heeded >= version) continue
        peer.lateVersion = Math.max(peer.lateVersion, version)
        peer.unheededSince = Math.min(peer.unheededSince, since)
      }
    })
  }

  onGap(listener: (since: number) => void): () => void {
    return this.gaps.listen(listener)
  }

  hasListeners(entity: EntityId, kind: ChangeKind): boolean {
    return this.local.hasListeners(entity, kind) || this.others.isWanted(kind, entity.id)
  }

  figures(): ChangeFeedFigures {
    return { ...this.counts, gaps: this.gaps.told }
  }

  close(): Promise<void> {
    return (this.closing ??= this.leave())
  }

  private async leave(): Promise<void> {
    this.flush()
    for (const peer of this.peers.values()) peer.sign('bye')
    this.pulses?.cancel()
    for (const stop of this.stops.splice(0)) stop()
    this.waiting.close()
    this.gaps.close()
    // Where the bus is away the others find a gap.
    await this.bus.flush().catch(() => undefined)
  }

  /** Brings the peers in line with the members. */
  private meet(): void {
    if (this.closing !== undefined) return
    const present = new Map(this.membership.members().map(({ id, startedAt }) => [id, startedAt]))
    present.delete(this.self)
    for (const peer of this.peers.values()) if (!present.has(peer.id)) this.forget(peer)
    for (const [id, startedAt] of present) {
      if (this.peers.has(id)) continue
      const soundAt = this.departed.get(id) ?? startedAt
      this.departed.delete(id)
      const peer = new FeedPeer(id, this.self, (text) => this.say(id, text), soundAt)
      this.peers.set(id, peer)
      this.begin(peer)
    }
    if (this.own.hasNews) this.askTurn()
    this.waiting.wake()
  }

  private forget(peer: FeedPeer): void {
    this.peers.delete(peer.id)
    this.others.forget(peer)
    if (peer.isLeaving) return
    // Its last changes may be committed and told to nobody.
    this.gap(peer.soundAt)
    this.departed.set(peer.id, peer.soundAt)
    if (this.departed.size <= MAX_DEPARTED) return
    for (const oldest of this.departed.keys()) {
      this.departed.delete(oldest)
      return
    }
  }

  private begin(peer: FeedPeer): void {
    peer.unheededSince = Math.min(peer.unheededSince, peer.soundAt, this.clock.now() - UNNOTICED_MS)
    peer.begin(++this.lastSession, this.own.all(), this.isNew)
  }

  private askAgain(peer: FeedPeer): void {
    const now = this.clock.monotonic()
    if (now - peer.askedAt < this.settings.pulseMs / 2) return
    peer.askedAt = now
    peer.sign('again')
  }

  private say(id: string, text: string): boolean {
    const isTaken = this.bus.publish(`${this.prefix}.${id}`, text)
    if (!isTaken) this.counts.refused++
    return isTaken
  }

  private hear(body: string): void {
    if (this.closing !== undefined) return
    let message: FeedMessage
    try {
      message = parseFeedMessage(body)
    } catch (error) {
      return this.report(error)
    }
    // Of who is no member (yet, or any more) nothing is missed: when it is one, a session begins.
    const peer = this.peers.get(message.from)
    if (peer === undefined) return
    if ('sign' in message) {
      if (message.sign === 'again') this.begin(peer)
      else peer.isLeaving = true
    } else if ('upTo' in message) {
      if (peer.misses(message)) this.lost(peer)
      else peer.soundAt = this.clock.now()
    } else this.hearNumbered(peer, message)
  }

  private hearNumbered(peer: FeedPeer, message: NumberedMessage): void {
    const reception = peer.receive(message)
    if (reception === 'ignored') return
    if (reception === 'lost') this.lost(peer)
    else this.heed(peer, message, reception === 'new session')
    for (const change of message.changes ?? []) this.publishRemote(peer, change)
  }

  private heed(peer: FeedPeer, message: NumberedMessage, isFirst: boolean): void {
    const { interests, heeds, isNew } = message
    if (isFirst && isNew !== true) this.gap(peer.soundAt)
    peer.soundAt = this.clock.now()
    if (interests !== undefined) {
      this.others.apply(peer, interests)
      if (interests.version !== undefined) {
        peer.answerVersion(interests.version)
        this.askTurn()
      }
    }
    if (heeds !== undefined) this.heeded(peer, heeds, isNew === true)
    this.waiting.wake()
  }

  /** It heeds our interests from here on; what it published between losing them, or waiting in vain, and now was not sent to us. */
  private heeded(peer: FeedPeer, version: number, isNew: boolean): void {
    peer.heeded = Math.max(peer.heeded, version)
    const wasLate = peer.lateVersion !== -1 && version >= peer.lateVersion
    if ((peer.awaitsFirstAnswer && !isNew) || wasLate) this.gap(peer.unheededSince)
    peer.awaitsFirstAnswer = false
    if (wasLate) peer.lateVersion = -1
    if (peer.lateVersion === -1) peer.unheededSince = Infinity
  }

  private lost(peer: FeedPeer): void {
    this.gap(peer.soundAt)
    this.askAgain(peer)
  }

  private publishRemote(peer: FeedPeer, parsed: unknown): void {
    this.counts.received++
    let change: Change
    try {
      change = remoteChange(parsed)
    } catch (error) {
      // Of another version's making: whoever remembers or shows what it speaks of reads again.
      this.gap(peer.soundAt)
      return this.report(error)
    }
    this.local.publish(change)
  }

  private connectionChanged(connected: boolean): void {
    if (!connected) return
    this.gap(Math.min(this.clock.now(), ...[...this.peers.values()].map(({ soundAt }) => soundAt)))
    this.pulse()
  }

  private armPulse(): void {
    this.pulses = this.clock.after(this.settings.pulseMs, () => {
      if (this.closing !== undefined) return
      this.pulse()
      this.armPulse()
    })
  }

  private pulse(): void {
    for (const peer of this.peers.values()) peer.pulse()
  }

  private askTurn(): void {
    if (this.isTurnAsked || this.peers.size === 0 || this.closing !== undefined) return
    this.isTurnAsked = true
    this.clock.soon(() => {
      this.isTurnAsked = false
      if (this.closing === undefined) this.flush()
    })
  }

  private flush(): void {
    const news = this.own.hasNews ? this.own.takeNews() : []
    for (const peer of this.peers.values()) {
      if (news.length > 0) peer.announce(news, this.isNew)
      peer.flush(this.isNew)
    }
  }

  /** While the feed opens nobody has read anything yet. */
  private gap(since: number): void {
    if (!this.isNew) this.gaps.tell(since)
  }
}
