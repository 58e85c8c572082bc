/**
 * Deletes of ranges and of whole entities. The points that are there go first, piece by piece and beside the writes; what was written
 * meanwhile goes in one transaction that takes its turn among the writes of the entity. Where it fails in between, some points are
 * gone, and the same again deletes the rest.
 */
import { intArray } from '../../postgres/binary-array.ts'
import type { PostgresConnection, PostgresQuery } from '../../postgres/connection.ts'
import { TRANSACTION_ID } from '../../postgres/snapshot-reads.ts'
import type { CommitSequence, DeletedKeys, DeleteRange } from '../store.ts'
import { borderOf } from './checks.ts'
import { removeHistory, removeHistoryOfEntity } from './history-rows.ts'
import { removeAllPoints, removePoints } from './removals.ts'
import { removeLatest, removeLatestOfEntity, type StoredLatest } from './latest-rows.ts'
import { pointOf, VALUE_COLUMNS } from './value-columns.ts'
import { transaction } from './writer.ts'

export interface Deletion {
  readonly deleted: DeletedKeys
  readonly commit: CommitSequence
}

/** The second walk finds next to nothing. It marks in the index what the first one removed, so that the walk in the lane is short. */
const WALKS = 2

/** Beside the writes: may take long. */
export async function removeRange(
  connection: PostgresConnection,
  { entityId, startTs, endTs }: DeleteRange,
  keys: ReadonlyMap<string, number>,
): Promise<void> {
  for (let walk = 0; walk < WALKS; walk++) {
    for (const number of keys.values()) await removePoints(connection, entityId, number, startTs, endTs)
  }
}

/** In turn with the writes of the entity, after {@link removeRange}. `keys` are those of the range that have a number. */
export async function deleteRange(
  connection: PostgresConnection,
  range: DeleteRange,
  keys: ReadonlyMap<string, number>,
  now: number,
): Promise<Deletion> {
  const { entityId, startTs, endTs } = range
  const numbers = intArray([...keys.values()])
  const removal = removeHistory(entityId, numbers, startTs, endTs)
  let commit = 0
  let removedKeys: string[] = []
  const results = await connection.transaction<StoredLatest & { id: number }>(
    [TRANSACTION_ID, removal, ...(range.deleteLatest ? [removeLatest(entityId, numbers, startTs, endTs)] : [])],
    ([id, , removed]) => {
      commit = id?.rows[0]?.id ?? 0
      removedKeys = (removed?.rows ?? []).map(({ key }) => key).sort()
      const removedNumbers = removedKeys.flatMap((key) => keys.get(key) ?? [])
      return range.rewriteLatest ? [putOlder(entityId, removedNumbers, startTs, now)] : []
    },
  )
  const put = results[0]?.rows ?? []
  const replacements = new Map(put.map((row) => [row.key, pointOf(row.key, row.ts, row)]))
  return { deleted: { latestRemoved: removedKeys.map((key) => ({ key, replacement: replacements.get(key) })) }, commit }
}

/** For each key the newest point before the time becomes its latest value, and is answered. */
function putOlder(entityId: string, numbers: readonly number[], startTs: number, now: number): PostgresQuery {
  return {
    text: `with put as (
        insert into ts_kv_latest (entity_id, key, ts, ${VALUE_COLUMNS}, sequence)
        select $1::uuid, wanted.key, older.*, 0 from unnest($2::integer[]) as wanted(key) cross join lateral (
          select ts, ${VALUE_COLUMNS} from ts_kv
          where entity_id = $1::uuid and ts_kv.key = wanted.key and ts < $3 and (expires_at is null or expires_at > $4)
          order by ts desc limit 1
        ) older on conflict (entity_id, key) do nothing returning key, ts, ${VALUE_COLUMNS}
      )
      select dictionary.key, ts, ${VALUE_COLUMNS} from put join key_dictionary dictionary on key_id = put.key`,
    parameters: [entityId, intArray(numbers), borderOf(startTs), now],
  }
}

/** As {@link removeRange}, for everything of an entity. */
export async function removeEntity(connection: PostgresConnection, entityId: string): Promise<void> {
  for (let walk = 0; walk < WALKS; walk++) await removeAllPoints(connection, entityId)
}

/** In turn with the writes of the entity, after {@link removeEntity}. */
export function deleteEntity(connection: PostgresConnection, entityId: string): Promise<CommitSequence> {
  return transaction(connection, [removeHistoryOfEntity(entityId), removeLatestOfEntity(entityId)])
}
