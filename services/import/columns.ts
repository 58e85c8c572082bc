/**
 * What the columns of an imported file may hold (`rest-api.md` 5.6): what the declaration names, values of any key, and what devices present.
 * Those of SNMP and of integrations are refused, as nothing here would read them.
 */
import { entryOf } from '../../model/entry-json.ts'
import { exactNumber, isJsonObject, type JsonObject } from '../../model/json.ts'
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
  const entriesOf: Readonly<Record<string, Entry[]>> = {
    SHARED_ATTRIBUTE: shared,
    SERVER_ATTRIBUTE: server,
    TIMESERIES: series,
  }
  for (const [index, { type, key }] of columns.entries()) {
    const text = cells[index] ?? ''
    if (text === '') continue
    const entries = entriesOf[type]
    if (entries === undefined) fields.set(type, text)
    // Whose key the mapping leaves out is passed over, as the reference does.
    else if (key !== undefined && key !== null && key !== '') entries.push(cellEntry(key, text))
  }
  return { fields, shared, server, series }
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

/** A cell as the kind of value that it looks like: a number as in JSON, or with a comma before its decimals; one too long or too large is a text. */
function cellEntry(key: string, text: string): Entry {
  const lower = text.toLowerCase()
  if (lower === 'true' || lower === 'false') return { key, type: 'BOOLEAN', value: lower === 'true' }
  const dotted = text.replaceAll(',', '.')
  const entry = NUMBER.test(dotted) ? entryOf(key, exactNumber(asJson(dotted)), AS_IN_JSON) : undefined
  return entry === undefined || entry.type === 'STRING' ? { key, type: 'STRING', value: text } : entry
}

const AS_IN_JSON = { castStrings: true, nulls: 'refuse' } as const

/** `+.5` is `0.5`, and `5.` is `5.0`. */
function asJson(number: string): string {
  const signed = number.replace(/^\+/, '')
  return signed.replace(/^(-?)\./, '$10.').replace(/\.(?=e|$)/i, '.0')
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
