/** Typed values in the columns of `ts_kv` and `ts_kv_latest`: one of the value columns is set, `kind` says what it means. */
import type { DataPoint, TypedValue, ValueType } from '../../../model/value.ts'
import { bigIntArray, doubleArray, smallIntArray, textArray } from '../../postgres/binary-array.ts'

export const KIND: Readonly<Record<ValueType, number>> = { BOOLEAN: 1, LONG: 2, DOUBLE: 3, STRING: 4, JSON: 5 }

export const VALUE_COLUMNS = 'kind, long_v, dbl_v, str_v'
export const VALUE_TABLE_COLUMNS = 'kind smallint not null, long_v bigint, dbl_v double precision, str_v text'

export interface ValueRow {
  readonly kind: number
  readonly long_v: number | bigint | null
  readonly dbl_v: number | null
  readonly str_v: string | null
}

/** Four arrays, in the order of {@link VALUE_COLUMNS}. */
export function valueArrays(points: readonly TypedValue[]): Buffer[] {
  const kinds: number[] = []
  const longs: (number | bigint | null)[] = []
  const doubles: (number | null)[] = []
  const texts: (string | null)[] = []
  for (const point of points) {
    kinds.push(KIND[point.type])
    longs.push(point.type === 'LONG' ? point.value : point.type === 'BOOLEAN' ? Number(point.value) : null)
    doubles.push(point.type === 'DOUBLE' ? point.value : null)
    texts.push(point.type === 'STRING' || point.type === 'JSON' ? point.value : null)
  }
  return [smallIntArray(kinds), bigIntArray(longs), doubleArray(doubles), textArray(texts)]
}

export function pointOf(key: string, ts: number, row: ValueRow): DataPoint {
  switch (row.kind) {
    case KIND.BOOLEAN:
      return { key, ts, type: 'BOOLEAN', value: row.long_v === 1 }
    case KIND.LONG:
      return { key, ts, type: 'LONG', value: row.long_v ?? 0 }
    case KIND.DOUBLE:
      return { key, ts, type: 'DOUBLE', value: row.dbl_v ?? 0 }
    case KIND.STRING:
      return { key, ts, type: 'STRING', value: row.str_v ?? '' }
    default:
      return { key, ts, type: 'JSON', value: row.str_v ?? 'null' }
  }
}
