/**
 * Uploads of one device that carry no time and come faster than times can be given to them. A device's server times are whole
 * milliseconds, strictly increasing, and never more than a little ahead of the clock: were they, they would meet the times given
 * after a restart, and a new point would overwrite an old one. So what comes faster waits here, in its order, and slows its sender.
 */
import type { Clock } from '../../model/clock.ts'
import type { PublishReceipt } from '../link/link.ts'
import type { DeviceRecord, WaitingUploads } from './device-record.ts'
import { DeviceErrors } from './errors.ts'

/** Uploads of one device that wait, at most; a transport has bounds of its own before that. */
const MAX_WAITING = 10_000

interface WaitingUpload {
  readonly publish: () => void
  readonly receipt: PublishReceipt
}

export class PacedUploads implements WaitingUploads {
  private readonly record: DeviceRecord
  private readonly clock: Clock
  private waiting: WaitingUpload[] = []
  private next = 0
  private isAwake = false

  constructor(record: DeviceRecord, clock: Clock) {
    this.record = record
    this.clock = clock
  }

  get isEmpty(): boolean {
    return this.next === this.waiting.length
  }

  add(publish: () => void, receipt: PublishReceipt): void {
    if (this.waiting.length - this.next >= MAX_WAITING)
      return receipt.refused(DeviceErrors.TOO_FAST({ limit: MAX_WAITING }))
    this.waiting.push({ publish, receipt })
    this.wake()
  }

  close(): void {
    const refused = this.waiting.slice(this.next)
    this.waiting = []
    this.next = 0
    for (const { receipt } of refused) receipt.refused(DeviceErrors.CLOSED())
  }

  private wake(): void {
    if (this.isAwake) return
    this.isAwake = true
    this.clock.after(1, () => this.drain())
  }

  private drain(): void {
    this.isAwake = false
    const now = this.clock.now()
    while (!this.isEmpty && this.record.hasTime(now)) this.waiting[this.next++]?.publish()
    if (!this.isEmpty) return this.wake()
    this.waiting = []
    this.next = 0
  }
}
