/** What a device sends, made into messages and handed to the link at once: an upload that waits to be stored holds none behind it. */
import type { MillraceError } from '../../model/errors.ts'
import type { Entry } from '../../model/value.ts'
import { USAGE, type UsageMeter } from '../usage/usage.ts'
import { DeviceErrors } from './errors.ts'
import type { Link, PublishReceipt } from '../link/link.ts'
import {
  attributesMessage,
  SAME_UPLOAD,
  serverCallMessage,
  telemetryMessage,
  type CallOrigin,
} from './device-messages.ts'
import type { DeviceRecord } from './device-record.ts'

import type { UploadGroup, UploadedScope } from './gateway.ts'
import type { MessageIds } from './message-ids.ts'

/** Whose an upload is. */
export type Uploader = Pick<DeviceRecord, 'identity' | 'originator'>

export class Uploads {
  private readonly link: Pick<Link, 'publish'>
  private readonly ids: MessageIds
  private readonly meter: UsageMeter

  constructor(link: Pick<Link, 'publish'>, ids: MessageIds, meter: UsageMeter) {
    this.link = link
    this.ids = ids
    this.meter = meter
  }

  /** `at`: when it arrived, Unix ms. */
  telemetry(record: Uploader, at: number, groups: readonly UploadGroup[], receipt: PublishReceipt): void {
    const [only] = groups
    if (only === undefined) return receipt.stored()
    let points = 0
    for (const { entries } of groups) points += entries.length
    if (!this.isAdmitted(record, points)) return receipt.refused(DeviceErrors.USAGE_LIMIT())
    if (groups.length === 1) return this.publish(record, only, at, only.ts, receipt)
    const all = new UploadReceipt(groups.length, receipt)
    let hasUntimed = false
    for (const group of groups) {
      this.publish(record, group, at, group.ts ?? (hasUntimed ? SAME_UPLOAD : undefined), all)
      // The device sends it all once more. The rest would be stamped as if it belonged to the upload before this one.
      if (all.isRefused) return
      hasUntimed ||= group.ts === undefined
    }
  }

  /** Client attributes where no scope is said. */
  attributes(
    record: Uploader,
    at: number,
    entries: readonly Entry[],
    receipt: PublishReceipt,
    scope?: UploadedScope,
  ): void {
    if (!this.isAdmitted(record, entries.length)) return receipt.refused(DeviceErrors.USAGE_LIMIT())
    this.link.publish(attributesMessage(this.ids, record.identity, record.originator, at, entries, scope), receipt)
  }

  /** The device calls the rule engine; `data` is JSON text. */
  serverCall(record: Uploader, at: number, data: string, origin: CallOrigin, receipt: PublishReceipt): void {
    if (!this.isAdmitted(record, 0)) return receipt.refused(DeviceErrors.USAGE_LIMIT())
    this.link.publish(serverCallMessage(this.ids, record.identity, record.originator, at, data, origin), receipt)
  }

  /** Counts what the device sent. False where its tenant has used up what its devices may send. */
  isAdmitted({ identity }: Uploader, points: number): boolean {
    const usage = this.meter.of(identity.tenantId)
    if (usage.isDisabled('TRANSPORT')) return false
    usage.add(USAGE.transportMessages, 1)
    usage.add(USAGE.transportDataPoints, points)
    return true
  }

  private publish(
    { identity, originator }: Uploader,
    { entries, json }: UploadGroup,
    at: number,
    ts: Parameters<typeof telemetryMessage>[4],
    receipt: PublishReceipt,
  ): void {
    this.link.publish(telemetryMessage(this.ids, identity, originator, at, ts, entries, json), receipt)
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

  get isRefused(): boolean {
    return this.open === Infinity
  }

  refused(error: MillraceError): void {
    if (this.isRefused) return
    // Never counts down to zero again: what is stored of it is sent once more by the device, and overwrites.
    this.open = Infinity
    this.receipt.refused(error)
  }
}
