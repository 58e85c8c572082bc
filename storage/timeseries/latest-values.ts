/**
 * Latest values apart from history: what a history store that can check nothing on write (QuestDB) stands on. Kept where a
 * condition can be checked in the write itself, so that a latest value never goes back in time.
 */
import type { DataPoint } from '../../model/value.ts'
import type { PostgresQuery } from '../postgres/connection.ts'
import type { PointsWrite } from './store.ts'

/** Values, and the rows of a query that the same server answered just before it read them. */
export interface ReadAfter<Row, Value> {
  readonly rows: readonly Row[]
  readonly value: Value
}

export interface LatestValues {
  /**
   * Durable when it resolves. For each (entity, key) the newest of the batch by (ts, sequence) takes the place of what is stored unless that
   * is newer; sequence 0 counts as newest at its time. Writes with `latest: false` are passed over. Rejects `retryable`.
   */
  write(writes: readonly PointsWrite[]): Promise<void>
  /** Sorted by key; those of `keys` that have one, all where none is named. */
  read(entityId: string, keys: readonly string[] | undefined): Promise<readonly DataPoint[]>
  /** As `read`, after `first`: both in one round trip. */
  readAfter<Row>(
    first: PostgresQuery,
    entityId: string,
    keys: readonly string[] | undefined,
  ): Promise<ReadAfter<Row, readonly DataPoint[]>>
  /** Of many, by entity; those that have none of the keys are absent. */
  readManyAfter<Row>(
    first: PostgresQuery,
    entityIds: readonly string[],
    keys: readonly string[],
  ): Promise<ReadAfter<Row, ReadonlyMap<string, readonly DataPoint[]>>>
  /** What the texts among the key's values take, UTF-8. */
  textBytes(entityIds: readonly string[], key: string): Promise<number>
  /** Removes the latest values whose time lies in [startTs, endTs), and hands back those it removed. */
  removeWithin(entityId: string, keys: readonly string[], startTs: number, endTs: number): Promise<readonly DataPoint[]>
  /** Puts the point in place where the key has no latest value. */
  replace(entityId: string, point: DataPoint): Promise<void>
  removeEntity(entityId: string): Promise<void>
  close(): Promise<void>
}
