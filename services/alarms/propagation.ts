/** On which entities an alarm shows: its originator, and what it is told to propagate to. Source: `rule-engine.md` 7.1. */
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { RelationRepository } from '../../storage/entities/relations.ts'
import type { Alarm } from '../entities/alarm.ts'

/** Each is a row that every change of what the alarm shows on writes. */
const MAX_PARENTS = 1_000
/** Read at once: of one level, with those of other types. */
const MAX_READ = 10_000
/** A chain of relations so long is a mistake. */
const MAX_LEVELS = 100

export class Propagation {
  private readonly relations: Pick<RelationRepository, 'findOf'>

  constructor(relations: Pick<RelationRepository, 'findOf'>) {
    this.relations = relations
  }

  /** Each once, the originator first. */
  async entitiesOf(alarm: Alarm): Promise<readonly EntityId[]> {
    const { tenantId, customerId, originatorType, originatorId, propagateRelationTypes } = alarm
    const originator = entityId(originatorType, originatorId)
    const tenant = entityId('TENANT', tenantId)
    const entities = [originator]
    if (alarm.propagate) {
      const types = Array.isArray(propagateRelationTypes) ? propagateRelationTypes.map(String) : []
      entities.push(...(await this.parentsOf(tenantId, originator, types)))
    }
    if (alarm.propagateToOwner) entities.push(customerId === null ? tenant : entityId('CUSTOMER', customerId))
    if (alarm.propagateToTenant) entities.push(tenant)
    return [...new Map(entities.map((entity) => [entity.id, entity])).values()]
  }

  /** The entities above it by relations of these types (of any where there are none), the nearest first. */
  private async parentsOf(tenantId: string, entity: EntityId, types: readonly string[]): Promise<readonly EntityId[]> {
    const found = new Map([[entity.id, entity]])
    let ids: readonly string[] = [entity.id]
    for (let level = 0; ids.length > 0 && level < MAX_LEVELS && found.size <= MAX_PARENTS; level++) {
      const above = await this.relations.findOf({ tenantId, direction: 'TO', ids, group: 'COMMON', limit: MAX_READ })
      const parents = above.filter(({ type }) => types.length === 0 || types.includes(type)).map(({ from }) => from)
      const next = parents.filter(({ id }) => !found.has(id))
      for (const parent of next) found.set(parent.id, parent)
      ids = [...new Set(next.map(({ id }) => id))]
    }
    return [...found.values()].slice(1, MAX_PARENTS + 1)
  }
}
