/**
 * The entities that one client's commands follow. The feed is listened to once an entity, however many commands follow it; a change is
 * matched by its keys, so that fifty widgets over the same devices cost one look-up a point.
 */
import type { EntityId } from '../../model/entity-id.ts'
import type { Attribute, AttributeScope, DataPoint } from '../../model/value.ts'
import type { Change, ChangeFeed } from '../../engine/subscriptions/change.ts'
import { CommandErrors } from './errors.ts'

/** Commands times entities, of one client. */
const MAX_FOLLOWED = 200_000

/** A change as far as it concerns one command. */
export type FollowedChange =
  | { readonly kind: 'points'; readonly points: readonly DataPoint[]; readonly change: Change }
  | { readonly kind: 'points-gone'; readonly keys: readonly string[]; readonly isRemote: boolean }
  | { readonly kind: 'attributes'; readonly scope: AttributeScope; readonly attributes: readonly Attribute[] }
  | {
      readonly kind: 'attributes-gone'
      readonly scope: AttributeScope
      readonly keys: readonly string[]
      readonly isRemote: boolean
    }
  /** It may have changed hands, or be gone. */
  | { readonly kind: 'entity' }
  /** Only to who follows alarms. */
  | { readonly kind: 'alarm'; readonly alarmId: string }

export interface Follower {
  /** Names of series that it shows. */
  readonly series: ReadonlySet<string>
  readonly attributes: ReadonlySet<string>
  /** Whether it shows alarms. */
  readonly followsAlarms?: boolean
  heard(entity: EntityId, change: FollowedChange): void
}

interface Followed {
  readonly entity: EntityId
  readonly stop: () => void
  readonly followers: Set<Follower>
  readonly bySeries: Map<string, Set<Follower>>
  readonly byAttribute: Map<string, Set<Follower>>
}

export class FollowedEntities {
  private readonly feed: ChangeFeed
  private readonly byId = new Map<string, Followed>()
  private count = 0

  constructor(feed: ChangeFeed) {
    this.feed = feed
  }

  /** Listens from here on. Throws TOO_MANY_FOLLOWED: nothing is followed anew then. */
  follow(entities: readonly EntityId[], follower: Follower): void {
    if (this.count + entities.length > MAX_FOLLOWED) throw CommandErrors.TOO_MANY_FOLLOWED({ limit: MAX_FOLLOWED })
    for (const entity of entities) {
      const followed = this.byId.get(entity.id) ?? this.begin(entity)
      if (followed.followers.has(follower)) continue
      followed.followers.add(follower)
      this.count++
      for (const key of follower.series) put(followed.bySeries, key, follower)
      for (const key of follower.attributes) put(followed.byAttribute, key, follower)
    }
  }

  unfollow(entities: readonly EntityId[], follower: Follower): void {
    for (const { id } of entities) {
      const followed = this.byId.get(id)
      if (followed?.followers.delete(follower) !== true) continue
      this.count--
      for (const key of follower.series) remove(followed.bySeries, key, follower)
      for (const key of follower.attributes) remove(followed.byAttribute, key, follower)
      if (followed.followers.size > 0) continue
      followed.stop()
      this.byId.delete(id)
    }
  }

  private begin(entity: EntityId): Followed {
    const followed: Followed = {
      entity,
      stop: this.feed.listen(entity, (change) => tell(followed, change)),
      followers: new Set(),
      bySeries: new Map(),
      byAttribute: new Map(),
    }
    this.byId.set(entity.id, followed)
    return followed
  }
}

function tell({ entity, followers, bySeries, byAttribute }: Followed, change: Change): void {
  switch (change.kind) {
    case 'telemetry':
      for (const [follower, points] of matched(change.points, ({ key }) => bySeries.get(key)))
        follower.heard(entity, { kind: 'points', points, change })
      return
    case 'telemetry-deleted':
      for (const [follower, keys] of matched(change.keys, (key) => bySeries.get(key)))
        follower.heard(entity, { kind: 'points-gone', keys, isRemote: change.remote === true })
      return
    case 'attributes':
      if (change.audience === 'device' || change.audience === 'caches') return
      for (const [follower, attributes] of matched(change.attributes, ({ key }) => byAttribute.get(key)))
        follower.heard(entity, { kind: 'attributes', scope: change.scope, attributes })
      return
    case 'attributes-deleted':
      for (const [follower, keys] of matched(change.keys, (key) => byAttribute.get(key)))
        follower.heard(entity, {
          kind: 'attributes-gone',
          scope: change.scope,
          keys,
          isRemote: change.remote === true,
        })
      return
    case 'device-changed':
    case 'entity-deleted':
      for (const follower of [...followers]) follower.heard(entity, { kind: 'entity' })
      return
    case 'alarm':
      for (const follower of [...followers])
        if (follower.followsAlarms === true) follower.heard(entity, { kind: 'alarm', alarmId: change.alarmId })
      return
    default:
    // Of no concern to who follows values.
  }
}

/** Who gets which of them, each looked at once. */
function matched<Item>(
  items: readonly Item[],
  followersOf: (item: Item) => ReadonlySet<Follower> | undefined,
): ReadonlyMap<Follower, readonly Item[]> {
  const shares = new Map<Follower, Item[]>()
  for (const item of items) {
    for (const follower of followersOf(item) ?? []) {
      const share = shares.get(follower)
      if (share === undefined) shares.set(follower, [item])
      else share.push(item)
    }
  }
  return shares
}

function put(index: Map<string, Set<Follower>>, key: string, follower: Follower): void {
  const held = index.get(key)
  if (held === undefined) index.set(key, new Set([follower]))
  else held.add(follower)
}

function remove(index: Map<string, Set<Follower>>, key: string, follower: Follower): void {
  const held = index.get(key)
  held?.delete(follower)
  if (held?.size === 0) index.delete(key)
}
