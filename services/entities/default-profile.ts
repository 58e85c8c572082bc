/** The profile that entities get whose save names none: one of each tenant. Source: `rest-api.md` 5.4. */
import type { Principal } from '../../model/principal.ts'
import { itemNotFound } from '../errors.ts'
import type { Column } from './column.ts'
import type { ColumnSet, RecordOf } from './define.ts'
import type { EntityService } from './entity-service.ts'

export type ProfileColumns = ColumnSet & { readonly default: Column<boolean> }

/** Takes the place of the one before. */
export async function makeDefault<Columns extends ProfileColumns>(
  service: EntityService<Columns>,
  principal: Principal,
  id: string,
): Promise<RecordOf<Columns>> {
  const before = await service.findAnywhere(id)
  if (before === undefined) throw itemNotFound({ entityType: service.definition.type, id })
  if (isDefault(before)) return before
  const former = await findDefault(service, before.tenantId)
  const first =
    former === undefined ? [] : [service.update(withDefault({ ...former, version: former.version + 1 }, false))]
  return service.changeByUser(principal, before, withDefault({}, true), { first, type: 'ENTITY_UPDATED' })
}

export function findDefault<Columns extends ProfileColumns>(
  service: EntityService<Columns>,
  tenantId: string,
): Promise<RecordOf<Columns> | undefined> {
  return service.findBy(tenantId, withDefault({}, true))
}

/** The compiler does not see that the columns of any profile have the flag. */
function withDefault<Members extends object>(members: Members, isIt: boolean): Members {
  return { ...members, default: isIt }
}

function isDefault(record: Readonly<Record<string, unknown>>): boolean {
  return record['default'] === true
}
