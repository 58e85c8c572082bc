/**
 * How a queue is called on the link, where the queues of all tenants lie side by side: the system's by their name, a tenant's
 * with its id in front, so that two tenants may both have a queue `Slow`.
 */
import type { Queue } from './entities.ts'
import { NULL_UUID, isUuid } from './entity-id.ts'

const UUID_LENGTH = 36

export function linkQueueName({ tenantId, name }: Pick<Queue, 'tenantId' | 'name'>): string {
  return tenantId === NULL_UUID ? name : `${tenantId}.${name}`
}

/** Whether the name reads like a tenant's queue on the link: the system may have none that is called so. */
export function looksQualified(name: string): boolean {
  return name.charAt(UUID_LENGTH) === '.' && isUuid(name.slice(0, UUID_LENGTH))
}
