/**
 * What QuestDB cannot do, kept in PostgreSQL beside it: the numbers of commits; deletions, which are laid over what is read, as rows are
 * never removed; and points of times that QuestDB does not hold.
 *
 * A deletion gets a number in the transaction that makes it visible. Each row of QuestDB carries the newest number its writer saw when
 * it began, so a row is hidden by the deletions with a higher number: what was stored before the delete began is, what begins after it
 * was answered is not.
 */
import type { DataPoint } from '../../../model/value.ts'
import { bigIntArray, intArray, uuidArray } from '../../postgres/binary-array.ts'
import { PostgresConnection, resultOf, type PostgresQuery } from '../../postgres/connection.ts'
import { migratePostgres, type Component } from '../../postgres/migrations.ts'
import { openPostgres, type OpenSettings } from '../../postgres/open.ts'
import { borderOf } from '../postgres/checks.ts'
import { KEY_DICTIONARY, KeyDictionary, type KeysInMemory } from '../postgres/key-dictionary.ts'
import { pointOf, VALUE_COLUMNS, VALUE_TABLE_COLUMNS, valueArrays, type ValueRow } from '../postgres/value-columns.ts'
import type { DeleteRange, PointsWrite } from '../store.ts'
import { expiryOf, isInRange } from './rows.ts'

const NEIGHBOUR: Component = {
  name: 'questdb-neighbour',
  migrations: [
    {
      version: 1,
      statements: [
        'create sequence questdb_commit',
        // A sequence that was never called shows the number that its first call will give.
        "select nextval('questdb_commit')",
        'create table questdb_deletion_version (version bigint not null)',
        'insert into questdb_deletion_version values (0)',
        `create table questdb_deletion (entity_id uuid not null, key integer not null, start_ts bigint not null,
          end_ts bigint not null, version bigint not null, primary key (entity_id, key, version))`,
        `create table questdb_far_point (entity_id uuid not null, key integer not null, ts bigint not null,
          ${VALUE_TABLE_COLUMNS}, expires bigint, primary key (entity_id, key, ts))`,
      ],
    },
  ],
}

/** A number of the database: of a commit, or of a deletion. */
export interface CommitRow {
  readonly version: number
}

/** Every commit up to the number of its row is finished. */
export const FINISHED = { name: 'questdb-finished', text: 'select last_value as version from questdb_commit' }

/** Stands for all keys of an entity. */
export const ALL_KEYS = 0

export interface Deletion {
  readonly startTs: number
  readonly endTs: number
  /** Hides rows with a lower one. */
  readonly version: number
}

/** A series with more deletions than a query should name. */
export interface CrowdedSeries {
  /** Its number. */
  readonly key: number
  readonly deletions: readonly Deletion[]
}

/** What a read needs to know before it asks QuestDB. */
export interface ReadBasis {
  /** Every commit up to this one was finished before. */
  readonly sequence: number
  readonly deletions: ReadonlyMap<string, readonly Deletion[]>
  /** Of those keys that have one: the others have no points. */
  readonly numbers: ReadonlyMap<string, number>
}

interface DeletionRow {
  readonly key: number
  readonly start_ts: number
  readonly end_ts: number
  readonly version: number
}

export class PostgresCompanion {
  /** Writes have a connection of their own, so that no read is before them in its line. */
  private readonly writes: PostgresConnection
  private readonly reads: PostgresConnection
  private readonly keys: KeyDictionary

  private constructor(writes: PostgresConnection, reads: PostgresConnection) {
    this.writes = writes
    this.reads = reads
    this.keys = new KeyDictionary(reads)
  }

  /** Raises the schema. Throws `postgres.UNAVAILABLE` where no server answers in time, `postgres.SCHEMA_NEWER`. */
  static async open(settings: OpenSettings, now: number): Promise<PostgresCompanion> {
    const writes = await openPostgres(settings)
    try {
      for (const component of [KEY_DICTIONARY, NEIGHBOUR]) await migratePostgres(writes, component, now)
    } catch (error) {
      await writes.close()
      throw error
    }
    return new PostgresCompanion(writes, new PostgresConnection(settings))
  }

  /** The numbers by which rows name these keys. */
  numbersOf(keys: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
    return this.keys.numbersOf(keys)
  }

  /** Those of them that are in memory. */
  get keysInMemory(): KeysInMemory {
    return this.keys.inMemory
  }

