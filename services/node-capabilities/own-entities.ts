/**
 * Whose an entity is, at once for those that were asked for lately: what another tenant's entity has is never read for a node. The answer is kept
 * until the feed tells that the entity was deleted or moved, or that such news may have been missed.
 */
import type { EntityId } from '../../model/entity-id.ts'
import { lruMap } from '../../model/lru-map.ts'
import { whenThere, type Soon } from '../../engine/rulechain/capabilities/soon.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { Services } from '../services.ts'
import { SharedReads } from './shared-reads.ts'

const MAX_KNOWN = 100_000

export class OwnEntities {
  private readonly declared: Services['declared']
  private readonly known = lruMap<string>(MAX_KNOWN)
  private readonly reads = new SharedReads<string | undefined>()
  private readonly stops: readonly (() => void)[]
  /** Counts what makes answers stale: one that was on its way then is not kept. */
  private turns = 0

  constructor({ declared }: Pick<Services, 'declared'>, feed: Pick<ChangeFeed, 'listenToAll' | 'onGap'>) {
    this.declared = declared
    this.stops = [
      feed.listenToAll(['device-changed', 'entity-deleted'], ({ entity }) => {
        this.turns++
        this.known.delete(entity.id)
      }),
      feed.onGap(() => {
        this.turns++
        this.known.clear()
      }),
    ]
  }

  owns(tenantId: string, entity: EntityId): Soon<boolean> {
    return whenThere(this.known.get(entity.id) ?? this.read(entity), (owner) => owner === tenantId)
  }

  close(): void {
    for (const stop of this.stops) stop()
  }

  private read(entity: EntityId): Promise<string | undefined> {
    return this.reads.read(`${entity.entityType} ${entity.id}`, async () => {
      const { turns } = this
      const owner = (await this.declared.whose(entity))?.tenantId ?? undefined
      if (owner !== undefined && turns === this.turns) this.known.set(entity.id, owner)
      return owner
    })
  }
}
