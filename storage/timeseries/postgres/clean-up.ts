/** What outlived its time (`rule-engine.md` 10.4): whole pieces by the system's time to live, single rows by their own. */
import type { PostgresConnection, PostgresQuery } from '../../postgres/connection.ts'
import { removeExpired, removeRestBefore } from './history-rows.ts'
import type { Partitions } from './partitions.ts'

/** Rows of one statement: bounds its locks and how long it runs. */
const ROWS_AT_ONCE = 10_000

export interface CleanedUp {
  readonly partitionsDropped: readonly string[]
  readonly rowsDeleted: number
}

/** `ttlSeconds` 0 keeps what has no time of its own. Several processes may do it at once. Rejects with one of `PostgresErrors`. */
export async function cleanUp(
  connection: PostgresConnection,
  partitions: Partitions,
  ttlSeconds: number,
  now: number,
): Promise<CleanedUp> {
  let rowsDeleted = await repeat(connection, removeExpired(now, ROWS_AT_ONCE))
  if (ttlSeconds === 0) return { partitionsDropped: [], rowsDeleted }
  const oldest = now - ttlSeconds * 1000
  const partitionsDropped = await partitions.dropBefore(oldest)
  rowsDeleted += await repeat(connection, removeRestBefore(oldest, ROWS_AT_ONCE))
  return { partitionsDropped, rowsDeleted }
}

async function repeat(connection: PostgresConnection, query: PostgresQuery): Promise<number> {
  let deleted = 0
  for (;;) {
    const { count } = await connection.query(query)
    deleted += count
    if (count < ROWS_AT_ONCE) return deleted
  }
}
