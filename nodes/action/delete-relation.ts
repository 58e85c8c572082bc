/** Ends relations of the originator (`rule-nodes.md` 39). */
import { z } from 'zod'
import { defineNode, orZero } from '../define-node.ts'
import { pattern } from '../pattern.ts'
import { relatedEntity, relationBetween, relationMembers, requiredType } from './relation-target.ts'
import { turnedDirection } from './upgrades.ts'

export const deleteRelation = defineNode({
  type: 'org.thingsboard.rule.engine.action.TbDeleteRelationNode',
  name: 'delete relation',
  category: 'ACTION',
  relations: ['Success'],
  description:
    'Deletes the relation to the named entity, or all of that type in the direction. Success also where there was none; Failure where the named entity is missing.',
  configurationVersion: 1,
  configuration: z.looseObject({
    ...relationMembers,
    deleteForSingleEntity: orZero(z.boolean(), false).meta({ title: 'Of one entity only' }),
  }),
  defaults: {
    deleteForSingleEntity: false,
    direction: 'FROM',
    relationType: 'Contains',
    entityType: null,
    entityNamePattern: '',
    entityTypePattern: null,
  },
  examples: [
    {
      title: 'no relation is there',
      configuration: { deleteForSingleEntity: false, direction: 'FROM', relationType: 'Contains' },
      given: { data: '{}' },
      expect: { relations: ['Success'], data: '{}' },
    },
    {
      title: 'the entity is not there',
      configuration: {
        ...{ deleteForSingleEntity: true, direction: 'FROM', relationType: 'Contains' },
        ...{ entityType: 'ASSET', entityNamePattern: 'R1' },
      },
      given: { data: '{}' },
      expect: { relations: ['Failure'] },
    },
  ],
  upgrade: turnedDirection,
  uses: ['entities', 'relations'],
  effects: true,
  create: (configuration, { tenantId, services: { entities, relations } }) => {
    const { direction, deleteForSingleEntity } = configuration
    const relationTypeOf = pattern(configuration.relationType)
    const nameOf = pattern(configuration.entityNamePattern)
    // Nobody reads it where all relations are deleted.
    const type = deleteForSingleEntity ? requiredType(configuration.entityType, 'delete relation') : undefined
    return {
      handle: async (message) => {
        const relationType = relationTypeOf(message)
        if (type !== undefined) {
          const other = await relatedEntity(entities, tenantId, type, nameOf(message))
          await relations.delete(relationBetween(message, direction, other, relationType), message)
          return 'Success'
        }
        for (const present of await relations.list(message.originator, direction, relationType)) {
          await relations.delete(present, message)
        }
        return 'Success'
      },
    }
  },
})
