/** Adds attributes, latest values or fields of a related entity (`rule-nodes.md` 20). */
import { z } from 'zod'
import { whenThere } from '../../engine/rulechain/capabilities/soon.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import { RELATIONS_DEFAULT, firstRelated, relationsQuery } from '../related.ts'
import { fieldText } from './entity-fields.ts'
import { checkTarget, fetchTo, withFetched } from './fetched.ts'
import { dataMapping, mappedFetch, mappedUpgrade, requireMapping } from './mapped-data.ts'

const DEFAULTS = {
  fetchTo: 'METADATA',
  dataMapping: { serialNumber: 'sn' },
  dataToFetch: 'ATTRIBUTES',
  relationsQuery: RELATIONS_DEFAULT,
}

export const relatedEntityData = defineNode({
  type: 'org.thingsboard.rule.engine.metadata.TbGetRelatedAttributeNode',
  name: 'related entity data',
  category: 'ENRICHMENT',
  relations: ['Success'],
  description:
    'Adds attributes, latest values or fields of the first related entity, under other names. None: Failure.',
  configurationVersion: 1,
  configuration: z.looseObject({
    fetchTo,
    dataMapping,
    dataToFetch: z.enum(['ATTRIBUTES', 'LATEST_TELEMETRY', 'FIELDS']).meta({
      title: 'What',
      description: 'ATTRIBUTES, those of the server scope, LATEST_TELEMETRY, or FIELDS such as name or label, as text.',
    }),
    relationsQuery,
  }),
  defaults: DEFAULTS,
  examples: [
    {
      title: 'nothing is related',
      configuration: DEFAULTS,
      given: { data: '{"a":1}' },
      expect: { relations: ['Failure'] },
    },
  ],
  upgrade: mappedUpgrade,
  uses: ['attributes', 'entities', 'history', 'relations'],
  create: (configuration, { services }) => {
    requireMapping(configuration.dataMapping, 'related entity data')
    const { dataToFetch } = configuration
    const fetch = dataToFetch === 'FIELDS' ? undefined : mappedFetch(configuration, dataToFetch, services)
    // A field is named as it is; its new name may hold patterns.
    const fields = Object.entries(configuration.dataMapping).map(([path, to]) => ({ path, to: pattern(to) }))
    return {
      handle: (message) => {
        checkTarget(message, configuration.fetchTo)
        const found = firstRelated(services.relations, message.originator, configuration.relationsQuery)
        return whenThere(found, (related) => {
          if (related === undefined) throw NodeErrors.NOTHING_RELATED({ what: 'entity' })
          if (fetch !== undefined) return fetch(message, related)
          return whenThere(services.entities.find(related), (entity) => {
            if (entity === undefined) throw NodeErrors.ENTITY_GONE({ type: related.entityType, id: related.id })
            const fetched = fields.flatMap(({ path, to }) => {
              const text = fieldText(entity.json, path, true)
              return text === undefined ? [] : [[to(message), text] as const]
            })
            return { message: withFetched(message, configuration.fetchTo, fetched), relations: ['Success'] }
          })
        })
      },
    }
  },
})
