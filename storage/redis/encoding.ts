/** A read of all attributes of an entity as text: the commit it speaks for, when it began, and a line of JSON. */
import { z } from 'zod'
import { longValue, type TypedValue } from '../../model/value.ts'
import { ATTRIBUTE_SCOPE_NUMBERS, scopeOf } from '../entities/attribute-columns.ts'
import type { ScopedAttribute } from '../entities/attributes.ts'
import type { Read } from '../entities/database.ts'

export interface HeldRead extends Read<ScopedAttribute> {
  /** Microseconds of the shared store's clock. */
  readonly began: number
}

/** Numbers as text: JSON would round long ones and knows neither -0 nor infinity. */
const ROW = z.tuple([
  z.int().min(1).max(3),
  z.string(),
  z.enum(['BOOLEAN', 'LONG', 'DOUBLE', 'STRING', 'JSON']),
  z.string(),
  z.number(),
  z.int().nullable(),
])
const ROWS = z.array(ROW)
const HEAD = /^(\d{1,16}) (\d{1,16})\n/

export function rowsText(rows: readonly ScopedAttribute[]): string {
  return JSON.stringify(
    rows.map((row) => [scopeNumber(row), row.key, row.type, valueText(row), row.lastUpdateTs, row.writer ?? null]),
  )
}

/** Undefined for what was not written by this version. */
export function heldRead(text: string): HeldRead | undefined {
  const head = HEAD.exec(text)
  if (head === null) return undefined
  const rows = ROWS.safeParse(parsed(text.slice(head[0].length)))
  if (!rows.success) return undefined
  return { sequence: Number(head[1]), began: Number(head[2]), rows: rows.data.map(attributeOf) }
}

/** The head alone: most answers are judged by it. */
export function ageOf(text: string): { readonly commit: number; readonly began: number } | undefined {
  const head = HEAD.exec(text)
  return head === null ? undefined : { commit: Number(head[1]), began: Number(head[2]) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined // Cut off: the schema refuses it.
  }
}

function scopeNumber({ scope }: ScopedAttribute): number {
  return ATTRIBUTE_SCOPE_NUMBERS[scope]
}

function valueText({ value }: TypedValue): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

function attributeOf([scope, key, type, text, lastUpdateTs, writer]: z.infer<typeof ROW>): ScopedAttribute {
  const attribute = { key, ...typed(type, text), lastUpdateTs, scope: scopeOf(scope) }
  return writer === null ? attribute : { ...attribute, writer }
}

function typed(type: TypedValue['type'], text: string): TypedValue {
  switch (type) {
    case 'BOOLEAN':
      return { type, value: text === 'true' }
    case 'LONG':
      return { type, value: longValue(BigInt(text)) }
    case 'DOUBLE':
      return { type, value: Number(text) }
    default:
      return { type, value: text }
  }
}
