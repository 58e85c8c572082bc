/**
 * The rows of `ts_kv_latest` that a batch writes. A value's version is (ts, sequence). A write of a user (sequence 0) is the newest
 * at its time: the row then holds the negative of the highest sequence seen, so that a replay up to it is refused and the
 * next message is not.
 */
import type { DataPoint } from '../../../model/value.ts'
import { bigIntArray, intArray, uuidArray } from '../../postgres/binary-array.ts'
import type { PostgresQuery } from '../../postgres/connection.ts'
import type { Component } from '../../postgres/migrations.ts'
import type { PointsWrite } from '../store.ts'
import { borderOf } from './checks.ts'
import { pointOf, VALUE_COLUMNS, VALUE_TABLE_COLUMNS, valueArrays, type ValueRow } from './value-columns.ts'

export const LATEST_VALUES: Component = {
  name: 'latest-values',
  migrations: [
    {
      version: 1,
      statements: [
        // Room on each page, so that an update finds a place beside the row it replaces and touches no index.
        `create table ts_kv_latest (entity_id uuid not null, key integer not null, ts bigint not null,
          ${VALUE_TABLE_COLUMNS}, sequence bigint not null, primary key (entity_id, key)) with (fillfactor = 70)`,
      ],
    },
  ],
}

export interface LatestRow {
  readonly entityId: string
  readonly key: number
  readonly point: DataPoint
  /** Zero or less: a user's write, on top of the sequence whose negative it is. */
  readonly sequence: number
}

/** While the batch is gone through: all but the last point of a series are passed, and cost no object. */
type NewestSoFar = { -readonly [Name in keyof LatestRow]: LatestRow[Name] }

/** The newest of the batch a (entity, key), sorted: writers that meet lock rows in one order. */
export function latestRows(writes: readonly PointsWrite[], keyNumbers: ReadonlyMap<string, number>): LatestRow[] {
  const byEntity = new Map<string, Map<string, NewestSoFar>>()
  for (const { entityId, points, sequence, latest } of writes) {
    if (!latest) continue
    let byKey = byEntity.get(entityId)
    if (byKey === undefined) byEntity.set(entityId, (byKey = new Map<string, NewestSoFar>()))
    for (const point of points) {
      const key = keyNumbers.get(point.key)
      if (key === undefined) throw new RangeError('A key has no number')
      const held = byKey.get(point.key)
      if (held === undefined) byKey.set(point.key, { entityId, key, point, sequence })
      else keepNewer(held, point, sequence)
    }
  }
  const rows: LatestRow[] = [...byEntity.values()].flatMap((byKey) => [...byKey.values()])
  return rows.sort((a, b) => (a.entityId < b.entityId ? -1 : a.entityId > b.entityId ? 1 : a.key - b.key))
}

/** The newer of two points of one batch: they are written together, so a user's write counts as the later of the two. */
function keepNewer(held: NewestSoFar, point: DataPoint, sequence: number): void {
  const base = Math.abs(held.sequence)
  if (point.ts < held.point.ts) return
  if (point.ts > held.point.ts || sequence === 0) {
    held.point = point
    held.sequence = sequence === 0 ? -base : sequence
  } else if (held.sequence <= 0) held.sequence = -Math.max(base, sequence)
  else if (sequence >= base) {
    held.point = point
    held.sequence = sequence
  }
}

/** `rows` is not empty. */
export function upsertLatest(rows: readonly LatestRow[]): PostgresQuery {
  return { name: 'latest-upsert', text: UPSERT, parameters: arraysOf(rows) }
}

/** Leaves the values alone that are there. */
export function putLatestWhereAbsent(rows: readonly LatestRow[]): PostgresQuery {
  return { name: 'latest-put', text: `${INSERT} on conflict (entity_id, key) do nothing`, parameters: arraysOf(rows) }
}

/** All keys, or those with these numbers. Its rows go to {@link latestPoints}. */
export function readLatest(entityId: string, numbers: Buffer | undefined): PostgresQuery {
  const text = `select dictionary.key, ts, ${VALUE_COLUMNS} from ts_kv_latest latest
    join key_dictionary dictionary on dictionary.key_id = latest.key where entity_id = $1`
  return numbers === undefined
    ? { name: 'latest-all', text, parameters: [entityId] }
    : { name: 'latest-named', text: `${text} and latest.key = any($2::integer[])`, parameters: [entityId, numbers] }
}