  /** Stores those points of a group that QuestDB does not hold; answers the version its rows are to carry. */
  async begin(writes: readonly PointsWrite[], now: number): Promise<number> {
    const far = writes.filter(({ history, points }) => history && points.some(({ ts }) => !isInRange(ts)))
    const ask = { name: 'questdb-version', text: 'select version from questdb_deletion_version' }
    if (far.length === 0) return versionOf(resultOf((await this.writes.queries<CommitRow>([ask]))[0]).rows)
    const names = new Set(far.flatMap(({ points }) => points.map(({ key }) => key)))
    const upsert = upsertFar(far, await this.keys.numbersOf(names), now)
    const [stored, version] = await this.writes.queries<CommitRow>([upsert, ask])
    resultOf(stored)
    return versionOf(resultOf(version).rows)
  }

  /** The number of a commit that is finished. */
  async commit(): Promise<number> {
    const query = { name: 'questdb-commit', text: "select nextval('questdb_commit') as version" }
    return versionOf((await this.writes.query<CommitRow>(query)).rows)
  }

  /** Every commit up to this number is finished. */
  async finished(): Promise<number> {
    return versionOf((await this.reads.query<CommitRow>(FINISHED)).rows)
  }

  async readBasis(entityId: string, keys: readonly string[]): Promise<ReadBasis> {
    const known = this.keys.known(keys)
    const before = known === undefined ? await this.finished() : undefined
    const numbers = known ?? (await this.keys.find(new Set(keys)))
    const asked = deletionsOf(entityId, [ALL_KEYS, ...numbers.values()])
    const [{ rows: committed }, { rows }] = await this.reads.pair<CommitRow, DeletionRow>(FINISHED, asked)
    const deletions = new Map<string, readonly Deletion[]>()
    for (const key of keys) {
      const number = numbers.get(key)
      const own = rows.filter((row) => row.key === ALL_KEYS || row.key === number)
      if (own.length > 0) deletions.set(key, own.map(deletionOf))
    }
    return { sequence: before ?? versionOf(committed), deletions, numbers }
  }

  /** The points of one key that QuestDB does not hold, ascending, at most `limit`, from the end that `order` names. */
  async farPoints(
    entityId: string,
    key: string,
    range: { readonly startTs: number; readonly endTs: number; readonly limit: number; readonly order: 'ASC' | 'DESC' },
    now: number,
  ): Promise<readonly DataPoint[]> {
    const number = (await this.keys.find(new Set([key]))).get(key)
    if (number === undefined) return []
    const { rows } = await this.reads.query<ValueRow & { readonly ts: number }>({
      name: `questdb-far-${range.order}`,
      text: `select ts, ${VALUE_COLUMNS} from questdb_far_point where entity_id = $1 and key = $2 and ts >= $3 and ts < $4
        and (expires is null or expires > $5) order by ts ${range.order} limit $6`,
      parameters: [entityId, number, borderOf(range.startTs), borderOf(range.endTs), now, range.limit],
    })
    const points = rows.map((row) => pointOf(key, row.ts, row))
    return range.order === 'ASC' ? points : points.reverse()
  }

  /** The keys of these numbers, and of the points that QuestDB does not hold. */
  async keysOf(entityId: string, numbers: readonly number[]): Promise<readonly string[]> {
    const { rows } = await this.reads.query<{ readonly key: string }>({
      name: 'questdb-keys',
      text: `select key from key_dictionary where key_id = any($2::integer[])
        or key_id in (select key from questdb_far_point where entity_id = $1)`,
      parameters: [entityId, intArray(numbers)],
    })
    return rows.map(({ key }) => key)
  }

  /** Resolves when every read that begins now is without the points of the range that were stored before the call. */
  async delete(range: Omit<DeleteRange, 'deleteLatest' | 'rewriteLatest'>): Promise<void> {
    const numbers = await this.keys.numbersOf(new Set(range.keys))
    const keys = intArray([...numbers.values()].sort((a, b) => a - b))
    await this.writes.query({
      name: 'questdb-delete',
      // What an earlier deletion hides, a later one of a range around it hides too.
      text: `with next as (update questdb_deletion_version set version = version + 1 returning version),
        covered as (delete from questdb_deletion where entity_id = $1 and key = any($2::integer[])
          and start_ts >= $3 and end_ts <= $4),
        far as (delete from questdb_far_point where entity_id = $1 and key = any($2::integer[]) and ts >= $3 and ts < $4)
        insert into questdb_deletion select $1, key, $3, $4, version from next, unnest($2::integer[]) key`,
      parameters: [range.entityId, keys, borderOf(range.startTs), borderOf(range.endTs)],
    })
  }

