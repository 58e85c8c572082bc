/** The entity at the other end of a relation, as the nodes that make and delete relations name it. */
import { z } from 'zod'
import type { NodeEntities } from '../../engine/rulechain/capabilities/entities.ts'
import type { NodeRelation } from '../../engine/rulechain/capabilities/relations.ts'
import { ENTITY_TYPES, entityId, type EntityId } from '../../model/entity-id.ts'
import type { Message } from '../../model/message.ts'
import { RELATION_DIRECTIONS, type RelationDirection } from '../../model/relation.ts'
import { orZero, requireField } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'

export const RELATED_TYPES = [
  'TENANT',
  'DEVICE',
  'ASSET',
  'CUSTOMER',
  'ENTITY_VIEW',
  'DASHBOARD',
  'EDGE',
  'USER',
] as const
export type RelatedType = (typeof RELATED_TYPES)[number]

/** Members of both configurations. */
export const relationMembers = {
  direction: z.enum(RELATION_DIRECTIONS).meta({
    title: 'Direction',
    description: 'FROM: the originator is the from end.',
  }),
  relationType: z.string().meta({ title: 'Relation type', description: 'May hold ${metadata} and $[data].' }),
  entityType: z.enum(ENTITY_TYPES).nullish().meta({ title: 'Type of the other end' }),
  entityNamePattern: orZero(z.string(), '').meta({
    title: 'Name of the other end',
    description: 'May hold ${metadata} and $[data]. Not asked for a tenant.',
  }),
  entityTypePattern: z.string().nullish().meta({
    title: 'Profile of a new one',
    description: 'Of devices and assets that are made. May hold ${metadata} and $[data].',
  }),
}

/** To be called when a node is made: without one of the types it does not start. Throws `CONFIGURATION_INVALID`. */
export function requiredType(type: string | null | undefined, node: string): RelatedType {
  const known = RELATED_TYPES.find((each) => each === type)
  requireField(known !== undefined, node, 'entityType', `expected one of ${RELATED_TYPES.join(', ')}`)
  return known
}

/** Throws `ENTITY_MISSING`. */
export async function relatedEntity(
  entities: Pick<NodeEntities, 'findByName'>,
  tenantId: string,
  type: RelatedType,
  name: string,
): Promise<EntityId> {
  if (type === 'TENANT') return entityId('TENANT', tenantId)
  const found = await entities.findByName(type, name)
  if (found === undefined) throw NodeErrors.ENTITY_MISSING({ type, name })
  return found.id
}

export function relationBetween(
  { originator }: Message,
  direction: RelationDirection,
  other: EntityId,
  type: string,
): NodeRelation {
  return direction === 'FROM' ? { from: originator, to: other, type } : { from: other, to: originator, type }
}
