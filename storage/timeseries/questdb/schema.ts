/**
 * The table in QuestDB and the server's settings that the store's promises stand on. Both are checked at every open and while it runs: a
 * table that was dropped would be made anew by the next line without deduplication, and nobody would be told.
 */
import { QuestDbErrors } from './errors.ts'
import { literal, type QuestDbServer, type Row } from './server.ts'
import { SHARDS } from './shards.ts'

export const PARTITIONS = ['HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'] as const
export type Partition = (typeof PARTITIONS)[number]

export interface TableOptions {
  readonly table: string
  readonly partitionBy: Partition
  /** Seconds after which whole partitions go; 0 keeps for ever. */
  readonly ttlSeconds: number
}

/** Name, type and whether it is part of a row's identity. */
const COLUMNS: readonly (readonly [string, string, boolean])[] = [
  ['ts', 'TIMESTAMP', true],
  ['shard', 'SYMBOL', false],
  ['entity', 'UUID', true],
  ['key', 'INT', true],
  ['kind', 'BYTE', false],
  ['long_v', 'LONG', false],
  ['dbl_v', 'DOUBLE', false],
  ['text_v', 'VARCHAR', false],
  ['version', 'LONG', false],
  ['expires', 'LONG', false],
]

const SECONDS: Readonly<Record<Partition, number>> = {
  HOUR: 3600,
  DAY: 86_400,
  WEEK: 7 * 86_400,
  MONTH: 28 * 86_400,
  YEAR: 365 * 86_400,
}

/** Makes the table where it is absent. Throws SCHEMA_UNKNOWN where it is there and differs. */
export async function ensureTable(server: QuestDbServer, options: TableOptions): Promise<void> {
  const { table, partitionBy } = options
  // The shard's index finds the rows of one entity among those of all (`shards.ts`); a key is a number of the dictionary in PostgreSQL.
  await server.execute(
    `create table if not exists ${quoted(table)} (ts timestamp, shard symbol capacity ${2 * SHARDS} cache index,
      entity uuid, key int, kind byte, long_v long, dbl_v double, text_v varchar, version long, expires long)
      timestamp(ts) partition by ${partitionBy} wal dedup upsert keys(ts, entity, key)`,
  )
  const fault = await tableFault(server, table)
  if (fault !== undefined) throw QuestDbErrors.SCHEMA_UNKNOWN({ table, reason: fault })
}

/** What is wrong with the table, if anything. */
export async function tableFault(server: Pick<QuestDbServer, 'query'>, table: string): Promise<string | undefined> {
  const [found] = await server.query(
    `select walEnabled, designatedTimestamp from tables() where table_name = ${literal(table)}`,
  )
  if (found === undefined) return 'it is absent'
  if (found[0] !== true) return 'it has no write-ahead log'
  if (found[1] !== 'ts') return `its designated timestamp is ${String(found[1])}`
  const columns = await server.query(`select "column", "type", upsertKey from table_columns(${literal(table)})`)
  return columnFault(columns)
}

function columnFault(columns: readonly Row[]): string | undefined {
  // Of the columns, not of tables(): two answers of a table that is being changed may differ.
  if (!columns.some(([, , isKey]) => isKey === true)) return 'it has no deduplication'
  const byName = new Map(columns.map(([name, type, isKey]) => [name, { type, isKey }]))
  for (const [name, type, isKey] of COLUMNS) {
    const found = byName.get(name)
    if (found === undefined) return `the column ${name} is absent`
    if (found.type !== type) return `the column ${name} is ${String(found.type)}, not ${type}`
    if (found.isKey !== isKey) return `the column ${name} ${isKey ? 'is no' : 'is a'} key of the deduplication`
  }
  const known = new Set(COLUMNS.map(([name]) => name))
  const extraKey = columns.find(([name, , isKey]) => isKey === true && !known.has(String(name)))
  return extraKey === undefined ? undefined : `the column ${String(extraKey[0])} is a key of the deduplication`
}

/** Not before its shards are made. */
export async function setTimeToLive(server: QuestDbServer, { table, ttlSeconds }: TableOptions): Promise<void> {
  const [found] = await server.query(
    `select partitionBy, ttlValue, ttlUnit from tables() where table_name = ${literal(table)}`,
  )
  const unit = PARTITIONS.find((partition) => partition === found?.[0]) ?? 'DAY'
  const count = Math.ceil(ttlSeconds / SECONDS[unit])
  if (found?.[1] === count && (count === 0 || found[2] === unit)) return
  await server.execute(`alter table ${quoted(table)} set ttl ${count} ${unit}`)
}

/** What the server is set to. Throws NOT_DURABLE, TTL_UNSAFE. */
export async function checkSettings(
  server: QuestDbServer,
  options: { readonly durability: 'power-cut' | 'process-death'; readonly ttlSeconds: number },
): Promise<void> {
  const rows = await server.query(
    "select property_path, value from (show parameters) where property_path in ('cairo.commit.mode', 'cairo.ttl.use.wall.clock')",
  )
  const settings = new Map(rows.map(([name, value]) => [name, value]))
  const mode = settings.get('cairo.commit.mode') ?? 'unknown'
  if (options.durability === 'power-cut' && mode !== 'sync') {
    throw QuestDbErrors.NOT_DURABLE({ url: server.name, mode })
  }
  if (options.ttlSeconds > 0 && settings.get('cairo.ttl.use.wall.clock') !== 'true') {
    throw QuestDbErrors.TTL_UNSAFE({ url: server.name })
  }
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
