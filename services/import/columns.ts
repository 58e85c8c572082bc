/**
 * What the columns of an imported file may hold (`rest-api.md` 5.6): what the declaration names, values of any key, and what devices present.
 * Those of SNMP and of integrations are refused, as nothing here would read them.
 */
import { isJsonObject, type JsonObject } from '../../model/json.ts'
import type { Entry } from '../../model/value.ts'
import { draftOf, type ColumnSet, type DraftOf, type EntityDefinition, type RecordOf } from '../entities/define.ts'
import { CREDENTIAL_COLUMNS } from './credential-columns.ts'
import { IMPORTED, type ImportColumn, type ImportRow } from './importer.ts'

const VALUE_COLUMNS = ['SHARED_ATTRIBUTE', 'SERVER_ATTRIBUTE', 'TIMESERIES'] as const

export const COLUMN_TYPES: readonly string[] = [
  ...new Set([
    ...IMPORTED.flatMap(({ imported = {} }) => Object.keys(imported)),
    ...VALUE_COLUMNS,
    ...CREDENTIAL_COLUMNS,
  ]),
]

export function rowOf(cells: readonly string[], columns: readonly ImportColumn[]): ImportRow {
  const fields = new Map<string, string>()
  const [shared, server, series]: [Entry[], Entry[], Entry[]] = [[], [], []]
  for (const [index, { type, key }] of columns.entries()) {
    const text = cells[index] ?? ''
    if (text === '') continue
    if (type === 'SHARED_ATTRIBUTE') shared.push(entryOf(key ?? '', text))
    else if (type === 'SERVER_ATTRIBUTE') server.push(entryOf(key ?? '', text))
    else if (type === 'TIMESERIES') series.push(entryOf(key ?? '', text))
    else fields.set(type, text)
  }
  return { fields, shared, server, series }
}

/** A cell as the kind of value that it looks like. */
function entryOf(key: string, text: string): Entry {
  const lower = text.toLowerCase()
  if (lower === 'true' || lower === 'false') return { key, type: 'BOOLEAN', value: lower === 'true' }
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(Number(text))) return { key, type: 'LONG', value: Number(text) }
  if (/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text)))
    return { key, type: 'DOUBLE', value: Number(text) }
  return { key, type: 'STRING', value: text }
}

/** The text of the column that is the entity's name; empty where the line has none. */
export function nameIn(definition: EntityDefinition<ColumnSet>, { fields }: ImportRow): string {
  for (const [column, member] of Object.entries(definition.imported ?? {}))
    if (member === definition.name) return fields.get(column) ?? ''
  return ''
}

/** What a line says of an entity; what it does not say stays as it was before. */
export function draftIn(
  { columns, imported = {} }: EntityDefinition<ColumnSet>,
  { fields }: ImportRow,
  before: RecordOf<ColumnSet> | undefined,
): DraftOf<ColumnSet> {
  const members: Record<string, unknown> = {}
  for (const member of Object.keys(columns)) members[member] = before?.[member]
  const infos: Record<string, JsonObject> = {}
  for (const [name, member] of Object.entries(imported)) {
    const text = fields.get(name)
    if (typeof member !== 'string') {
      const own = (infos[member.in] ??= objectIn(before?.[member.in]))
      if (text !== undefined) own[member.as] = member.isFlag === true ? text.toLowerCase() === 'true' : text
    } else if (text !== undefined) {
      members[member] = text
      // What the member is copied from follows from it: the type says which profile.
      const { copies } = columns[member] ?? {}
      if (copies !== undefined) members[copies.by] = undefined
    }
  }
  return draftOf({ ...members, ...infos })
}

function objectIn(before: unknown): JsonObject {
  return isJsonObject(before) ? { ...before } : {}
}
