/**
 * What all sessions of one device share in this process: its identity as of now, its long-lived sessions, the last time the server gave
 * out for it, and when it was heard last. Plain fields, because every message touches them; what must be decided is decided by the
 * session actor, and over all processes by the device actor.
 */
import type { EntityId } from '../../model/entity-id.ts'
import type { ActorRef } from '../actor/actor.ts'
import type { PublishReceipt } from '../link/link.ts'
import type { DeviceIdentity } from './gateway.ts'
import { deviceOriginator } from './device-messages.ts'
import type { SessionEvent, SessionHandle } from './session-events.ts'

/**
 * How far a device's server times may run ahead of the clock, ms: a burst of so many uploads without a time is taken at once.
 * The first times after a start lie behind it, so that they cannot meet those of the run before, however that ended.
 */
export const MAX_AHEAD_MS = 250

/** Uploads that wait for a time to be given to them, in their order. */
export interface WaitingUploads {
  readonly isEmpty: boolean
  /** Publishes when there is a time for it, after all that waits already; refuses over the bound. */
  add(publish: () => void, receipt: PublishReceipt): void
  /** Refuses what waits. */
  close(): void
}

export const NO_SESSIONS: readonly SessionHandle[] = Object.freeze([])

export class DeviceRecord {
  identity: DeviceIdentity
  readonly originator: EntityId
  readonly actor: ActorRef<SessionEvent>
  /** The oldest first. */
  longLived: readonly SessionHandle[] = NO_SESSIONS
  /** Sessions that want to hear of shared attributes. */
  subscribed: Set<SessionHandle> | undefined
  /** They are to be told what changed since then, Unix ms; 0 for nothing. */
  missedSince = 0
  isReading = false
  /** Unix ms; 0 for never. */
  heardAt = 0
  /** Unix ms. */
  announcedAt = 0
  /** It waits to be announced that it was heard. */
  isTouched = false
  /** Its actor could not read what it needs: it is woken again when the device is announced. */
  isTroubled = false
  /** The gateway has let go of it: a session that still holds it asks for the present one. */
  isReleased = false
  /** Uploads that wait for a time; undefined as long as none ever had to. */
  paced: WaitingUploads | undefined
  private lastServerTime: number

  /** `notBefore`: no server time at or below it is given out, Unix ms. */
  constructor(identity: DeviceIdentity, actor: ActorRef<SessionEvent>, notBefore: number) {
    this.lastServerTime = notBefore
    this.identity = identity
    this.originator = deviceOriginator(identity)
    this.actor = actor
  }

  /** Whether it has sessions that the session actor knows. */
  get isAttended(): boolean {
    return this.longLived.length > 0 || this.subscribed !== undefined
  }

  /**
   * Whether a time can be given out now. Much further ahead than pacing lets it come it can only be after the clock was set
   * back: then times go on from where they were.
   */
  hasTime(now: number): boolean {
    const ahead = this.lastServerTime - now
    return ahead < MAX_AHEAD_MS || ahead > 2 * MAX_AHEAD_MS
  }

  /** The arrival time, or one more than the last one: points without a time never fall on each other. */
  serverTime(now: number): number {
    const ts = now > this.lastServerTime ? now : this.lastServerTime + 1
    this.lastServerTime = ts
    return ts
  }
}
