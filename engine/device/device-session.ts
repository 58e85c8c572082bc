/** A device's session where its socket is: makes messages of what the device sends, and hands them to the link at once. */
import type { Entry } from '../../model/value.ts'
import type { MillraceError } from '../../model/errors.ts'
import type { PublishReceipt } from '../link/link.ts'
import { DeviceErrors } from './errors.ts'
import { attributesMessage, telemetryMessage } from './device-messages.ts'
import type { DeviceRecord } from './device-record.ts'
import { PacedUploads } from './paced-uploads.ts'
import type { AnnouncedSession } from './announcement.ts'
import type { SessionHost } from './session-host.ts'
import type {
  AttributeAnswer,
  AttributeRequest,
  DeviceIdentity,
  DeviceSession,
  DeviceSessionListener,
  SessionEnd,
  UploadGroup,
} from './gateway.ts'

export class LocalDeviceSession implements DeviceSession, AnnouncedSession {
  /** Unique in this process. */
  readonly id: number
  /** Unix ms. */
  readonly openedAt: number
  /** Long-lived: counts for connect events and for the bound of sessions a device. */
  readonly isLongLived: boolean
  private readonly host: SessionHost
  private readonly listener: DeviceSessionListener
  private record: DeviceRecord
  private isSubscribed = false
  private hasEnded = false

  constructor(host: SessionHost, record: DeviceRecord, listener: DeviceSessionListener, isLongLived: boolean) {
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
    const now = this.host.heard(record)
    if (record.paced?.isEmpty === false || (!record.hasTime(now) && groups.some((group) => group.ts === undefined))) {
      record.paced ??= new PacedUploads(record, this.host.clock)
      return record.paced.add(() => this.publishAll(record, groups, this.host.clock.now(), receipt), receipt)
    }
    this.publishAll(record, groups, now, receipt)
  }

  private publishAll(record: DeviceRecord, groups: readonly UploadGroup[], now: number, receipt: PublishReceipt): void {
    const [only] = groups
    if (only === undefined) return receipt.stored()
    if (groups.length === 1) {
      this.publish(record, only, now, only.ts ?? record.serverTime(now), receipt)
      return
    }
    const all = new UploadReceipt(groups.length, receipt)
    // Elements without a time of their own share one.
    let shared: number | undefined
    for (const group of groups) this.publish(record, group, now, group.ts ?? (shared ??= record.serverTime(now)), all)
  }

  private publish(record: DeviceRecord, group: UploadGroup, now: number, ts: number, receipt: PublishReceipt): void {
    const { ids, link } = this.host
    link.publish(telemetryMessage(ids, record.identity, record.originator, now, ts, group.entries, group.json), receipt)
  }

  postAttributes(entries: readonly Entry[], receipt: PublishReceipt): void {
    if (this.hasEnded) return receipt.refused(DeviceErrors.SESSION_ENDED())
    const record = this.live()
    const now = this.host.heard(record)
    const publish = (): void => {
      this.host.link.publish(
        attributesMessage(this.host.ids, record.identity, record.originator, now, entries),
        receipt,
      )
    }
    if (record.paced?.isEmpty === false) record.paced.add(publish, receipt)
    else publish()
  }

  async requestAttributes(request: AttributeRequest): Promise<AttributeAnswer> {
    if (this.hasEnded) throw DeviceErrors.SESSION_ENDED()
    const record = this.live()
    this.host.touched(record)
    const [client, shared] = await Promise.all([
      this.host.readAttributes(record, 'CLIENT_SCOPE', request.clientKeys),
      this.host.readAttributes(record, 'SHARED_SCOPE', request.sharedKeys),
    ])
    return { client, shared }
  }

  subscribeToSharedAttributes(): void {
    if (this.hasEnded || this.isSubscribed) return
    this.isSubscribed = true
    this.register({ kind: 'subscribed', session: this })
  }

  unsubscribeFromSharedAttributes(): void {
    if (this.hasEnded || !this.isSubscribed) return
    this.isSubscribed = false
    this.record.actor.tell({ kind: 'unsubscribed', session: this })
  }

  touch(): void {
    if (!this.hasEnded) this.host.touched(this.live())
  }

  close(): void {
    if (this.hasEnded) return
    this.hasEnded = true
    if (this.isLongLived || this.isSubscribed) {
      this.record.actor.tell({ kind: 'closed', session: this })
    }
  }

  /** The platform ends it; on the session actor's turn. */
  end(reason: SessionEnd): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.listener.closed(reason)
  }

  /** On the session actor's turn. */
  tell(update: Parameters<DeviceSessionListener['sharedAttributesChanged']>[0]): void {
    if (!this.hasEnded) this.listener.sharedAttributesChanged(update)
  }

  private register(event: Parameters<DeviceRecord['actor']['tell']>[0]): void {
    this.host.touched(this.live())
    // An actor that takes no more (closing, or flooded) would never tell this session anything.
    if (!this.record.actor.tell(event)) this.host.clock.soon(() => this.end('SHUTDOWN'))
  }

  private live(): DeviceRecord {
    if (this.record.isReleased) this.record = this.host.recordOf(this.record.identity)
    return this.record
  }
}

/** One answer for an upload of many messages: stored after the last, or refused at the first that is. */
class UploadReceipt implements PublishReceipt {
  private open: number
  private readonly receipt: PublishReceipt

  constructor(count: number, receipt: PublishReceipt) {
    this.open = count
    this.receipt = receipt
  }

  stored(): void {
    if (--this.open === 0) this.receipt.stored()
  }

  refused(error: MillraceError): void {
    if (this.open === Infinity) return
    // Never counts down to zero again: what is stored of it is sent once more by the device, and overwrites.
    this.open = Infinity
    this.receipt.refused(error)
  }
}
