/**
 * A device's session where its socket is: the handle that a transport has. Everything goes through the device's mailbox, so that uploads,
 * requests, subscriptions and what the platform says have one order.
 */
import { isMillraceError } from '../../model/errors.ts'
import type { Entry } from '../../model/value.ts'
import type { PublishReceipt } from '../link/link.ts'
import type { CallRequest, Delivery, Listening } from './calls/call.ts'
import type { CalledSession, SessionCalls } from './calls/session-calls.ts'
import { CLOCK_DIFFERENCE_MS } from './device-changes.ts'
import type { DeviceRecord } from './device-record.ts'
import { DeviceErrors } from './errors.ts'
import type {
  AttributeAnswer,
  AttributeRequest,
  DeviceIdentity,
  DeviceSession,
  DeviceSessionListener,
  ClaimOffer,
  ServerCall,
  SessionEnd,
  UploadGroup,
  UploadedScope,
} from './gateway.ts'
import type { SessionEvent, SessionHandle } from './session-events.ts'
import type { SessionHost } from './session-host.ts'

/** A device has one offer that counts: more at once are a flood. */
const MAX_OPEN_OFFERS = 10

export class LocalDeviceSession implements DeviceSession, SessionHandle, CalledSession {
  readonly id: number
  readonly openedAt: number
  /** Long-lived: counts for connect events and for the bound of sessions a device. */
  private readonly isLongLived: boolean
  private readonly host: SessionHost
  private readonly listener: DeviceSessionListener
  private record: DeviceRecord
  private isSubscribed = false
  /** For calls, without a connection. */
  private isWaiting = false
  private hasEnded = false
  private openOffers = 0
  /** The gateway that it came through. */
  private readonly behind: string | undefined

  constructor(
    host: SessionHost,
    record: DeviceRecord,
    listener: DeviceSessionListener,
    isLongLived: boolean,
    behind?: string,
  ) {
    this.behind = behind
    this.host = host
    this.record = record
    this.listener = listener
    this.isLongLived = isLongLived
    this.id = host.nextSessionId()
    this.openedAt = host.clock.now()
    if (isLongLived) this.register({ kind: 'opened', session: this })
  }

  get device(): DeviceIdentity {
    return this.record.identity
  }

  postTelemetry(groups: readonly UploadGroup[], receipt: PublishReceipt): void {
    if (this.hasEnded) return receipt.refused(DeviceErrors.SESSION_ENDED())
    const record = this.live()
    if (this.isLimited && this.isOver(pointsOf(groups))) return receipt.refused(DeviceErrors.RATE_LIMIT())
    const at = this.host.heard(record)
    if (!record.actor.tell({ kind: 'telemetry', session: this, at, groups, receipt })) this.refuse(receipt)
  }

  postAttributes(entries: readonly Entry[], receipt: PublishReceipt, scope?: UploadedScope): void {
    if (this.hasEnded) return receipt.refused(DeviceErrors.SESSION_ENDED())
    const record = this.live()
    if (this.isLimited && this.isOver(entries.length)) return receipt.refused(DeviceErrors.RATE_LIMIT())
    const at = this.host.heard(record)
    if (!record.actor.tell({ kind: 'attributes', session: this, at, entries, receipt, scope })) this.refuse(receipt)
  }

  requestAttributes(request: AttributeRequest): Promise<AttributeAnswer> {
    if (this.hasEnded) return Promise.reject(DeviceErrors.SESSION_ENDED())
    const record = this.live()
    if (this.isLimited && this.isOver(0)) return Promise.reject(DeviceErrors.RATE_LIMIT())
    this.host.touched(record)
    return new Promise((resolve, reject) => {
      if (!record.actor.tell({ kind: 'request', session: this, request, answer: resolve })) {
        reject(DeviceErrors.MAILBOX_FULL())
      }
    })
  }

  subscribeToSharedAttributes(since?: number): void {
    if (this.hasEnded || this.isSubscribed) return
    this.isSubscribed = true
    this.register({ kind: 'subscribed', session: this })
    if (since === undefined) return
    this.host.tellSurely(this.record, { kind: 'attributes-missed', since: since - CLOCK_DIFFERENCE_MS })
  }

  unsubscribeFromSharedAttributes(): void {
    if (this.hasEnded || !this.isSubscribed) return
    this.isSubscribed = false
    this.record.actor.tell({ kind: 'unsubscribed', session: this })
  }

  get deviceId(): string {
    return this.record.originator.id
  }

  subscribeToCalls(take: Listening): void {
    if (this.hasEnded) return
    if (this.isLongLived || this.isWaiting) this.host.touched(this.live())
    else {
      // Its actor knows of no other reason to end it.
      this.isWaiting = true
      this.register({ kind: 'waits', session: this })
    }
    this.host.calls?.listen(this, take)
  }

