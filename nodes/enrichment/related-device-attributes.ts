/** Adds attributes and latest values of a related device (`rule-nodes.md` 18). */
import { z } from 'zod'
import { whenThere } from '../../engine/rulechain/capabilities/soon.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { relationLevels } from '../related.ts'
import { ATTRIBUTE_NAMES_DEFAULTS, attributeNames, attributesFetch } from './attribute-names.ts'
import { checkTarget } from './fetched.ts'
import { fetchToUpgrade } from '../upgrade.ts'

const QUERY_DEFAULT = {
  direction: 'FROM',
  maxLevel: 1,
  relationType: 'Contains',
  deviceTypes: ['default'],
  fetchLastLevelOnly: false,
}

export const relatedDeviceAttributes = defineNode({
  type: 'org.thingsboard.rule.engine.metadata.TbGetDeviceAttrNode',
  name: 'related device attributes',
  category: 'ENRICHMENT',
  relations: ['Success'],
  description: 'Adds attributes and latest values of the first related device of the listed profiles.',
  configurationVersion: 1,
  configuration: z.looseObject({
    ...attributeNames,
    deviceRelationsQuery: z
      .looseObject({
        ...relationLevels,
        // Where it is left out it is the usual one; an empty one means any.
        relationType: z
          .string()
          .nullish()
          .transform((type) => (type ?? 'Contains') || undefined),
        deviceTypes: orZero(z.array(z.string()), []),
      })
      .meta({
        title: 'Relations',
        description: 'deviceTypes are names of device profiles; without any no device is found.',
      }),
  }),
  defaults: { ...ATTRIBUTE_NAMES_DEFAULTS, deviceRelationsQuery: QUERY_DEFAULT },
  examples: [
    {
      title: 'no device is related',
      configuration: { ...ATTRIBUTE_NAMES_DEFAULTS, deviceRelationsQuery: QUERY_DEFAULT },
      given: { data: '{"a":1}' },
      expect: { relations: ['Failure'] },
    },
  ],
  upgrade: fetchToUpgrade('fetchToData', 'DATA', 'METADATA'),
  uses: ['attributes', 'history', 'relations'],
  create: (configuration, { services }) => {
    const fetch = attributesFetch(configuration, services)
    return {
      handle: (message) => {
        checkTarget(message, configuration.fetchTo)
        const { originator } = message
        return whenThere(
          services.relations.relatedDevices(originator, configuration.deviceRelationsQuery),
          ([device]) => {
            if (device === undefined) throw NodeErrors.NOTHING_RELATED({ what: 'device' })
            return fetch(message, device)
          },
        )
      },
    }
  },
})
