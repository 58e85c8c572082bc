/** Deletes of ranges and of whole entities, each one transaction. */
import { intArray } from '../../postgres/binary-array.ts'
import { resultOf, type PostgresConnection, type PostgresQuery } from '../../postgres/connection.ts'
import { TRANSACTION_ID } from '../../postgres/snapshot-reads.ts'
import type { CommitSequence, DeletedKeys, DeleteRange } from '../store.ts'
import { removeHistory, removeHistoryOfEntity } from './history-rows.ts'
import { removeLatest, removeLatestOfEntity, type StoredLatest } from './latest-rows.ts'
import { pointOf, VALUE_COLUMNS } from './value-columns.ts'
import { borderOf } from './checks.ts'

export interface Deletion {
  readonly deleted: DeletedKeys
  readonly commit: CommitSequence
}

/** `keys` are those of the range that have a number. */
export async function deleteRange(
  connection: PostgresConnection,
  range: DeleteRange,
  keys: ReadonlyMap<string, number>,
  now: number,
): Promise<Deletion> {
  const { entityId, startTs, endTs } = range
  const numbers = intArray([...keys.values()])
  const removing = [
    { text: 'begin' },
    TRANSACTION_ID,
    removeHistory(entityId, numbers, startTs, endTs),
    ...(range.deleteLatest ? [removeLatest(entityId, numbers, startTs, endTs)] : []),
  ]
  try {
    const [, id, , removed] = (await connection.queries<StoredLatest & { id: number }>(removing)).map(resultOf)
    const removedKeys = (removed?.rows ?? []).map(({ key }) => key).sort()
    const removedNumbers = removedKeys.flatMap((key) => keys.get(key) ?? [])
    const rewriting = range.rewriteLatest && removedNumbers.length > 0
    const finishing = rewriting ? [putOlder(entityId, removedNumbers, startTs, now)] : []
    const outcomes = await connection.queries<StoredLatest>([...finishing, { text: 'commit' }])
    const results = outcomes.map(resultOf)
    const put = rewriting ? (results[0]?.rows ?? []) : []
    const replacements = new Map(put.map((row) => [row.key, pointOf(row.key, row.ts, row)]))
    const latestRemoved = removedKeys.map((key) => ({ key, replacement: replacements.get(key) }))
    return { deleted: { latestRemoved }, commit: id?.rows[0]?.id ?? 0 }
  } catch (error) {
    // Where the connection is lost, so is the transaction.
    await connection.query({ text: 'rollback' }).catch(() => undefined)
    throw error
  }
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

export function removeEntity(entityId: string): readonly PostgresQuery[] {
  return [removeHistoryOfEntity(entityId), removeLatestOfEntity(entityId)]
}
