/** How entities of any type are called, many at once: for lists that show the names of what their rows are about. */
import type { EntityId, EntityType } from '../../model/entity-id.ts'
import type { EntityRegistry } from './entity-registry.ts'

export interface EntityName {
  readonly name: string
  /** Null where it has none, or can have none. */
  readonly label: string | null
}

export type ManyNamesLookup = (
  tenantId: string,
  entities: readonly EntityId[],
) => Promise<ReadonlyMap<string, EntityName>>

/** By id; what is gone, or another tenant's, is not in the answer. */
export function manyNamesLookup(declared: EntityRegistry): ManyNamesLookup {
  return async (tenantId, entities) => {
    const idsByType = new Map<EntityType, Set<string>>()
    for (const { entityType, id } of entities) {
      const ids = idsByType.get(entityType) ?? new Set<string>()
      idsByType.set(entityType, ids.add(id))
    }
    const found = await Promise.all(
      [...idsByType].map(([type, ids]) => declaredNames(declared, type, tenantId, [...ids])),
    )
    return new Map(found.flatMap((names) => [...names]))
  }
}

type Names = readonly (readonly [id: string, EntityName])[]

async function declaredNames(
  declared: EntityRegistry,
  type: EntityType,
  tenantId: string,
  ids: readonly string[],
): Promise<Names> {
  const service = declared.ofType(type)
  if (service === undefined) return []
  const records = await service.findWhere([{ column: 'id', in: ids }])
  const own = records.filter((record) => record.tenantId === tenantId || (type === 'TENANT' && record.id === tenantId))
  return own.map((record) => {
    const label = 'label' in record ? record['label'] : null
    return [
      record.id,
      { name: String(record[service.definition.name]), label: typeof label === 'string' ? label : null },
    ]
  })
}
