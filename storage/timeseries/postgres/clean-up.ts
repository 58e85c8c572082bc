/** What outlived its time (`rule-engine.md` 10.4): whole pieces by the system's time to live, single rows by their own. */
import type { PostgresConnection } from '../../postgres/connection.ts'
import type { Partitions } from './partitions.ts'
import { removeExpired, removeRestBefore } from './removals.ts'

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
  let rowsDeleted = await removeExpired(connection, now)
  if (ttlSeconds === 0) return { partitionsDropped: [], rowsDeleted }
  const oldest = now - ttlSeconds * 1000
  const partitionsDropped = await partitions.dropBefore(oldest)
  rowsDeleted += await removeRestBefore(connection, oldest)
  return { partitionsDropped, rowsDeleted }
}
