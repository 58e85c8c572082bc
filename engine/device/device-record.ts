/**
 * What all sessions of one device share in this process: its identity as of now, its long-lived sessions, and when it was heard last. Plain fields, because every message touches them; what must be decided is decided by the
 * session actor, and over all processes by the device actor.
 */
import type { EntityId } from '../../model/entity-id.ts'
import type { ActorRef } from '../actor/actor.ts'
import type { DeviceIdentity } from './gateway.ts'
import { deviceOriginator } from './device-messages.ts'
import type { SessionEvent, SessionHandle } from './session-events.ts'

export const NO_SESSIONS: readonly SessionHandle[] = Object.freeze([])

export class DeviceRecord {
  identity: DeviceIdentity
  readonly originator: EntityId
  readonly actor: ActorRef<SessionEvent>
  /** The oldest first. */
  longLived: readonly SessionHandle[] = NO_SESSIONS
  /** Sessions that want to hear of shared attributes. */
  subscribed: Set<SessionHandle> | undefined
  /** Those without a connection that wait for calls. */
  waiting: Set<SessionHandle> | undefined
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

  constructor(identity: DeviceIdentity, actor: ActorRef<SessionEvent>) {
    this.identity = identity
    this.originator = deviceOriginator(identity)
    this.actor = actor
  }

  /** Whether it has sessions that the session actor knows. */
  get isAttended(): boolean {
    return this.longLived.length > 0 || this.subscribed !== undefined || this.waiting !== undefined
  }
}
