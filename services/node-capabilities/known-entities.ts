/**
 * Entities as nodes see them, at once for those that were asked for lately: kept until the feed tells that the entity changed, or one that it
 * names, whose name or absence shows in it. Types of which the feed does not tell every change are read each time.
 */
import type { NodeEntity } from '../../engine/rulechain/capabilities/entities.ts'
import type { Soon } from '../../engine/rulechain/capabilities/soon.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import { NULL_UUID, type EntityId, type EntityType } from '../../model/entity-id.ts'
import { isJsonObject, stringifyJson } from '../../model/json.ts'
import { KeptReads } from './kept-reads.ts'
import { SharedReads } from './shared-reads.ts'

const KEPT: ReadonlySet<EntityType> = new Set([
  ...(['ASSET', 'ASSET_PROFILE', 'CUSTOMER', 'DEVICE', 'DEVICE_PROFILE', 'ENTITY_VIEW', 'TENANT'] as const),
])
const MAX_BYTES = 16 * 2 ** 20
/** Beyond its texts, which stand in its JSON form and beside it. */
const ENTITY_BYTES = 1_000

export class KnownEntities {
  private readonly kept = new KeptReads<NodeEntity, undefined>({
    maxBytes: MAX_BYTES,
    sizeOf: ({ json }) => ENTITY_BYTES + 4 * stringifyJson(json).length,
    dependsOn: namedIn,
  })
  private readonly others = new SharedReads<NodeEntity | undefined>()
  private readonly stops: readonly (() => void)[]

  constructor(feed: Pick<ChangeFeed, 'listenToAll' | 'onGap'>) {
    this.stops = [
      feed.listenToAll(['device-changed', 'entity-deleted', 'settings-changed'], ({ entity }) =>
        this.kept.changed(entity.id),
      ),
      feed.onGap(() => this.kept.changedAll()),
    ]
  }

  find(
    tenantId: string,
    { entityType, id }: EntityId,
    read: () => Promise<NodeEntity | undefined>,
  ): Soon<NodeEntity | undefined> {
    const key = `${tenantId} ${entityType} ${id}`
    return KEPT.has(entityType) ? this.kept.read(key, read) : this.others.read(key, read)
  }

  close(): void {
    for (const stop of this.stops) stop()
  }
}

/** It and those that it names: its customer, its profile, its packages. All are of one tenant, which is not named: it changes seldom, and has many. */
function namedIn({ id, json }: NodeEntity): readonly string[] {
  const named = new Set([id.id])
  for (const member of Object.values(json)) {
    if (!isJsonObject(member)) continue
    const { entityType, id: other } = member
    if (typeof entityType === 'string' && typeof other === 'string' && entityType !== 'TENANT') named.add(other)
  }
  named.delete(NULL_UUID)
  return [...named]
}
