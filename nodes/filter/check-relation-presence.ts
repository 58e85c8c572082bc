/** Looks whether the originator has a relation (`rule-nodes.md` 4). */
import { z } from 'zod'
import { ENTITY_TYPES, entityId, isUuid } from '../../model/entity-id.ts'
import type { EntityId, EntityType } from '../../model/entity-id.ts'
import { whenThere } from '../../engine/rulechain/capabilities/soon.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { direction } from '../related.ts'
import { swappedDirection } from '../upgrade.ts'

const DEFAULTS = {
  direction: 'FROM',
  entityId: null,
  entityType: null,
  relationType: 'Contains',
  checkForSingleEntity: true,
}

/** What nodes can look up. Others, such as alarms, are compared by their ids alone. */
const LOOKED_UP: readonly EntityType[] = [
  ...(['TENANT', 'CUSTOMER', 'USER', 'DASHBOARD', 'ASSET', 'DEVICE', 'ENTITY_VIEW'] as const),
  ...(['RULE_CHAIN', 'EDGE', 'DEVICE_PROFILE', 'ASSET_PROFILE'] as const),
]

const configurationSchema = z.looseObject({
  direction,
  relationType: z.string().meta({ title: 'Relation', description: 'Its type.' }),
  checkForSingleEntity: orZero(z.boolean(), false).meta({
    title: 'One entity',
    description: 'A relation to the entity below; otherwise any of the type will do.',
  }),
  entityType: z.string().nullish().meta({ title: 'Entity type', description: 'Of the one entity.' }),
  entityId: z.string().nullish().meta({ title: 'Entity', description: 'The id of the one entity.' }),
})

export const checkRelationPresence = defineNode({
  type: 'org.thingsboard.rule.engine.filter.TbCheckRelationNode',
  name: 'check relation presence',
  category: 'FILTER',
  relations: ['True', 'False'],
  description: 'True where the originator has a relation of the type in the direction, to one entity or to any.',
  configurationVersion: 1,
  configuration: configurationSchema,
  defaults: DEFAULTS,
  examples: [
    {
      title: 'no relation at all',
      configuration: { ...DEFAULTS, checkForSingleEntity: false },
      given: { data: 'no JSON' },
      expect: { relations: ['False'] },
    },
  ],
  upgrade: (configuration, fromVersion) => (fromVersion > 0 ? configuration : swappedDirection(configuration)),
  uses: ['entities', 'relations'],
  create: async (configuration, { services: { entities, relations } }) => {
    const { direction: way, relationType: type } = configuration
    const answer = (isThere: boolean): string => (isThere ? 'True' : 'False')
    if (!configuration.checkForSingleEntity) {
      return {
        handle: ({ originator }) =>
          whenThere(relations.list(originator, way, type), (found) => answer(found.length > 0)),
      }
    }
    const entity = farEnd(configuration)
    if (LOOKED_UP.includes(entity.entityType) && (await entities.find(entity)) === undefined)
      throw refused('entityId', `the tenant has no ${entity.entityType} ${entity.id}`)
    return {
      handle: ({ originator }) => {
        const ends = way === 'FROM' ? { from: originator, to: entity } : { from: entity, to: originator }
        return whenThere(relations.exists({ ...ends, type }), answer)
      },
    }
  },
})

function farEnd({ entityType, entityId: id }: z.output<typeof configurationSchema>): EntityId {
  const type = ENTITY_TYPES.find((known) => known === entityType)
  if (type !== undefined && typeof id === 'string' && isUuid(id)) return entityId(type, id.toLowerCase())
  throw type === undefined ? refused('entityType', 'is no entity type') : refused('entityId', 'is no id')
}

function refused(field: string, reason: string): Error {
  return NodeErrors.CONFIGURATION_INVALID({ node: 'check relation presence', field, reason })
}
