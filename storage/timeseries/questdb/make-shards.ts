/** The shards of a table that is new (`shards.ts` says why all of them are made before the first point). */
import { PostgresConnection, type PostgresSettings } from '../../postgres/connection.ts'
import type { AppliedWrites } from './applied.ts'
import { QuestDbErrors } from './errors.ts'
import { KIND } from './rows.ts'
import { quoted } from './schema.ts'
import { literal, type QuestDbServer } from './server.ts'
import { SHARDS } from './shards.ts'

/** "qdbs": held while the shards of a table are made. */
const SHARDS_LOCK = 0x71646273

export interface ShardsOptions {
  readonly server: QuestDbServer
  readonly applied: Pick<AppliedWrites, 'wait'>
  readonly table: string
  /** Where processes that start at the same time wait for each other. */
  readonly postgres: PostgresSettings
}

/**
 * Makes the shards of a table that is new: by one writer, all in one transaction. The rows that name them stay, marked as deleted.
 * Rejects SHARDS_UNFIT, and what the servers say.
 */
export async function ensureShards(options: ShardsOptions): Promise<void> {
  const { server, table, postgres } = options
  if (await hasShards(server, table)) return
  const lock = new PostgresConnection(postgres)
  try {
    // Released with its connection.
    await lock.query({ text: `select pg_advisory_lock(${SHARDS_LOCK})` })
    if (!(await hasShards(server, table))) await makeShards(options)
  } finally {
    await lock.close()
  }
}

async function makeShards({ server, applied, table }: ShardsOptions): Promise<void> {
  const lines = Array.from({ length: SHARDS }, (_, shard) => {
    return `${table},shard=${shard} key=${shard}i,kind=${KIND.DELETED}i 0t\n`
  })
  await server.write(lines.join(''))
  await applied.wait()
  const [row] = await server.query(`select count() from ${quoted(table)} where shard = cast(key as string) and ts = 0`)
  if (row?.[0] === SHARDS) return
  throw QuestDbErrors.SHARDS_UNFIT({ table, reason: `${String(row?.[0])} of ${SHARDS} were stored as they were sent` })
}

async function hasShards(server: QuestDbServer, table: string): Promise<boolean> {
  const sql = `select symbolTableSize from table_columns(${literal(table)}) where "column" = 'shard'`
  const count = Number((await server.query(sql))[0]?.[0] ?? 0)
  if (count !== 0 && count !== SHARDS) {
    throw QuestDbErrors.SHARDS_UNFIT({ table, reason: `there are ${count} and not ${SHARDS}` })
  }
  return count === SHARDS
}
