/** What a device sends, made into messages and handed to the link at once: an upload that waits to be stored holds none behind it. */
import type { Clock } from '../../model/clock.ts'
import type { MillraceError } from '../../model/errors.ts'
import type { Entry } from '../../model/value.ts'
import type { Link, PublishReceipt } from '../link/link.ts'
import { attributesMessage, telemetryMessage } from './device-messages.ts'
import type { DeviceRecord } from './device-record.ts'
import type { UploadGroup } from './gateway.ts'
import type { MessageIds } from './message-ids.ts'
import { PacedUploads } from './paced-uploads.ts'

export class Uploads {
  private readonly link: Pick<Link, 'publish'>
  private readonly clock: Clock
  private readonly ids: MessageIds

  constructor(link: Pick<Link, 'publish'>, clock: Clock, ids: MessageIds) {
    this.link = link
    this.clock = clock
    this.ids = ids
  }

  /** `at`: when it arrived, Unix ms. */
  telemetry(record: DeviceRecord, at: number, groups: readonly UploadGroup[], receipt: PublishReceipt): void {
    if (record.paced?.isEmpty === false || (!record.hasTime(at) && groups.some((group) => group.ts === undefined))) {
      record.paced ??= new PacedUploads(record, this.clock)
      return record.paced.add(() => this.publishAll(record, groups, this.clock.now(), receipt), receipt)
    }
    this.publishAll(record, groups, at, receipt)
  }

  attributes(record: DeviceRecord, at: number, entries: readonly Entry[], receipt: PublishReceipt): void {
    const publish = (): void => {
      this.link.publish(attributesMessage(this.ids, record.identity, record.originator, at, entries), receipt)
    }
    if (record.paced?.isEmpty === false) record.paced.add(publish, receipt)
    else publish()
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
    const { identity, originator } = record
    this.link.publish(telemetryMessage(this.ids, identity, originator, now, ts, group.entries, group.json), receipt)
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
