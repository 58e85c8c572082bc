/** Rows as they travel: each a JSON text of its columns, and of those that are a part of it under the names of their tables. */
import {
  isJsonObject,
  LongDecimal,
  parseJson,
  stringifyJson,
  WholeDouble,
  type JsonObject,
  type JsonValue,
} from '../../model/json.ts'
import { sqlValue, type SqlValue } from '../../storage/entities/database.ts'
import type { Row } from '../../storage/entities/tables/entity-table.ts'
import { TenantTransferErrors } from './errors.ts'
import type { TakenTable } from './tables.ts'

/** A row with those that are a part of it. */
export interface WholeRow {
  readonly row: Row
  readonly parts: readonly PartRows[]
}

export interface PartRows {
  readonly table: TakenTable
  readonly rows: readonly Row[]
}

export function textOf({ row, parts }: WholeRow): string {
  const json: Record<string, JsonValue> = { ...row }
  for (const { table, rows } of parts) json[table.name] = rows.map((part): JsonObject => ({ ...part }))
  return stringifyJson(json)
}

/** As the tenant has them: whosever they were. Throws `ROW`. */
export function rowsIn(taken: TakenTable, texts: readonly string[], tenantId: string): readonly WholeRow[] {
  return texts.map((text) => {
    const json = parsed(text, taken.name)
    if (!isJsonObject(json)) throw refused(taken, 'an object is expected')
    const isPart = (name: string) => taken.parts.some((part) => part.name === name)
    const row = rowIn(
      taken,
      Object.entries(json).filter(([name]) => !isPart(name)),
    )
    if (taken.owner.of.length === 0) row['tenant_id'] = tenantId
    const whole = {
      row: { ...row, ...taken.fresh },
      parts: taken.parts.map((table) => partIn(taken, table, json, row)),
    }
    requireInside(taken, whole)
    return whole
  })
}

/** What stands in a row of keys. Throws `ROW`. */
export function valuesIn(text: string, taken: TakenTable): readonly SqlValue[] {
  const values = parsed(text, taken.name)
  if (!Array.isArray(values) || values.length !== taken.keys.length) throw refused(taken, 'keys are expected')
  return values.map((value) => valueIn(value, taken))
}

function partIn(taken: TakenTable, table: TakenTable, json: JsonObject, row: Row): PartRows {
  const sent = json[table.name]
  // Without it what is there would be replaced by nothing.
  if (!Array.isArray(sent)) throw refused(taken, `${table.name} is missing`)
  const rows = sent.map((part) => {
    if (!isJsonObject(part)) throw refused(table, 'an object is expected')
    const found = rowIn(table, Object.entries(part))
    if (found[table.owner.column] !== row['id']) throw refused(table, `${table.owner.column} names another`)
    return found
  })
  return { table, rows }
}

function rowIn(table: TakenTable, members: readonly (readonly [string, unknown])[]): Record<string, SqlValue> {
  const row: Record<string, SqlValue> = {}
  for (const [column, value] of members) {
    if (!/^[a-z_][a-z0-9_]{0,62}$/.test(column)) throw refused(table, 'a column name')
    row[column] = valueIn(value, table)
  }
  for (const key of table.keys) if (row[key] === undefined) throw refused(table, `${key} is missing`)
  return row
}

function requireInside(taken: TakenTable, { row, parts }: WholeRow): void {
  for (const { table, rows } of [{ table: taken, rows: [row] }, ...parts])
    for (const [column, name] of Object.entries(table.inside)) {
      const ids = new Set(parts.find((part) => part.table.name === name)?.rows.map(({ id }) => id))
      for (const each of rows) {
        const id = each[column] ?? null
        if (id !== null && !ids.has(id)) throw refused(table, `${column} names none of its ${name}`)
      }
    }
}

function valueIn(value: unknown, table: TakenTable): SqlValue {
  try {
    // A double keeps its dot in JSON; a column takes the number.
    return sqlValue(value instanceof WholeDouble || value instanceof LongDecimal ? Number(value) : value)
  } catch (error) {
    throw refused(table, 'texts, numbers and null are expected', error)
  }
}

function parsed(text: string, table: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    throw TenantTransferErrors.ROW({ table, reason: 'it is no JSON' }, error)
  }
}

function refused({ name: table }: TakenTable, reason: string, cause?: unknown): Error {
  return TenantTransferErrors.ROW({ table, reason }, cause)
}
