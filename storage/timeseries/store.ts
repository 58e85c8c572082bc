/**
 * The time-series store: history and latest values. Every backend passes `contract.ts`.
 * Entities are UUID text; a point's identity is (entity, key, ts); a later write of the same identity overwrites.
 */
import type { Erased } from '../../model/erased.ts'
import type { HistoryQuery } from '../../model/telemetry-query.ts'
import type { DataPoint, PointsToStore } from '../../model/value.ts'
import type { LatestColumn } from '../../model/latest-column.ts'

/** One entity's points in one batch. */
export interface PointsWrite extends PointsToStore {
  readonly entityId: string
  /** The message's log position: the latest value's version is (ts, sequence), so a replay never goes back. 0 for REST writes: as if newest. */
  readonly sequence: number
  /** Seconds; 0 keeps for ever. */
  readonly ttlSeconds: number
  readonly history: boolean
  readonly latest: boolean
}

/** Numbers commits in their order; reads say up to which commit they speak. */
export type CommitSequence = number

export interface Snapshot<Value> {
  readonly value: Value
  /** It holds every commit up to this one, and may hold some beyond it. */
  readonly sequence: CommitSequence
  /** Where changes of this process are numbered apart (`Change.ownSequence`): it holds every one up to this. */
  readonly ownSequence?: number
}

/** Points by key; a key without points is absent. */
export type PointsByKey = ReadonlyMap<string, readonly DataPoint[]>

export interface DeleteRange {
  readonly entityId: string
  readonly keys: readonly string[]
  /** Inclusive; Unix ms. */
  readonly startTs: number
  /** Exclusive. */
  readonly endTs: number
  /** Remove the latest value where its time lies in the range. */
  readonly deleteLatest: boolean
  /** Put the newest older point in place of a removed latest value. */
  readonly rewriteLatest: boolean
}

export interface DeletedKeys {
  /** Keys whose latest value went; with the point that took its place, where one did. */
  readonly latestRemoved: readonly { readonly key: string; readonly replacement: DataPoint | undefined }[]
}

export interface TimeSeriesStore {
  /**
   * Group commit: exactly one write is in flight; all that arrives meanwhile is the next. Resolves when a loss at the
   * configured durability level would not lose the points. Rejects `retryable`; nothing of a rejected write is visible
   * after a later success of the same write that differs from it.
   */
  write(writes: readonly PointsWrite[]): Promise<CommitSequence>
  /** Newest first (or oldest first), at most `limit` a key; or one point a non-empty bucket, at the bucket's middle. */
  history(entityId: string, query: HistoryQuery): Promise<Snapshot<PointsByKey>>
  /** The latest values of the keys that have one; all keys when none is named. */
  latest(entityId: string, keys: readonly string[] | undefined): Promise<Snapshot<readonly DataPoint[]>>
  /**
   * The same of many entities, by entity: those that have none of the keys are absent. Callers ask for a few thousand entities at a time, as the
   * read holds up others. The values speak of at least the commit.
   */
  latestOfMany(
    entityIds: readonly string[],
    keys: readonly string[],
  ): Promise<Snapshot<ReadonlyMap<string, readonly DataPoint[]>>>
  /** One key of many entities, for a search among them: it holds up others for a moment alone. Absent where there is no faster way than {@link latestOfMany}. */
  latestColumn?(entityIds: readonly string[], key: string): Promise<LatestColumn>
  /** What the texts among the latest values of the key take, UTF-8: asked before {@link latestOfMany} holds all of them. Absent where there is `latestColumn`. */
  latestTextBytes?(entityIds: readonly string[], key: string): Promise<number>
  keys(entityId: string): Promise<readonly string[]>
  /** Keys of which anything is stored, those of history alone too; some may have no point that is shown any more. Sorted. */
  storedKeys(entityId: string): Promise<readonly string[]>
  delete(range: DeleteRange): Promise<Snapshot<DeletedKeys>>
  /** Removes everything of an entity. */
  deleteEntity(entityId: string): Promise<void>
  /** Takes what was deleted out of the files too, as far as the store can. May take long, and holds up writes meanwhile. */
  eraseDeleted(): Promise<Erased>
  /** Drains, closes. Idempotent. */
  close(): Promise<void>
}
