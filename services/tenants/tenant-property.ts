/** What tenants own, table by table: it goes with them. */
import type { EntityId, EntityType } from '../../model/entity-id.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { EntityTable } from '../../storage/entities/tables/entity-table.ts'
import type { OwnedTable } from '../../storage/entities/tenant-erasure.ts'
import type { Companions } from '../entities/define.ts'

/** Tables of before there were declarations, with the foreign keys that their migrations gave them. */
const OLDER: readonly (Omit<OwnedTable, 'hasEntities'> & { readonly type?: EntityType })[] = [
  { name: 'app_user', references: ['customer'], type: 'USER' },
  { name: 'device_credentials', references: ['device'] },
  { name: 'device', references: ['customer', 'device_profile'], type: 'DEVICE' },
  { name: 'device_profile', references: ['rule_chain'], type: 'DEVICE_PROFILE' },
  { name: 'queue', references: [], type: 'QUEUE' },
]

/** As much as is asked of a declaration. */
interface DeclaredTable {
  readonly type: EntityType
  readonly storedAs: EntityTable
}

export class TenantProperty {
  private readonly tables: readonly OwnedTable[]
  private readonly types: ReadonlyMap<string, EntityType>

  /** `tables`: all that have a tenant, `declared` or not. */
  constructor(declared: readonly DeclaredTable[], tables: readonly EntityTable[]) {
    const byName = new Map<string, Omit<OwnedTable, 'hasEntities'>>(OLDER.map((table) => [table.name, table]))
    const types = new Map([
      ...OLDER.flatMap(({ name, type }) => (type === undefined ? [] : [[name, type] as const])),
      ...declared.map(({ type, storedAs }) => [storedAs.name, type] as const),
    ])
    for (const { name, columns, isInherited } of tables) {
      // Those of before that are no entities have no tenant, and go with what they are parts of.
      if (isInherited === true && !types.has(name)) continue
      const named = columns.flatMap(({ references }) => (references === undefined ? [] : [references.table]))
      byName.set(name, { name, references: [...(byName.get(name)?.references ?? []), ...named] })
    }
    this.tables = [...byName.values()].map((table) => ({ ...table, hasEntities: types.has(table.name) }))
    this.types = types
  }

  /** `now`: Unix ms. */
  of(tenantId: string, entities: EntityStore, now: number): Companions {
    const erasure = entities.tenantErasure.of(tenantId, this.tables, now)
    return {
      statements: erasure.statements,
      gone: (written) =>
        [...erasure.erased(written)].flatMap(([table, ids]): EntityId[] => {
          const entityType = this.types.get(table)
          return entityType === undefined ? [] : ids.map((id) => ({ entityType, id }))
        }),
    }
  }
}
