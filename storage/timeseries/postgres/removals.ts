/**
 * Removals of many rows, so many at a time: bounds the locks of a statement and how long it runs. Each statement finds its end by
 * the index that it then walks, so the cost is that of the rows that go.
 */
import type { PostgresConnection, PostgresQuery, PostgresResult } from '../../postgres/connection.ts'
import { postgresError } from '../../postgres/errors.ts'
import { borderOf } from './checks.ts'

const ROWS_AT_ONCE = 20_000
/** Of a piece that met a writer's transaction. */
const MAX_ATTEMPTS = 5

/** One key's history from start to before end, each piece behind the one before it: what went is not walked over again. */
export async function removePoints(
  connection: PostgresConnection,
  entityId: string,
  key: number,
  startTs: number,
  endTs: number,
): Promise<void> {
  let start: number | undefined = borderOf(startTs)
  while (start !== undefined) {
    const { rows }: PostgresResult<{ ts: number }> = await asked(connection, {
      name: 'points-remove',
      text: `with border as materialized (
          select ts from ts_kv where entity_id = $1 and key = $2 and ts >= $3 and ts < $4
          order by ts offset ${ROWS_AT_ONCE} limit 1
        ), gone as (
          delete from ts_kv
          where entity_id = $1 and key = $2 and ts >= $3 and ts < coalesce((select ts from border), $4::bigint)
        )
        select ts from border`,
      parameters: [entityId, key, start, borderOf(endTs)],
    })
    start = rows[0]?.ts
  }
}

/** The whole history of an entity, key by key. */
export async function removeAllPoints(connection: PostgresConnection, entityId: string): Promise<void> {
  let key = -1
  for (;;) {
    const { rows } = await asked<{ key: number }>(connection, {
      name: 'points-next-key',
      text: 'select key from ts_kv where entity_id = $1 and key > $2 order by key limit 1',
      parameters: [entityId, key],
    })
    const [row] = rows
    if (row === undefined) return
    key = row.key
    await removePoints(connection, entityId, key, -Infinity, Infinity)
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
    const { count } = await asked(connection, removal)
    removed += count
    if (count < ROWS_AT_ONCE) return removed
  }
}

async function asked<Row>(connection: PostgresConnection, removal: PostgresQuery): Promise<PostgresResult<Row>> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await connection.query<Row>(removal)
    } catch (error) {
      const failure = postgresError(error)
      if (failure.code !== 'postgres.CONFLICT' || attempt === MAX_ATTEMPTS) throw failure
    }
  }
}
