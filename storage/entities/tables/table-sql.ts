/** The statements that make a table and raise it from version to version, in the words of each database. */
import { NULL_UUID } from '../../../model/entity-id.ts'
import { countingRows, forgettingCounts } from './count-triggers.ts'
import {
  COMMON_COLUMNS,
  type DatabaseLanguage,
  type EntityTable,
  type TableColumn,
  type TableIndex,
} from './entity-table.ts'

const TENANT_ID: TableColumn = { name: 'tenant_id', type: 'text', isNullable: false, filledBy: `'${NULL_UUID}'` }

export interface TableMigration {
  readonly version: number
  readonly statements: readonly string[]
}

const TYPES: Readonly<Record<DatabaseLanguage, Readonly<Record<TableColumn['type'], string>>>> = {
  sqlite: { text: 'text', integer: 'integer', double: 'real' },
  // Text sorts by its bytes, as in SQLite, whatever the database's own collation is.
  postgres: { text: 'text collate "C"', integer: 'bigint', double: 'double precision' },
}

/** One step a version, in order. */
export function tableMigrations(table: EntityTable, language: DatabaseLanguage): readonly TableMigration[] {
  return Array.from({ length: table.version }, (_, index) => {
    const version = index + 1
    const statements = version === 1 ? creation(table, language) : addition(table, version, language)
    return { version, statements: [...statements, ...indexes(table, version), ...counts(table, version, language)] }
  })
}

function creation(table: EntityTable, language: DatabaseLanguage): readonly string[] {
  if (table.isInherited === true) return []
  const columns = [...COMMON_COLUMNS, ...table.columns.filter((column) => since(column) === 1)]
  const parts = columns.map((column) => definitionOf(column, language))
  return [`create table ${table.name} (${parts.join(', ')})`]
}

function addition(table: EntityTable, version: number, language: DatabaseLanguage): readonly string[] {
  const added = table.columns.filter((column) => since(column) === version)
  if (table.tenantIdSince === version) added.unshift(TENANT_ID)
  return added.flatMap((column) => {
    const steps = [`alter table ${table.name} add column ${definitionOf({ ...column, isNullable: true }, language)}`]
    if (column.filledBy !== undefined) steps.push(`update ${table.name} set ${column.name} = ${column.filledBy}`)
    return steps
  })
}

function indexes(table: EntityTable, version: number): readonly string[] {
  const byTime: TableIndex = { columns: ['tenant_id', 'created_time'], ...untilOf(table) }
  const own = table.isInherited === true ? [] : [byTime]
  const listed = [...own, ...table.indexes]
  return [
    ...table.unique.filter((index) => isNew(index, table, version)).map((index) => indexOf(table, index, 'unique ')),
    ...listed.filter((index) => isNew(index, table, version)).map((index) => indexOf(table, index, '')),
    // After what takes its place: a list is never without.
    ...listed.filter(({ until }) => until === version).map((index) => `drop index ${nameOf(table, index)}`),
  ]
}

function untilOf({ byTimeUntil }: EntityTable): Pick<TableIndex, 'until'> {
  return byTimeUntil === undefined ? {} : { until: byTimeUntil }
}

function counts(table: EntityTable, version: number, language: DatabaseLanguage): readonly string[] {
  return [
    ...(table.countedSince === version ? countingRows(table.name, language) : []),
    ...(table.forgetsCountsSince === version ? forgettingCounts(language) : []),
  ]
}

function isNew(index: TableIndex, table: EntityTable, version: number): boolean {
  const first = index.since ?? 1
  return first === version && !(table.isInherited === true && first === 1)
}

function nameOf(table: EntityTable, { columns }: TableIndex): string {
  return `${table.name}_${columns.join('_')}`
}

function indexOf(table: EntityTable, index: TableIndex, kind: '' | 'unique '): string {
  const { columns, where, absentIsEmpty } = index
  const only = where === undefined ? '' : ` where ${where}`
  const mayBeAbsent = (name: string): boolean =>
    table.columns.some((column) => column.name === name && column.isNullable && column.type === 'text')
  const indexed = columns.map((name) =>
    absentIsEmpty === true && mayBeAbsent(name) ? `(coalesce(${name}, ''))` : name,
  )
  return `create ${kind}index ${nameOf(table, index)} on ${table.name} (${indexed.join(', ')})${only}`
}

function definitionOf({ name, type, isNullable, references }: TableColumn, language: DatabaseLanguage): string {
  const parts = [name, TYPES[language][type]]
  if (name === 'id') parts.push('primary key')
  else if (!isNullable) parts.push('not null')
  if (references !== undefined) {
    parts.push(`references ${references.table}(id)`)
    if (references.whenDeleted === 'delete') parts.push('on delete cascade')
  }
  return parts.join(' ')
}

function since({ since: version }: TableColumn): number {
  return version ?? 1
}
