/** Adds attributes and latest values of the originator to its message (`rule-nodes.md` 15). */
import { z } from 'zod'
import { defineNode } from '../define-node.ts'
import { ATTRIBUTE_NAMES_DEFAULTS, attributeNames, attributesFetch } from './attribute-names.ts'
import { checkTarget } from './fetched.ts'
import { fetchToUpgrade } from '../upgrade.ts'

export const originatorAttributes = defineNode({
  type: 'org.thingsboard.rule.engine.metadata.TbGetAttributesNode',
  name: 'originator attributes',
  category: 'ENRICHMENT',
  relations: ['Success'],
  description: 'Adds attributes of the originator with the prefix of their scope, and its latest values.',
  configurationVersion: 1,
  configuration: z.looseObject(attributeNames),
  defaults: ATTRIBUTE_NAMES_DEFAULTS,
  examples: [
    {
      title: 'nothing is asked for',
      configuration: ATTRIBUTE_NAMES_DEFAULTS,
      given: { data: '{"a":1}' },
      expect: { relations: ['Success'], data: '{"a":1}' },
    },
    {
      title: 'an attribute that is not there',
      configuration: { ...ATTRIBUTE_NAMES_DEFAULTS, serverAttributeNames: ['limit'] },
      given: { data: '{"a":1}' },
      expect: { relations: ['Failure'] },
    },
  ],
  upgrade: fetchToUpgrade('fetchToData', 'DATA', 'METADATA'),
  uses: ['attributes', 'history'],
  create: (configuration, { services }) => {
    const fetch = attributesFetch(configuration, services)
    return {
      handle: (message) => {
        checkTarget(message, configuration.fetchTo)
        return fetch(message, message.originator)
      },
    }
  },
})
