/** Who is meant beside the originator: its customer, or the first entity that a search over relations finds. */
import { z } from 'zod'
import { ENTITY_TYPES, entityId } from '../model/entity-id.ts'
import type { EntityId } from '../model/entity-id.ts'
import type { JsonObject } from '../model/json.ts'
import type { NodeEntities } from '../engine/rulechain/capabilities/entities.ts'
import type { NodeRelations, RelationsQuery } from '../engine/rulechain/capabilities/relations.ts'
import { whenThere } from '../engine/rulechain/capabilities/soon.ts'
import type { Soon } from '../engine/rulechain/capabilities/soon.ts'
import { orZero } from './define-node.ts'
import { NodeErrors } from './errors.ts'

export const direction = z
  .enum(['FROM', 'TO'])
  .meta({ title: 'Direction', description: 'FROM: the originator is the relation’s from side.' })

export const relationLevels = {
  direction,
  maxLevel: orZero(z.int().min(0), 0).meta({ title: 'Levels', description: '0 is without limit.' }),
  fetchLastLevelOnly: orZero(z.boolean(), false).meta({ title: 'Last level only', description: 'Not those between.' }),
}

const filter = z.looseObject({
  // An empty one means any.
  relationType: z
    .string()
    .nullish()
    .transform((type) => type || undefined),
  entityTypes: orZero(z.array(z.enum(ENTITY_TYPES)), []),
})

/** `negate`, which files carry, is ignored as in the reference (`rule-nodes.md` section 2). */
export const relationsQuery = z
  .looseObject({ ...relationLevels, filters: orZero(z.array(filter), []) })
  .meta({ title: 'Relations', description: 'The first entity that is found this way.' })

export const RELATIONS_DEFAULT: JsonObject = {
  direction: 'FROM',
  maxLevel: 1,
  filters: [{ relationType: 'Contains', entityTypes: [], negate: false }],
  fetchLastLevelOnly: false,
}

export function firstRelated(
  relations: NodeRelations,
  originator: EntityId,
  query: RelationsQuery,
): Soon<EntityId | undefined> {
  return whenThere(relations.find(originator, query), ([first]) => first)
}

/** The originator itself where it is a customer; undefined where it has none. Throws where the originator is gone. */
export function customerOf(entities: NodeEntities, originator: EntityId): Soon<EntityId | undefined> {
  if (originator.entityType === 'CUSTOMER') return originator
  return whenThere(entities.find(originator), (entity) => {
    if (entity === undefined) throw NodeErrors.ENTITY_GONE({ type: originator.entityType, id: originator.id })
    return entity.customerId === null ? undefined : entityId('CUSTOMER', entity.customerId)
  })
}
