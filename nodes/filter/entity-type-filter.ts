/** Lets messages pass whose originator is of a listed type (`rule-nodes.md` 10). */
import { z } from 'zod'
import { defineNode } from '../define-node.ts'
import { entityTypeName } from '../entity-types.ts'

export const entityTypeFilter = defineNode({
  type: 'org.thingsboard.rule.engine.filter.TbOriginatorTypeFilterNode',
  name: 'entity type filter',
  category: 'FILTER',
  relations: ['True', 'False'],
  description: 'True where the originator is of a listed type.',
  configuration: z.looseObject({
    originatorTypes: z
      .array(entityTypeName)
      .meta({ title: 'Entity types', description: 'Types that take True; an empty list lets nothing pass.' }),
  }),
  defaults: { originatorTypes: ['DEVICE'] },
  examples: [
    {
      title: 'a device passes',
      configuration: { originatorTypes: ['ASSET', 'DEVICE'] },
      given: { data: '{}', originatorType: 'DEVICE' },
      expect: { relations: ['True'] },
    },
    {
      title: 'an empty list lets nothing pass',
      configuration: { originatorTypes: [] },
      given: { data: '{}' },
      expect: { relations: ['False'] },
    },
  ],
  create: ({ originatorTypes }) => {
    const listed = new Set<string>(originatorTypes)
    return { handle: ({ originator }) => (listed.has(originator.entityType) ? 'True' : 'False') }
  },
})
