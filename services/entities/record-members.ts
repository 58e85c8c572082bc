/** Members of records whose type is not known. */
import type { ColumnSet, EntityDefinition, RecordOf } from './define.ts'

export function memberText(record: Readonly<Record<string, unknown>>, member: string): string | null {
  const value = record[member]
  return typeof value === 'string' && value !== '' ? value : null
}

/** Whose it is in its tenant. */
export function customerOf<Columns extends ColumnSet>(
  definition: EntityDefinition<Columns>,
  record: RecordOf<Columns>,
): string | null {
  return definition.customerOf === undefined ? memberText(record, 'customerId') : definition.customerOf(record)
}

export function nameOf<Columns extends ColumnSet>(
  definition: EntityDefinition<Columns>,
  record: RecordOf<Columns>,
): string {
  return memberText(record, definition.name) ?? ''
}

export function changedMembers(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(after).filter(([member, value]) => before[member] !== value))
}
