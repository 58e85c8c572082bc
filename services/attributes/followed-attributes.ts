/** The attribute cache of this process, which follows what other processes change. */
import type { ChangeFeed, ChangeOf } from '../../engine/subscriptions/change.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { SharedAttributes } from '../../storage/entities/shared-attributes.ts'
import { MemoryAttributeCache, type AttributeCache } from './attribute-cache.ts'
import { SharedAttributeCache } from './shared-attribute-cache.ts'

export interface FollowedAttributesOptions {
  readonly entities: Pick<EntityStore, 'attributes'>
  readonly feed: ChangeFeed
  /** Memory of this process; 0 keeps none. */
  readonly bytes: number
  /** Behind that memory, for all processes together. */
  readonly shared: SharedAttributes | undefined
}

/** Must be the first listener of the feed: who hears a change of another process reads what is so since then. */
export function followAttributes({ entities, feed, bytes, shared }: FollowedAttributesOptions): {
  readonly cache: AttributeCache
  readonly stop: () => void
} {
  const readAll = (entityId: string) => entities.attributes.all(entityId)
  const cache =
    shared === undefined ? new MemoryAttributeCache(readAll, bytes) : new SharedAttributeCache(readAll, bytes, shared)
  const stopListening = feed.listenToAll(['attributes', 'attributes-deleted', 'entity-deleted'], (change) => {
    if (change.kind === 'entity-deleted') cache.forget(change.entity.id)
    else if (change.remote === true || saysNothing(change)) cache.invalidate(change.entity.id, change.sequence)
  })
  const stopGaps = feed.onGap(() => cache.invalidateAll())
  return {
    cache,
    stop: () => {
      stopListening()
      stopGaps()
    },
  }
}

/** Attributes changed, and which is not told. */
function saysNothing(change: ChangeOf<'attributes' | 'attributes-deleted'>): boolean {
  return change.kind === 'attributes' && change.attributes.length === 0
}
