/**
 * Entities that may have changed hands, or went, between a query and the moment at which what it found is followed: nobody else here hears
 * of that.
 */
import type { EntityId } from '../../model/entity-id.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'

/** One more, and any may have changed. */
const MAX_IDS = 10_000

export class ChangedMeanwhile {
  private readonly ids = new Set<string>()

  hear({ id }: EntityId): void {
    if (this.ids.size <= MAX_IDS) this.ids.add(id)
  }

  /** Those of the entities that it heard of since this was asked before. */
  take(entities: readonly EntityId[]): readonly EntityId[] {
    const changed = this.ids.size > MAX_IDS ? entities : entities.filter(({ id }) => this.ids.has(id))
    this.ids.clear()
    return changed
  }
}

/** Does the work while it is noted who may change hands. */
export async function notingChanges<Result>(
  feed: Pick<ChangeFeed, 'listenToAll' | 'settled'>,
  work: (changed: ChangedMeanwhile) => Promise<Result>,
): Promise<Result> {
  const changed = new ChangedMeanwhile()
  const stop = feed.listenToAll(['device-changed', 'entity-deleted'], ({ entity }) => changed.hear(entity))
  try {
    await feed.settled()
    return await work(changed)
  } finally {
    stop()
  }
}