/** Of many entities. Its rows go to {@link latestOfMany}. */
export function readLatestOfMany(entityIds: readonly string[], numbers: Buffer): PostgresQuery {
  return {
    name: 'latest-many',
    text: `select latest.entity_id::text as entity, dictionary.key, ts, ${VALUE_COLUMNS} from ts_kv_latest latest
      join key_dictionary dictionary on dictionary.key_id = latest.key
      where entity_id = any($1::uuid[]) and latest.key = any($2::integer[])`,
    parameters: [uuidArray(entityIds), numbers],
  }
}

/** Of many entities: one row, `bytes`. */
export function readTextBytes(entityIds: readonly string[], numbers: Buffer): PostgresQuery {
  return {
    name: 'latest-text-bytes',
    text: `select coalesce(sum(octet_length(str_v)), 0)::bigint as bytes from ts_kv_latest
      where entity_id = any($1::uuid[]) and key = any($2::integer[])`,
    parameters: [uuidArray(entityIds), numbers],
  }
}

/** Removes the values whose time lies in [startTs, endTs) and answers them as {@link readLatest} does. */
export function removeLatest(entityId: string, numbers: Buffer, startTs: number, endTs: number): PostgresQuery {
  return {
    name: 'latest-remove',
    text: `delete from ts_kv_latest latest using key_dictionary dictionary
      where dictionary.key_id = latest.key and entity_id = $1 and latest.key = any($2::integer[])
        and ts >= $3 and ts < $4
      returning dictionary.key, ts, ${VALUE_COLUMNS}`,
    parameters: [entityId, numbers, borderOf(startTs), borderOf(endTs)],
  }
}

export function removeLatestOfEntity(entityId: string): PostgresQuery {
  return {
    name: 'latest-remove-entity',
    text: 'delete from ts_kv_latest where entity_id = $1',
    parameters: [entityId],
  }
}

export interface StoredLatest extends ValueRow {
  readonly key: string
  readonly ts: number
}

export interface OwnedLatest extends StoredLatest {
  readonly entity: string
}

/** By entity. */
export function latestOfMany(rows: readonly OwnedLatest[]): ReadonlyMap<string, readonly DataPoint[]> {
  const byEntity = new Map<string, DataPoint[]>()
  for (const row of rows) {
    const held = byEntity.get(row.entity)
    const point = pointOf(row.key, row.ts, row)
    if (held === undefined) byEntity.set(row.entity, [point])
    else held.push(point)
  }
  return byEntity
}

/** Sorted by key. */
export function latestPoints(rows: readonly StoredLatest[]): DataPoint[] {
  return rows.map((row) => pointOf(row.key, row.ts, row)).sort((a, b) => (a.key < b.key ? -1 : 1))
}

function arraysOf(rows: readonly LatestRow[]): Buffer[] {
  return [
    uuidArray(rows.map((row) => row.entityId)),
    intArray(rows.map((row) => row.key)),
    bigIntArray(rows.map((row) => row.point.ts)),
    ...valueArrays(rows.map((row) => row.point)),
    bigIntArray(rows.map((row) => row.sequence)),
  ]
}

const INSERT = `
  insert into ts_kv_latest as stored (entity_id, key, ts, ${VALUE_COLUMNS}, sequence)
  select * from unnest($1::uuid[], $2::integer[], $3::bigint[],
    $4::smallint[], $5::bigint[], $6::double precision[], $7::text[], $8::bigint[])`

const UPSERT = `${INSERT}
  on conflict (entity_id, key) do update set
    ts = excluded.ts, kind = excluded.kind, long_v = excluded.long_v, dbl_v = excluded.dbl_v, str_v = excluded.str_v,
    sequence = case when excluded.sequence <= 0 then -greatest(-excluded.sequence, abs(stored.sequence))
      else excluded.sequence end
  where excluded.ts > stored.ts or (excluded.ts = stored.ts and (excluded.sequence <= 0
    or excluded.sequence >= case when stored.sequence < 0 then 1 - stored.sequence else stored.sequence end))`
