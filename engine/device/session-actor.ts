/**
 * The session actor: one per device in each process that holds sessions of it. It knows them, tells them what is for the device, and ends
 * the oldest beyond the bound; over all processes the device's owner does.
 */
import type { Attribute } from '../../model/value.ts'
import type { Behaviour } from '../actor/actor.ts'
import type { DeviceRecord } from './device-record.ts'
import { NO_SESSIONS } from './device-record.ts'
import type { LocalDeviceSession } from './device-session.ts'
import type { SessionEnd, SharedAttributesUpdate } from './gateway.ts'

export type SessionEvent =
  | { readonly kind: 'opened' | 'closed' | 'subscribed' | 'unsubscribed'; readonly session: LocalDeviceSession }
  | { readonly kind: 'shared-attributes'; readonly update: SharedAttributesUpdate }
  /** Changes of shared attributes since then (Unix ms) may not have been told. */
  | { readonly kind: 'attributes-missed'; readonly since: number }
  | { readonly kind: 'attributes-read'; readonly attributes: readonly Attribute[] | undefined }
  /** What could not be read is read again. */
  | { readonly kind: 'retry' }
  /** The platform ends every session of the device here; only the one with this id where it is given. */
  | { readonly kind: 'end'; readonly reason: SessionEnd; readonly sessionId?: number }

/** What a session actor sees of the gateway. */
export interface SessionActorHost {
  readonly maxSessionsPerDevice: number
  recordAt(deviceId: string): DeviceRecord | undefined
  readShared(deviceId: string): Promise<readonly Attribute[]>
  readFailed(): void
  /** The long-lived sessions are others. */
  sessionsChanged(record: DeviceRecord): void
}

/** Keeps nothing itself: what it knows is in the record, so that an idle actor costs nothing. */
export class SessionActor implements Behaviour<SessionEvent> {
  private readonly host: SessionActorHost
  private readonly deviceId: string
  private readonly tell: (event: SessionEvent) => void

  constructor(host: SessionActorHost, deviceId: string, tell: (event: SessionEvent) => void) {
    this.host = host
    this.deviceId = deviceId
    this.tell = tell
  }

  receive(batch: readonly SessionEvent[]): void {
    const record = this.host.recordAt(this.deviceId)
    if (record === undefined) return
    const before = record.longLived
    for (const event of batch) this.handle(record, event)
    if (before !== record.longLived) this.host.sessionsChanged(record)
  }

  private handle(record: DeviceRecord, event: SessionEvent): void {
    switch (event.kind) {
      case 'opened':
        return this.opened(record, event.session)
      case 'closed':
        return left(record, event.session)
      case 'subscribed':
        ;(record.subscribed ??= new Set()).add(event.session)
        return
      case 'unsubscribed':
        return unsubscribe(record, event.session)
      case 'shared-attributes':
        return publish(record, event.update)
      case 'attributes-missed':
        if (record.subscribed === undefined) return
        record.missedSince = record.missedSince === 0 ? event.since : Math.min(record.missedSince, event.since)
        return this.readMissed(record)
      case 'attributes-read':
        return this.missedRead(record, event.attributes)
      case 'retry':
        return this.readMissed(record)
      case 'end':
        return end(record, event.reason, event.sessionId)
    }
  }

  /** A new session evicts the oldest beyond the bound. */
  private opened(record: DeviceRecord, session: LocalDeviceSession): void {
    const sessions = [...record.longLived, session]
    const evicted = sessions.splice(0, Math.max(0, sessions.length - this.host.maxSessionsPerDevice))
    record.longLived = sessions
    for (const old of evicted) {
      unsubscribe(record, old)
      old.end('TAKEN_OVER')
    }
  }

  /** Beside the mailbox: what the device sends does not wait for it. */
  private readMissed(record: DeviceRecord): void {
    if (record.missedSince === 0 || record.isReading) return
    record.isReading = true
    this.host.readShared(this.deviceId).then(
      (attributes) => this.tell({ kind: 'attributes-read', attributes }),
      () => this.tell({ kind: 'attributes-read', attributes: undefined }),
    )
  }

  /** Once more what may have been told already: a device that has a value is not harmed by it. What was deleted is not known any more. */
  private missedRead(record: DeviceRecord, attributes: readonly Attribute[] | undefined): void {
    record.isReading = false
    record.isTroubled = attributes === undefined
    if (attributes === undefined) return this.host.readFailed()
    const since = record.missedSince
    record.missedSince = 0
    const entries = attributes.filter(({ lastUpdateTs }) => lastUpdateTs >= since)
    if (entries.length > 0) publish(record, { kind: 'updated', entries })
  }
}

function left(record: DeviceRecord, session: LocalDeviceSession): void {
  unsubscribe(record, session)
  if (!record.longLived.includes(session)) return
  const others = record.longLived.filter((other) => other !== session)
  record.longLived = others.length === 0 ? NO_SESSIONS : others
}

function unsubscribe(record: DeviceRecord, session: LocalDeviceSession): void {
  record.subscribed?.delete(session)
  if (record.subscribed?.size === 0) record.subscribed = undefined
}

function end(record: DeviceRecord, reason: SessionEnd, sessionId: number | undefined): void {
  for (const session of new Set([...record.longLived, ...(record.subscribed ?? [])])) {
    if (sessionId !== undefined && session.id !== sessionId) continue
    left(record, session)
    session.end(reason)
  }
}

function publish(record: DeviceRecord, update: SharedAttributesUpdate): void {
  for (const session of record.subscribed ?? []) session.tell(update)
}
