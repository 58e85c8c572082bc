/** The rows of `ts_kv` that a batch writes, and their removal. */
import type { DataPoint } from '../../../model/value.ts'
import { bigIntArray, intArray, uuidArray } from '../../postgres/binary-array.ts'
import type { PostgresQuery } from '../../postgres/connection.ts'
import type { Component } from '../../postgres/migrations.ts'
import type { PointsWrite } from '../store.ts'
import { borderOf } from './checks.ts'
import { VALUE_COLUMNS, VALUE_TABLE_COLUMNS, valueArrays } from './value-columns.ts'

export const HISTORY: Component = {
  name: 'history',
  migrations: [
    {
      version: 1,
      statements: [
        `create table ts_kv (entity_id uuid not null, key integer not null, ts bigint not null, ${VALUE_TABLE_COLUMNS},
          expires_at bigint, primary key (entity_id, key, ts)) partition by range (ts)`,
        'create index ts_kv_expires on ts_kv (expires_at) where expires_at is not null',
        'create table ts_kv_rest partition of ts_kv default',
      ],
    },
  ],
}

export interface HistoryRow {
  readonly entityId: string
  readonly key: number
  readonly point: DataPoint
  /** Unix ms; null keeps for ever. */
  readonly expiresAt: number | null
}

/** Sorted, and of one (entity, key, ts) the last alone: one statement touches a row once, and writers lock in one order. */
export function historyRows(
  writes: readonly PointsWrite[],
  keyNumbers: ReadonlyMap<string, number>,
  now: number,
): HistoryRow[] {
  const rows: HistoryRow[] = []
  for (const { entityId, points, ttlSeconds, history } of writes) {
    if (!history) continue
    const expiresAt = ttlSeconds === 0 ? null : now + ttlSeconds * 1000
    for (const point of points) {
      const key = keyNumbers.get(point.key)
      if (key === undefined) throw new RangeError('A key has no number')
      rows.push({ entityId, key, point, expiresAt })
    }
  }
  // The sort is stable: of equal rows the last is the last written.
  rows.sort(compare)
  return rows.filter((row, index) => {
    const next = rows[index + 1]
    return next === undefined || compare(row, next) !== 0
  })
}

function compare(a: HistoryRow, b: HistoryRow): number {
  if (a.entityId !== b.entityId) return a.entityId < b.entityId ? -1 : 1
  return a.key - b.key || a.point.ts - b.point.ts
}

/** `rows` is not empty. */
export function upsertHistory(rows: readonly HistoryRow[]): PostgresQuery {
  return {
    name: 'history-upsert',
    text: UPSERT,
    parameters: [
      uuidArray(rows.map((row) => row.entityId)),
      intArray(rows.map((row) => row.key)),
      bigIntArray(rows.map((row) => row.point.ts)),
      ...valueArrays(rows.map((row) => row.point)),
      bigIntArray(rows.map((row) => row.expiresAt)),
    ],
  }
}

const UPSERT = `
  insert into ts_kv (entity_id, key, ts, ${VALUE_COLUMNS}, expires_at)
  select * from unnest($1::uuid[], $2::integer[], $3::bigint[],
    $4::smallint[], $5::bigint[], $6::double precision[], $7::text[], $8::bigint[])
  on conflict (entity_id, key, ts) do update set kind = excluded.kind, long_v = excluded.long_v,
    dbl_v = excluded.dbl_v, str_v = excluded.str_v, expires_at = excluded.expires_at`

/** Of several keys, from start to before end. */
export function removeHistory(entityId: string, numbers: Buffer, startTs: number, endTs: number): PostgresQuery {
  return {
    name: 'history-remove',
    text: 'delete from ts_kv where entity_id = $1 and key = any($2::integer[]) and ts >= $3 and ts < $4',
    parameters: [entityId, numbers, borderOf(startTs), borderOf(endTs)],
  }
}

export function removeHistoryOfEntity(entityId: string): PostgresQuery {
  return {
    name: 'history-remove-entity',
    text: 'delete from ts_kv where entity_id = $1',
    parameters: [entityId],
  }
}