  /** Those of the keys that have more than `limit` deletions of their own, with these. */
  async crowded(entityId: string, keys: readonly string[], limit: number): Promise<readonly CrowdedSeries[]> {
    const numbers = await this.keys.find(new Set(keys))
    const { rows } = resultOf(
      (await this.reads.queries<DeletionRow>([deletionsOf(entityId, [...numbers.values()])]))[0],
    )
    return [...numbers.values()].flatMap((key) => {
      const own = rows.filter((row) => row.key === key)
      return own.length > limit ? [{ key, deletions: own.map(deletionOf) }] : []
    })
  }

  /** Those whose every key is deleted. */
  async deletedEntities(limit: number): Promise<readonly (Deletion & { readonly entityId: string })[]> {
    const { rows } = await this.reads.query<DeletionRow & { readonly entity_id: string }>({
      name: 'questdb-deleted-entities',
      text: `select entity_id, key, start_ts, end_ts, version from questdb_deletion where key = ${ALL_KEYS} order by version limit $1`,
      parameters: [limit],
    })
    return rows.map((row) => ({ ...deletionOf(row), entityId: row.entity_id }))
  }

  /** Forgets these deletions: what they hid is marked in its rows. */
  async forget(entityId: string, { key, deletions }: CrowdedSeries): Promise<void> {
    await this.writes.query({
      name: 'questdb-forget',
      text: 'delete from questdb_deletion where entity_id = $1 and key = $2 and version = any($3::bigint[])',
      parameters: [entityId, key, bigIntArray(deletions.map(({ version }) => version))],
    })
  }

  /** As `delete`, for everything of an entity. */
  async deleteEntity(entityId: string): Promise<void> {
    await this.writes.query({
      name: 'questdb-delete-entity',
      text: `with next as (update questdb_deletion_version set version = version + 1 returning version),
        covered as (delete from questdb_deletion where entity_id = $1),
        far as (delete from questdb_far_point where entity_id = $1)
        insert into questdb_deletion select $1, ${ALL_KEYS}, $2, $3, version from next`,
      parameters: [entityId, borderOf(-Infinity), borderOf(Infinity)],
    })
  }

  async close(): Promise<void> {
    await Promise.all([this.writes.close(), this.reads.close()])
  }
}

export function versionOf(rows: readonly CommitRow[]): number {
  const [row] = rows
  if (row === undefined) throw new RangeError('The database beside QuestDB answers no number')
  return row.version
}

function deletionOf(row: DeletionRow): Deletion {
  return { startTs: row.start_ts, endTs: row.end_ts, version: row.version }
}

function deletionsOf(entityId: string, keys: readonly number[]): PostgresQuery {
  return {
    name: 'questdb-deletions',
    text: `select key, start_ts, end_ts, version from questdb_deletion
      where entity_id = $1 and key = any($2::integer[]) order by version`,
    parameters: [entityId, intArray(keys)],
  }
}

/** One row an identity, the last of the group: one statement may touch a row once only. */
function upsertFar(writes: readonly PointsWrite[], numbers: ReadonlyMap<string, number>, now: number): PostgresQuery {
  const byIdentity = new Map<string, { entityId: string; key: number; point: DataPoint; expires: number | null }>()
  for (const write of writes) {
    const expires = expiryOf(write, now)
    for (const point of write.points) {
      const key = numbers.get(point.key)
      if (isInRange(point.ts) || key === undefined) continue
      byIdentity.set(`${write.entityId} ${key} ${point.ts}`, { entityId: write.entityId, key, point, expires })
    }
  }
  const rows = [...byIdentity.values()]
  const points = rows.map(({ point }) => point)
  return {
    name: 'questdb-far-upsert',
    text: UPSERT_FAR,
    parameters: [
      uuidArray(rows.map(({ entityId }) => entityId)),
      intArray(rows.map(({ key }) => key)),
      bigIntArray(points.map(({ ts }) => ts)),
      ...valueArrays(points),
      bigIntArray(rows.map(({ expires }) => expires)),
    ],
  }
}

/** Sorted, so that writers that meet lock rows in one order. */
const UPSERT_FAR = `
  insert into questdb_far_point (entity_id, key, ts, ${VALUE_COLUMNS}, expires)
  select * from unnest($1::uuid[], $2::integer[], $3::bigint[],
    $4::smallint[], $5::bigint[], $6::double precision[], $7::text[], $8::bigint[]) order by 1, 2, 3
  on conflict (entity_id, key, ts) do update set kind = excluded.kind, long_v = excluded.long_v,
    dbl_v = excluded.dbl_v, str_v = excluded.str_v, expires = excluded.expires`
