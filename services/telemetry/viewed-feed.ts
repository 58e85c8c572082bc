/**
 * The change feed as those hear it who follow entity views: what changes in the series of a view's source is told of the view too, within the keys
 * and the time that it shows. A view that is saved is looked up again; who followed it reads again once that is done ({@link ViewedFeed.settled}).
 */
import type { EntityId } from '../../model/entity-id.ts'
import type { Change, ChangeFeed, ChangeKind, ChangeListener, ChangeOf } from '../../engine/subscriptions/change.ts'
import { isShown, type Exposure } from './exposure.ts'
import type { ExposureLookup } from './viewed-telemetry.ts'

export class ViewedFeed implements ChangeFeed {
  private readonly feed: ChangeFeed
  private readonly exposureOf: ExposureLookup
  /** Views whose source is not listened to yet. */
  private readonly unknown = new Set<FollowedView>()

  constructor(feed: ChangeFeed, exposureOf: ExposureLookup) {
    this.feed = feed
    this.exposureOf = exposureOf
  }

  publish(change: Change): void {
    this.feed.publish(change)
  }

  listenToAll<Kind extends ChangeKind>(kinds: readonly Kind[], listener: (change: ChangeOf<Kind>) => void): () => void {
    return this.feed.listenToAll(kinds, listener)
  }

  listen(entity: EntityId, listener: ChangeListener): () => void {
    if (entity.entityType !== 'ENTITY_VIEW') return this.feed.listen(entity, listener)
    const view = new FollowedView(entity, this.feed, this.exposureOf, listener, this.unknown)
    return () => view.close()
  }

  /** Rejects where a view's source can not be looked up. */
  async settled(): Promise<void> {
    await Promise.all([...this.unknown].map((view) => view.lookUp()))
    return this.feed.settled()
  }

  onGap(listener: (since: number) => void): () => void {
    return this.feed.onGap(listener)
  }

  hasListeners(entity: EntityId, kind: ChangeKind): boolean {
    return this.feed.hasListeners(entity, kind)
  }
}

class FollowedView {
  private readonly view: EntityId
  private readonly feed: ChangeFeed
  private readonly exposureOf: ExposureLookup
  private readonly listener: ChangeListener
  private readonly unknown: Set<FollowedView>
  private readonly stopOwn: () => void
  private stopSource: (() => void) | undefined
  /** Counts the changes of the view: what was looked up before one of them is not what it shows now. */
  private version = 0
  private lookingUp: Promise<void> | undefined

  constructor(
    view: EntityId,
    feed: ChangeFeed,
    exposureOf: ExposureLookup,
    listener: ChangeListener,
    unknown: Set<FollowedView>,
  ) {
    this.view = view
    this.feed = feed
    this.exposureOf = exposureOf
    this.listener = listener
    this.unknown = unknown
    this.stopOwn = feed.listen(view, (change) => this.hear(change))
    unknown.add(this)
  }

  /** Resolves when its source is listened to. */
  lookUp(): Promise<void> {
    this.lookingUp ??= this.listenToSource().finally(() => (this.lookingUp = undefined))
    return this.lookingUp
  }

  close(): void {
    this.version = -1
    this.unknown.delete(this)
    this.stopOwn()
    this.stopSource?.()
  }

  private hear(change: Change): void {
    if (change.kind === 'device-changed' || change.kind === 'entity-deleted') {
      this.version++
      this.stopSource?.()
      this.stopSource = undefined
      this.unknown.add(this)
    }
    this.listener(change)
  }

  private async listenToSource(): Promise<void> {
    while (this.unknown.has(this)) {
      const { version } = this
      const exposure = await this.exposureOf(this.view.id)
      if (version !== this.version) continue
      this.unknown.delete(this)
      if (exposure !== undefined)
        this.stopSource = this.feed.listen(exposure.source, (change) => this.hearSource(change, exposure))
    }
  }

  private hearSource(change: Change, exposure: Exposure): void {
    if (change.kind === 'telemetry') {
      const points = change.points.filter((point) => exposure.keys.includes(point.key) && isShown(exposure, point))
      if (points.length > 0) this.listener({ ...change, entity: this.view, points })
    } else if (change.kind === 'telemetry-deleted') {
      const keys = change.keys.filter((key) => exposure.keys.includes(key))
      if (keys.length > 0) this.listener({ ...change, entity: this.view, keys })
    }
  }
}
