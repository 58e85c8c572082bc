/** Adds attributes or latest values of the customer (`rule-nodes.md` 16). */
import { z } from 'zod'
import { whenThere } from '../../engine/rulechain/capabilities/soon.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { customerOf } from '../related.ts'
import { checkTarget, fetchTo } from './fetched.ts'
import { dataMapping, dataToFetch, mappedFetch, mappedUpgrade, requireMapping } from './mapped-data.ts'

const DEFAULTS = { fetchTo: 'METADATA', dataMapping: { alarmThreshold: 'threshold' }, dataToFetch: 'ATTRIBUTES' }

export const customerAttributes = defineNode({
  type: 'org.thingsboard.rule.engine.metadata.TbGetCustomerAttributeNode',
  name: 'customer attributes',
  category: 'ENRICHMENT',
  relations: ['Success'],
  description:
    "Adds attributes or latest values of the originator's customer, under other names. Without a customer: Failure.",
  configurationVersion: 1,
  configuration: z.looseObject({ fetchTo, dataMapping, dataToFetch }),
  defaults: DEFAULTS,
  examples: [
    {
      title: 'a customer without the attribute',
      configuration: DEFAULTS,
      given: { data: '{"a":1}', originatorType: 'CUSTOMER' },
      expect: { relations: ['Success'], data: '{"a":1}', metadata: {} },
    },
  ],
  upgrade: mappedUpgrade,
  uses: ['attributes', 'entities', 'history'],
  create: (configuration, { services }) => {
    requireMapping(configuration.dataMapping, 'customer attributes')
    const fetch = mappedFetch(configuration, configuration.dataToFetch, services)
    return {
      handle: (message) => {
        checkTarget(message, configuration.fetchTo)
        return whenThere(customerOf(services.entities, message.originator), (customer) => {
          if (customer === undefined) throw NodeErrors.NO_CUSTOMER()
          return fetch(message, customer)
        })
      },
    }
  },
})
