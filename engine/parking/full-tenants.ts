/** Tenants whose share of parked messages is full, and the link as their devices see it: it takes nothing of them. */
import type { Clock } from '../../model/clock.ts'
import type { Message } from '../../model/message.ts'
import { ReceiptTeller } from '../link/frame.ts'
import type { PublishLink, PublishReceipt } from '../link/link.ts'
import { ParkingErrors } from './errors.ts'

export interface FullTenants {
  has(tenantId: string): boolean
}

/** A link for those who publish what devices send. What the platform itself publishes, such as dead letters that are replayed, is always taken. */
export class GatedLink implements PublishLink {
  private readonly inner: PublishLink
  private readonly full: FullTenants
  private readonly limitBytes: number
  private readonly teller: ReceiptTeller

  constructor(
    inner: PublishLink,
    full: FullTenants,
    limitBytes: number,
    clock: Clock,
    onThrow: (error: unknown) => void,
  ) {
    this.inner = inner
    this.full = full
    this.limitBytes = limitBytes
    this.teller = new ReceiptTeller(clock, (event) => {
      if (event.kind === 'receipt-threw') onThrow(event.error)
    })
  }

  /** Messages that were refused. */
  get refused(): number {
    return this.teller.refused
  }

  publish(message: Message, receipt: PublishReceipt): void {
    if (!this.full.has(message.tenantId)) this.inner.publish(message, receipt)
    else this.teller.refuseSoon(receipt, ParkingErrors.TENANT_FULL({ limit: this.limitBytes }))
  }

  get writable(): boolean {
    return this.inner.writable
  }

  hasRoomFor(tenantId: string): boolean {
    return this.inner.hasRoomFor(tenantId)
  }

  onWritable(listener: () => void): () => void {
    return this.inner.onWritable(listener)
  }
}
