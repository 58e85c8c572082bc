/**
 * What all sessions of one device share in this process: its identity as of now, the last time the server gave out for it, and
 * when it was heard last. Plain fields, because every message touches them; what must be decided is decided by the device actor.
 */
import type { EntityId } from '../../model/entity-id.ts'
import type { ActorRef } from '../actor/actor.ts'
import type { DeviceIdentity } from './gateway.ts'
import type { DeviceEvent } from './device-actor.ts'
import { deviceOriginator } from './device-messages.ts'
import type { PacedUploads } from './paced-uploads.ts'

/**
 * How far a device's server times may run ahead of the clock, ms: a burst of so many uploads without a time is taken at once.
 * The first times after a start lie behind it, so that they cannot meet those of the run before, however that ended.
 */
export const MAX_AHEAD_MS = 250

export class DeviceRecord {
  identity: DeviceIdentity
  readonly originator: EntityId
  readonly actor: ActorRef<DeviceEvent>
  /** Sessions that the device actor knows: long-lived ones and those that wait for attributes. */
  openSessions = 0
  /** Unix ms; 0 while nothing is to be reported. */
  unreportedActivity = 0
  /** The actor has it as active: it is no news that the device was heard. */
  isActive = false
  /** The gateway has let go of it: a session that still holds it asks for the present one. */
  isReleased = false
  /** Uploads that wait for a time; undefined as long as none ever had to. */
  paced: PacedUploads | undefined
  private lastServerTime: number

  /** `notBefore`: no server time at or below it is given out, Unix ms. */
  constructor(identity: DeviceIdentity, actor: ActorRef<DeviceEvent>, notBefore: number) {
    this.lastServerTime = notBefore
    this.identity = identity
    this.originator = deviceOriginator(identity)
    this.actor = actor
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
