/**
 * What the store must know of an entity's table. Every such table has `id`, `created_time`, `version` and `tenant_id` (the null id for
 * what belongs to the system); the rest is declared. Both databases' statements follow from it.
 */
import type { BulkColumn, SqlValue } from '../database.ts'

export type DatabaseLanguage = 'sqlite' | 'postgres'

export type ColumnType = BulkColumn['type']

export interface TableColumn {
  readonly name: string
  readonly type: ColumnType
  readonly isNullable: boolean
  /** The table that a value names a row of; the row can not go while this one is there, unless it goes too. */
  readonly references?: { readonly table: string; readonly whenDeleted: 'refuse' | 'delete' }
  /** The version of the table that has it first; 1 when absent. */
  readonly since?: number
  /** With `since`: SQL for the rows that were there before, as `update … set column =` takes it. */
  readonly filledBy?: string
}

export interface EntityTable {
  readonly name: string
  /** 1, and one more for each later group of columns or indexes: what was released stays as it was. */
  readonly version: number
  /** Whether the schema of the first releases made it, with the columns of version 1. */
  readonly isInherited?: boolean
  /** With `isInherited`: the version that has `tenant_id` first. Rows of before are the system's. */
  readonly tenantIdSince?: number
  /** The version from which `tenant_count` says how many rows each tenant has. */
  readonly countedSince?: number
  /** The version from which those numbers go with a row of this table, which is the tenants'. */
  readonly forgetsCountsSince?: number
  /** The version from which the index by tenant and time that every table begins with is replaced by one of {@link indexes}. */
  readonly byTimeUntil?: number
  readonly columns: readonly TableColumn[]
  readonly unique: readonly TableIndex[]
  /** For lists, beside those that every table has by tenant. */
  readonly indexes: readonly TableIndex[]
}

export interface TableIndex {
  readonly columns: readonly string[]
  /** SQL: only rows of which this holds are in it. */
  readonly where?: string
  /** An absent text is in it as '': entity queries sort it so. */
  readonly absentIsEmpty?: boolean
  readonly since?: number
  /** The version that has it no more: another took its place. */
  readonly until?: number
}

/** Column to value. */
export type Row = Readonly<Record<string, SqlValue>>

export const COMMON_COLUMNS: readonly TableColumn[] = [
  { name: 'id', type: 'text', isNullable: false },
  { name: 'created_time', type: 'integer', isNullable: false },
  { name: 'version', type: 'integer', isNullable: false },
  { name: 'tenant_id', type: 'text', isNullable: false },
]

export function allColumns(table: EntityTable): readonly TableColumn[] {
  return [...COMMON_COLUMNS, ...table.columns]
}
