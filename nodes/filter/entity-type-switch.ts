/** Routes a message by the type of its originator (`rule-nodes.md` 11). */
import { ENTITY_TYPES } from '../../model/entity-id.ts'
import { EMPTY_DEFAULTS, defineNode, readEmptyConfiguration } from '../define-node.ts'
import { entityTypeLabel } from '../entity-types.ts'

const labels = new Map<string, string>(ENTITY_TYPES.map((type) => [type, entityTypeLabel(type)]))

export const entityTypeSwitch = defineNode({
  type: 'org.thingsboard.rule.engine.filter.TbOriginatorTypeSwitchNode',
  name: 'entity type switch',
  category: 'FILTER',
  relations: [...labels.values()],
  description: "Routes by the originator's type, such as Device, Entity View or Rule chain.",
  configuration: readEmptyConfiguration,
  defaults: EMPTY_DEFAULTS,
  examples: [
    {
      title: 'a device',
      configuration: {},
      given: { data: '{}', originatorType: 'DEVICE' },
      expect: { relations: ['Device'] },
    },
    {
      title: 'an entity view',
      configuration: { version: 0 },
      given: { data: 'no JSON at all', originatorType: 'ENTITY_VIEW' },
      expect: { relations: ['Entity View'] },
    },
  ],
  create: () => ({
    handle: ({ originator: { entityType } }) => labels.get(entityType) ?? entityTypeLabel(entityType),
  }),
})
