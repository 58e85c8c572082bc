/**
 * The session actor: one per device in each process that holds sessions of it. What the device sends, asks and subscribes, and what the
 * platform says to it, goes through its mailbox and so has one order. It ends the oldest session beyond the bound; over all
 * processes the device's owner does. Nothing in it waits: an upload that is being stored holds none behind it.
 */
import type { Attribute } from '../../model/value.ts'
import type { ActorRef, Behaviour } from '../actor/actor.ts'
import type { DeviceRecord } from './device-record.ts'
import { NO_SESSIONS } from './device-record.ts'
import { DeviceErrors } from './errors.ts'
import type { AttributeAnswer, AttributeRequest, SessionEnd, SharedAttributesUpdate } from './gateway.ts'
import type { SessionEvent, SessionHandle } from './session-events.ts'
import type { Uploads } from './uploads.ts'

/** What a session actor sees of the gateway. */
export interface SessionActorHost {
  readonly maxSessionsPerDevice: number
  readonly uploads: Uploads
  answerRequest(record: DeviceRecord, request: AttributeRequest): Promise<AttributeAnswer>
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
  private readonly self: Pick<ActorRef<SessionEvent>, 'tell'>

  constructor(host: SessionActorHost, deviceId: string, self: Pick<ActorRef<SessionEvent>, 'tell'>) {
    this.host = host
    this.deviceId = deviceId
    this.self = self
  }

  receive(batch: readonly SessionEvent[]): void {
    const record = this.host.recordAt(this.deviceId)
    if (record === undefined) return refuseAll(batch)
    const before = record.longLived
    let failure: { readonly error: unknown } | undefined
    for (const event of batch) {
      try {
        this.handle(record, event)
      } catch (error) {
        failure ??= { error }
        fail(record, event)
      }
    }
    if (before !== record.longLived) this.host.sessionsChanged(record)
    // The supervisor reports it and makes the behaviour anew.
    if (failure !== undefined) throw failure.error
  }

  private handle(record: DeviceRecord, event: SessionEvent): void {
    switch (event.kind) {
      case 'telemetry':
        return this.host.uploads.telemetry(record, event.at, event.groups, event.receipt)
      case 'attributes':
        return this.host.uploads.attributes(record, event.at, event.entries, event.receipt, event.scope)
      case 'request':
        return event.answer(this.host.answerRequest(record, event.request))
      case 'opened':
        return this.opened(record, event.session)
      case 'closed':
        return left(record, event.session)
      case 'subscribed':
        ;(record.subscribed ??= new Set()).add(event.session)
        return
      case 'unsubscribed':
        return unsubscribe(record, event.session)
      case 'waits':
        ;(record.waiting ??= new Set()).add(event.session)
        return
      case 'waits-no-more':
        return waitsNoMore(record, event.session)
      case 'shared-attributes':
        return publish(record, event.update)
      case 'refreshed':
        for (const session of record.longLived) session.refreshed()
        return
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
  private opened(record: DeviceRecord, session: SessionHandle): void {
    // A literal: what is spread has room for sixteen more.
    const sessions = record.longLived.length === 0 ? [session] : [...record.longLived, session]
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
      (attributes) => void this.self.tell({ kind: 'attributes-read', attributes }),
      () => void this.self.tell({ kind: 'attributes-read', attributes: undefined }),
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

/** Its session's state is unknown now: the connection ends, and the device begins anew. */
function fail(record: DeviceRecord, event: SessionEvent): void {
  if ('receipt' in event) event.receipt.refused(DeviceErrors.SESSION_FAILED())
  if (!('session' in event)) return
  left(record, event.session)
  event.session.end('FAILED')
}

/** The device was released between the words and the turn. */
function refuseAll(batch: readonly SessionEvent[]): void {
  for (const event of batch) {
    if ('receipt' in event) event.receipt.refused(DeviceErrors.CLOSED())
    else if (event.kind === 'request') event.answer(Promise.reject(DeviceErrors.CLOSED()))
    else if (event.kind === 'opened' || event.kind === 'subscribed' || event.kind === 'waits')
      event.session.end('SHUTDOWN')
  }
}

function left(record: DeviceRecord, session: SessionHandle): void {
  unsubscribe(record, session)
  waitsNoMore(record, session)
  if (!record.longLived.includes(session)) return
  const others = record.longLived.filter((other) => other !== session)
  record.longLived = others.length === 0 ? NO_SESSIONS : others
}

function unsubscribe(record: DeviceRecord, session: SessionHandle): void {
  record.subscribed?.delete(session)
  if (record.subscribed?.size === 0) record.subscribed = undefined
}

function waitsNoMore(record: DeviceRecord, session: SessionHandle): void {
  record.waiting?.delete(session)
  if (record.waiting?.size === 0) record.waiting = undefined
}

function end(record: DeviceRecord, reason: SessionEnd, sessionId: number | undefined): void {
  for (const session of new Set([...record.longLived, ...(record.subscribed ?? []), ...(record.waiting ?? [])])) {
    if (sessionId !== undefined && session.id !== sessionId) continue
    left(record, session)
    session.end(reason)
  }
}

/** One that throws is ended, and harms no other; the first error is thrown at the end. */
function publish(record: DeviceRecord, update: SharedAttributesUpdate): void {
  let failure: { readonly error: unknown } | undefined
  for (const session of record.subscribed ?? []) {
    try {
      session.tell(update)
    } catch (error) {
      failure ??= { error }
      left(record, session)
      session.end('FAILED')
    }
  }
  if (failure !== undefined) throw failure.error
}
