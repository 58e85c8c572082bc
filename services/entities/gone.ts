/** What everybody hears of an entity that is gone. */
import type { EntityId } from '../../model/entity-id.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'

export function publishGone(feed: ChangeFeed, entity: EntityId, tenantId: string): void {
  if (entity.entityType === 'USER') feed.publish({ kind: 'user-tokens-withdrawn', entity })
  if (entity.entityType === 'QUEUE') feed.publish({ kind: 'queue-changed', entity, tenantId })
  else feed.publish({ kind: 'entity-deleted', entity, tenantId })
}
