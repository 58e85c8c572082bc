/** What everybody hears of an entity that is gone. */
import { NULL_UUID, type EntityId } from '../../model/entity-id.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'

export function publishGone(feed: ChangeFeed, entity: EntityId, tenantId: string): void {
  if (entity.entityType === 'USER') feed.publish({ kind: 'user-tokens-withdrawn', entity })
  // With a public customer go all who came in by its link.
  if (entity.entityType === 'CUSTOMER')
    feed.publish({ kind: 'user-tokens-withdrawn', entity: { entityType: 'USER', id: NULL_UUID } })
  if (entity.entityType === 'QUEUE') feed.publish({ kind: 'queue-changed', entity, tenantId })
  else feed.publish({ kind: 'entity-deleted', entity, tenantId })
}
