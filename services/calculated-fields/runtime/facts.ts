/** What calculating needs to know of an entity: whose it is, its profile, and where its messages go. Kept until the feed says that it changed. */
import type { EntityId } from '../../../model/entity-id.ts'
import { lruMap } from '../../../model/lru-map.ts'
import type { ChangeFeed } from '../../../engine/subscriptions/change.ts'
import type { EntityRegistry } from '../../entities/entity-registry.ts'
import type { RouteLookup } from '../../changes/message-route.ts'

export interface EntityFacts {
  readonly tenantId: string
  readonly customerId: string | null
  /** Its customer; its tenant where it has none. */
  readonly owner: EntityId
  readonly profile: EntityId | undefined
  readonly ruleChainId: string | null
  readonly queueName: string | null
}

export interface FactsParts {
  readonly declared: EntityRegistry
  readonly routeOf: RouteLookup
  readonly feed: Pick<ChangeFeed, 'listenToAll' | 'onGap'>
}

const MAX_KNOWN = 100_000

export class KnownFacts {
  private readonly parts: FactsParts
  private readonly known = lruMap<EntityFacts>(MAX_KNOWN)
  private readonly stops: readonly (() => void)[]
  private turns = 0

  constructor(parts: FactsParts) {
    this.parts = parts
    const { feed } = parts
    this.stops = [
      feed.listenToAll(['device-changed', 'entity-deleted'], ({ entity: { entityType, id } }) => {
        this.turns++
        // A profile's chain and queue are those of all its members.
        if (entityType === 'DEVICE' || entityType === 'ASSET' || entityType === 'ALARM') this.known.delete(id)
        else this.known.clear()
      }),
      feed.onGap(() => {
        this.turns++
        this.known.clear()
      }),
    ]
  }

  /** What was read before; undefined where it was not. */
  held(entity: EntityId): EntityFacts | undefined {
    return this.known.get(entity.id)
  }

  /** Undefined where there is no such entity. */
  async of(entity: EntityId): Promise<EntityFacts | undefined> {
    const known = this.known.get(entity.id)
    if (known !== undefined) return known
    const { turns } = this
    const { declared, routeOf } = this.parts
    const [route, record] = await Promise.all([routeOf(entity), declared.findAnywhere(entity)])
    if (route === undefined) return undefined
    const { tenantId, customerId, ruleChainId, queueName } = route
    const owner: EntityId =
      customerId === null ? { entityType: 'TENANT', id: tenantId } : { entityType: 'CUSTOMER', id: customerId }
    const facts = { tenantId, customerId, owner, profile: profileOf(entity, record ?? {}), ruleChainId, queueName }
    if (turns === this.turns) this.known.set(entity.id, facts)
    return facts
  }

  forget(entity: EntityId): void {
    this.turns++
    this.known.delete(entity.id)
  }

  close(): void {
    for (const stop of this.stops) stop()
  }
}

function profileOf({ entityType }: EntityId, record: Readonly<Record<string, unknown>>): EntityId | undefined {
  if (entityType !== 'DEVICE' && entityType !== 'ASSET') return undefined
  const id = record[entityType === 'DEVICE' ? 'deviceProfileId' : 'assetProfileId']
  return typeof id === 'string'
    ? { entityType: entityType === 'DEVICE' ? 'DEVICE_PROFILE' : 'ASSET_PROFILE', id }
    : undefined
}
