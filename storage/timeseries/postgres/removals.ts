/**
 * Removals of many rows, so many at a time: bounds the locks of a statement and how long it runs. Each statement finds its end by
 * the index that it then walks, so the cost is that of the rows that go.
 */
import type { PostgresConnection, PostgresQuery } from '../../postgres/connection.ts'
import { borderOf } from './checks.ts'

const ROWS_AT_ONCE = 20_000

/** One key's history from start to before end. */
export async function removePoints(
  connection: PostgresConnection,
  entityId: string,
  key: number,
  startTs: number,
  endTs: number,
): Promise<void> {
  await repeat(connection, {
    name: 'points-remove',
    text: `delete from ts_kv where entity_id = $1 and key = $2 and ts >= $3 and ts < coalesce((
        select ts from ts_kv where entity_id = $1 and key = $2 and ts >= $3 and ts < $4
        order by ts offset ${ROWS_AT_ONCE} limit 1
      ), $4::bigint)`,
    parameters: [entityId, key, borderOf(startTs), borderOf(endTs)],
  })
}

/** The whole history of an entity, key by key. */
export async function removeAllPoints(connection: PostgresConnection, entityId: string): Promise<void> {
  for (;;) {
    const { rows } = await connection.query<{ key: number }>({
      name: 'points-any-key',
      text: 'select key from ts_kv where entity_id = $1 order by key limit 1',
      parameters: [entityId],
    })
    const [row] = rows
    if (row === undefined) return
    await removePoints(connection, entityId, row.key, -Infinity, Infinity)
  }
}

/** Rows that outlived their time. Resolves with how many went. */
export function removeExpired(connection: PostgresConnection, now: number): Promise<number> {
  return repeat(connection, {
    text: `delete from ts_kv where expires_at <= least($1, (
        select expires_at from ts_kv where expires_at <= $1 order by expires_at offset ${ROWS_AT_ONCE} limit 1
      ))`,
    parameters: [now],
  })
}

/** Rows of the default piece that are older. Resolves with how many went. */
export function removeRestBefore(connection: PostgresConnection, ts: number): Promise<number> {
  return repeat(connection, {
    text: `delete from ts_kv_rest where ts < $1
        and ctid = any(array(select ctid from ts_kv_rest where ts < $1 limit ${ROWS_AT_ONCE}))`,
    parameters: [borderOf(ts)],
  })
}

async function repeat(connection: PostgresConnection, removal: PostgresQuery): Promise<number> {
  let removed = 0
  for (;;) {
    const { count } = await connection.query(removal)
    removed += count
    if (count < ROWS_AT_ONCE) return removed
  }
}
