/**
 * Latest values in PostgreSQL: the condition that a value never goes back in time is checked in the write itself. A batch is
 * reduced to one row a key before it is sent, and is one statement.
 */
import type { DataPoint } from '../../../model/value.ts'
import { intArray } from '../../postgres/binary-array.ts'
import { PostgresConnection, type PostgresQuery } from '../../postgres/connection.ts'
import { migratePostgres } from '../../postgres/migrations.ts'
import { openPostgres, type OpenSettings } from '../../postgres/open.ts'
import type { LatestValues, ReadAfter } from '../latest-values.ts'
import type { PointsWrite } from '../store.ts'
import { checkWrites, isEntity } from './checks.ts'
import { KEY_DICTIONARY, KeyDictionary } from './key-dictionary.ts'
import {
  latestOfMany,
  latestPoints,
  type OwnedLatest,
  readLatestOfMany,
  readLatest,
  readTextBytes,
  removeLatest,
  removeLatestOfEntity,
  type StoredLatest,
  LATEST_VALUES,
  latestRows,
  putLatestWhereAbsent,
  upsertLatest,
} from './latest-rows.ts'

export interface PostgresLatestOptions extends OpenSettings {
  readonly clock: { now(): number }
  /** Statements that may run at the same time; each has a connection. */
  readonly connections?: number
}

const CONNECTIONS = 4

/** Raises the schema and connects. Throws `postgres.UNAVAILABLE` where no server answers in time, `postgres.SCHEMA_NEWER`. */
export async function openPostgresLatestValues(options: PostgresLatestOptions): Promise<LatestValues> {
  const first = await openPostgres(options)
  try {
    for (const component of [KEY_DICTIONARY, LATEST_VALUES])
      await migratePostgres(first, component, options.clock.now())
  } catch (error) {
    await first.close()
    throw error
  }
  const others = Array.from({ length: (options.connections ?? CONNECTIONS) - 1 }, () => new PostgresConnection(options))
  return new PostgresLatestValues([first, ...others])
}

export class PostgresLatestValues implements LatestValues {
  private readonly connections: readonly [PostgresConnection, ...PostgresConnection[]]
  private readonly keys: KeyDictionary

  constructor(connections: readonly [PostgresConnection, ...PostgresConnection[]]) {
    this.connections = connections
    this.keys = new KeyDictionary(connections[0])
  }

  async write(writes: readonly PointsWrite[]): Promise<void> {
    checkWrites(writes)
    const keys = new Set<string>()
    for (const write of writes) if (write.latest) for (const point of write.points) keys.add(point.key)
    if (keys.size === 0) return
    const rows = latestRows(writes, await this.keys.numbersOf(keys))
    await this.idlest().query(upsertLatest(rows))
  }

  async read(entityId: string, keys: readonly string[] | undefined): Promise<readonly DataPoint[]> {
    if (!isEntity(entityId)) return []
    const query = readLatest(entityId, keys === undefined ? undefined : await this.numbers(keys))
    const { rows } = await this.idlest().query<StoredLatest>(query)
    return latestPoints(rows)
  }

  async readAfter<Row>(
    first: PostgresQuery,
    entityId: string,
    keys: readonly string[] | undefined,
  ): Promise<ReadAfter<Row, readonly DataPoint[]>> {
    if (!isEntity(entityId)) return { rows: (await this.idlest().query<Row>(first)).rows, value: [] }
    const { rows, value } =
      keys === undefined
        ? await this.together<Row, StoredLatest>(first, readLatest(entityId, undefined))
        : await this.after<Row, StoredLatest>(first, keys, (numbers) => readLatest(entityId, numbers))
    return { rows, value: latestPoints(value) }
  }

  async readManyAfter<Row>(
    first: PostgresQuery,
    entityIds: readonly string[],
    keys: readonly string[],
  ): Promise<ReadAfter<Row, ReadonlyMap<string, readonly DataPoint[]>>> {
    const own = entityIds.filter(isEntity)
    const { rows, value } = await this.after<Row, OwnedLatest>(first, keys, (numbers) => readLatestOfMany(own, numbers))
    return { rows, value: latestOfMany(value) }
  }

  async textBytes(entityIds: readonly string[], key: string): Promise<number> {
    const query = readTextBytes(entityIds.filter(isEntity), await this.numbers([key]))
    const { rows } = await this.idlest().query<{ bytes: number | bigint }>(query)
    return Number(rows[0]?.bytes ?? 0)
  }

  async removeWithin(
    entityId: string,
    keys: readonly string[],
    startTs: number,
    endTs: number,
  ): Promise<readonly DataPoint[]> {
    if (!isEntity(entityId)) return []
    const query = removeLatest(entityId, await this.numbers(keys), startTs, endTs)
    const { rows } = await this.idlest().query<StoredLatest>(query)
    return latestPoints(rows)
  }

  async replace(entityId: string, point: DataPoint): Promise<void> {
    const write = { entityId, points: [point], sequence: 0, ttlSeconds: 0, history: false, latest: true }
    checkWrites([write])
    const rows = latestRows([write], await this.keys.numbersOf(new Set([point.key])))
    await this.idlest().query(putLatestWhereAbsent(rows))
  }

  async removeEntity(entityId: string): Promise<void> {
    if (!isEntity(entityId)) return
    await this.idlest().query(removeLatestOfEntity(entityId))
  }

  async close(): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.close()))
  }

  /** In one go where the numbers of the keys are known. Where one is not the key may get it meanwhile, with a value that `first` knows of. */
  private async after<Row, Found>(
    first: PostgresQuery,
    keys: readonly string[],
    ask: (numbers: Buffer) => PostgresQuery,
  ): Promise<ReadAfter<Row, readonly Found[]>> {
    const known = this.keys.known(keys)
    if (known !== undefined) return this.together(first, ask(intArray([...known.values()])))
    const { rows } = await this.idlest().query<Row>(first)
    return { rows, value: (await this.idlest().query<Found>(ask(await this.numbers(keys)))).rows }
  }

  private async together<Row, Found>(
    first: PostgresQuery,
    query: PostgresQuery,
  ): Promise<ReadAfter<Row, readonly Found[]>> {
    const [before, found] = await this.idlest().pair<Row, Found>(first, query)
    return { rows: before.rows, value: found.rows }
  }

  private async numbers(keys: readonly string[]): Promise<Buffer> {
    return intArray([...(await this.keys.find(new Set(keys))).values()])
  }

  private idlest(): PostgresConnection {
    let best = this.connections[0]
    for (const connection of this.connections) if (connection.unanswered < best.unanswered) best = connection
    return best
  }
}
