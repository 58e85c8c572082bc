/** What every save of a declared type is held to before its own checks. */
import type { OwnerLookup } from '../access/ownership.ts'
import type { ColumnSet, EntityDefinition, RecordOf } from './define.ts'
import { memberText } from './record-members.ts'

export function checkMembers<Columns extends ColumnSet>(
  { columns, label }: EntityDefinition<Columns>,
  record: RecordOf<Columns>,
): void {
  for (const [member, column] of Object.entries(columns)) column.check(record[member], label, member)
}

/** What is named must be there and of the same tenant; what was named before already was. */
export async function checkReferences<Columns extends ColumnSet>(
  { columns }: EntityDefinition<Columns>,
  record: RecordOf<Columns>,
  before: RecordOf<Columns> | undefined,
  ownerOf: OwnerLookup,
): Promise<void> {
  for (const [member, { references }] of Object.entries(columns)) {
    const id = memberText(record, member)
    if (references === undefined || id === null || (before !== undefined && id === memberText(before, member))) continue
    const owner = await ownerOf({ entityType: references.entityType, id })
    if (owner === undefined) throw references.missing()
    if (owner.tenantId !== null && owner.tenantId !== record.tenantId)
      throw (references.foreign ?? references.missing)()
  }
}
