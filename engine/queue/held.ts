/** What a queue holds, in all and by tenant: messages, and their weight. */
import type { Delivery } from '../link/link.ts'
import { weightOf } from './weight.ts'

export class Held {
  count = 0
  weight = 0
  private readonly byTenant = new Map<string, number>()

  add(delivery: Delivery): void {
    this.change(delivery, 1, weightOf(delivery))
  }

  remove(delivery: Delivery): void {
    this.change(delivery, -1, -weightOf(delivery))
  }

  weightOfTenant(tenantId: string): number {
    return this.byTenant.get(tenantId) ?? 0
  }

  private change({ message }: Delivery, count: number, weight: number): void {
    this.count += count
    this.weight += weight
    const own = this.weightOfTenant(message.tenantId) + weight
    if (own > 0) this.byTenant.set(message.tenantId, own)
    else this.byTenant.delete(message.tenantId)
  }
}