  unsubscribeFromCalls(): void {
    this.host.calls?.stop(this)
    if (this.hasEnded || !this.isWaiting) return
    this.isWaiting = false
    this.record.actor.tell({ kind: 'waits-no-more', session: this })
  }

  called(request: CallRequest): void {
    if (!this.hasEnded) this.listener.called?.(request)
  }

  callDelivered(id: number, delivery: Delivery): void {
    this.host.calls?.delivered(this.deviceId, id, delivery)
  }

  answerCall(id: number, body: string): void {
    if (this.hasEnded) return
    this.host.touched(this.live())
    this.host.calls?.answered(this.deviceId, id, body)
  }

  async callServer(call: ServerCall, receipt: PublishReceipt): Promise<string> {
    const { calls } = this.host
    if (this.hasEnded || calls === undefined) {
      const error = DeviceErrors.SESSION_ENDED()
      receipt.refused(error)
      throw error
    }
    if (this.isLimited && this.isOver(0)) {
      const error = DeviceErrors.RATE_LIMIT()
      receipt.refused(error)
      throw error
    }
    const record = this.live()
    const { replyId, reply } = expectReply(calls, this.deviceId, receipt)
    await new Promise<void>((resolve, reject) => {
      const origin = { serviceId: calls.self, sessionId: replyId, requestId: String(call.requestId) }
      this.host.uploads.serverCall(record, this.host.heard(record), call.data, origin, {
        stored() {
          receipt.stored()
          resolve()
        },
        refused(error) {
          receipt.refused(error)
          reject(error)
        },
      })
    })
    return reply
  }

  offerForClaim(offer: ClaimOffer, receipt: PublishReceipt): void {
    const { onboarding } = this.host
    if (this.hasEnded || onboarding === undefined) return receipt.refused(DeviceErrors.SESSION_ENDED())
    if (this.isLimited && this.isOver(0)) return receipt.refused(DeviceErrors.RATE_LIMIT())
    if (this.openOffers >= MAX_OPEN_OFFERS) return receipt.refused(DeviceErrors.TOO_MANY_OFFERS())
    const record = this.live()
    this.host.touched(record)
    this.openOffers++
    onboarding
      .offerForClaim(record.identity, offer)
      .finally(() => this.openOffers--)
      .then(
        () => receipt.stored(),
        (error: unknown) => receipt.refused(isMillraceError(error) ? error : DeviceErrors.OFFER_FAILED({}, error)),
      )
  }

  touch(): void {
    if (!this.hasEnded) this.host.touched(this.live())
  }

  close(): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.host.calls?.stop(this)
    if (this.isLongLived || this.isSubscribed || this.isWaiting)
      this.host.tellSurely(this.record, { kind: 'closed', session: this })
  }

  /** On the session actor's turn. */
  refreshed(): void {
    if (!this.hasEnded) this.listener.refreshed?.()
  }

  /** On the session actor's turn. */
  end(reason: SessionEnd): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.host.calls?.stop(this)
    this.listener.closed(reason)
  }

  /** On the session actor's turn. */
  tell(update: Parameters<DeviceSessionListener['sharedAttributesChanged']>[0]): void {
    if (!this.hasEnded) this.listener.sharedAttributesChanged(update)
  }

  private get isLimited(): boolean {
    const { rates, clock } = this.host
    return rates?.isLimited(this.device.tenantId, clock.now()) === true
  }

  /** Counts a request with so many values. */
  private isOver(points: number): boolean {
    const { rates, clock } = this.host
    return rates?.admit(this.device, this.behind, points, clock.monotonic()) === false
  }

  private refuse(receipt: PublishReceipt): void {
    receipt.refused(DeviceErrors.MAILBOX_FULL())
  }

  private register(event: SessionEvent): void {
    this.host.touched(this.live())
    // An actor that takes no more (closing, or flooded) would never tell this session anything.
    if (!this.record.actor.tell(event)) this.host.clock.soon(() => this.end('SHUTDOWN'))
  }

  private live(): DeviceRecord {
    if (this.record.isReleased) this.record = this.host.recordOf(this.record.identity)
    return this.record
  }
}

function pointsOf(groups: readonly UploadGroup[]): number {
  return groups.reduce((sum, { entries }) => sum + entries.length, 0)
}

function expectReply(calls: SessionCalls, deviceId: string, receipt: PublishReceipt) {
  try {
    return calls.expectReply(deviceId)
  } catch (error) {
    if (isMillraceError(error)) receipt.refused(error)
    throw error
  }
}
