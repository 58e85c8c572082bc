/**
 * What all sessions of one device share in this process: its identity as of now, the last time the server gave out for it, and
 * when it was heard last. Plain fields, because every message touches them; what must be decided is decided by the device actor.
 */
import type { EntityId } from '../../model/entity-id.ts'
import type { ActorRef } from '../actor/actor.ts'
import type { DeviceIdentity } from './gateway.ts'
import type { DeviceEvent } from './device-actor.ts'
import { deviceOriginator } from './device-messages.ts'

export class DeviceRecord {
  identity: DeviceIdentity
  readonly originator: EntityId
  readonly actor: ActorRef<DeviceEvent>
  /** Sessions that the device actor knows: long-lived ones and those that wait for attributes. */
  openSessions = 0
  /** Unix ms; 0 while nothing is to be reported. */
  unreportedActivity = 0
  /** Unix ms of the last activity that the actor was told. */
  reportedActivity = 0
  /** The gateway has let go of it: a session that still holds it asks for the present one. */
  isReleased = false
  /** Its identity could not be read after a change: tried again at the next check. */
  isStale = false
  private lastServerTime = 0

  constructor(identity: DeviceIdentity, actor: ActorRef<DeviceEvent>) {
    this.identity = identity
    this.originator = deviceOriginator(identity)
    this.actor = actor
  }

  /** The arrival time, or one more than the last one: points without a time never fall on each other. */
  serverTime(now: number): number {
    const ts = now > this.lastServerTime ? now : this.lastServerTime + 1
    this.lastServerTime = ts
    return ts
  }
}
