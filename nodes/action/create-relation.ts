/** Relates the originator to another entity (`rule-nodes.md` 38). */
import { z } from 'zod'
import type { NodeEntities } from '../../engine/rulechain/capabilities/entities.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { farEnd } from '../../model/relation.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import { relatedEntity, relationBetween, relationMembers, requiredType, type RelatedType } from './relation-target.ts'
import { turnedDirection } from './upgrades.ts'

const CREATED_TYPES: readonly RelatedType[] = ['DEVICE', 'ASSET', 'CUSTOMER']

export const createRelation = defineNode({
  type: 'org.thingsboard.rule.engine.action.TbCreateRelationNode',
  name: 'create relation',
  category: 'ACTION',
  relations: ['Success'],
  description:
    'Relates the originator to an entity of the given type and name. Success also where they are related already; Failure where the entity is missing and must not be made.',
  configurationVersion: 1,
  configuration: z.looseObject({
    ...relationMembers,
    createEntityIfNotExists: orZero(z.boolean(), false).meta({
      title: 'Make a missing entity',
      description: 'Devices, assets and customers.',
    }),
    changeOriginatorToRelatedEntity: orZero(z.boolean(), false).meta({
      title: 'Go on as the other end',
      description: 'The message goes on with the other end as its originator.',
    }),
    removeCurrentRelations: orZero(z.boolean(), false).meta({
      title: 'Delete the present ones before',
      description: 'Of that type and direction.',
    }),
  }),
  defaults: {
    direction: 'FROM',
    relationType: 'Contains',
    entityType: null,
    entityNamePattern: '',
    entityTypePattern: null,
    createEntityIfNotExists: false,
    changeOriginatorToRelatedEntity: false,
    removeCurrentRelations: false,
  },
  examples: [
    {
      title: 'the asset is made where it is missing',
      configuration: {
        ...{ direction: 'TO', relationType: 'Contains', entityType: 'ASSET', entityNamePattern: '$[room]' },
        ...{ entityTypePattern: 'room', createEntityIfNotExists: true },
      },
      given: { data: '{"room":"R1"}' },
      expect: { relations: ['Success'], data: '{"room":"R1"}' },
    },
    {
      title: 'an entity that is not there',
      configuration: { direction: 'TO', relationType: 'Contains', entityType: 'ASSET', entityNamePattern: 'R1' },
      given: { data: '{}' },
      expect: { relations: ['Failure'] },
    },
  ],
  upgrade: turnedDirection,
  uses: ['entities', 'relations'],
  effects: true,
  create: (configuration, { tenantId, services: { entities, relations } }) => {
    const { direction, createEntityIfNotExists, changeOriginatorToRelatedEntity, removeCurrentRelations } =
      configuration
    const relationTypeOf = pattern(configuration.relationType)
    const nameOf = pattern(configuration.entityNamePattern)
    const profileOf = pattern(configuration.entityTypePattern ?? '')
    const type = requiredType(configuration.entityType, 'create relation')
    return {
      handle: async (message) => {
        const name = nameOf(message)
        const isMade = createEntityIfNotExists && CREATED_TYPES.includes(type)
        const other = isMade
          ? await foundOrMade(entities, type, name, profileOf(message))
          : await relatedEntity(entities, tenantId, type, name)
        const relationType = relationTypeOf(message)
        if (removeCurrentRelations) {
          for (const present of await relations.list(message.originator, direction, relationType)) {
            // The one that is to be stays: for whoever follows relations nothing changed.
            if (farEnd(present, direction).id !== other.id) await relations.delete(present, message)
          }
        }
        await relations.create(relationBetween(message, direction, other, relationType), message)
        if (!changeOriginatorToRelatedEntity) return 'Success'
        // As with every change of the originator: a message that belongs to a customer keeps it.
        const customerId = message.customerId ?? (other.entityType === 'CUSTOMER' ? other.id : undefined)
        return { message: message.with({ originator: other, customerId }), relations: ['Success'] }
      },
    }
  },
})

async function foundOrMade(
  entities: Pick<NodeEntities, 'findOrCreate'>,
  type: RelatedType,
  name: string,
  profile: string,
): Promise<EntityId> {
  if (name === '') throw NodeErrors.ENTITY_MISSING({ type, name })
  switch (type) {
    case 'CUSTOMER':
      return (await entities.findOrCreate(type, name)).entity.id
    case 'ASSET':
    case 'DEVICE':
      return (await entities.findOrCreate(type, name, profile === '' ? undefined : profile)).entity.id
    default:
      throw NodeErrors.ENTITY_MISSING({ type, name })
  }
}
