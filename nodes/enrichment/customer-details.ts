/** Adds contact details of the originator's customer (`rule-nodes.md` 17). */
import { z } from 'zod'
import { whenThere } from '../../engine/rulechain/capabilities/soon.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { customerOf } from '../related.ts'
import { detailsList, detailsOf, requireDetails } from './details.ts'
import { checkTarget, fetchTo, withFetched } from './fetched.ts'
import { fetchToUpgrade } from '../upgrade.ts'

const OWNED = ['DEVICE', 'ASSET', 'ENTITY_VIEW', 'USER', 'EDGE']

export const customerDetails = defineNode({
  type: 'org.thingsboard.rule.engine.metadata.TbGetCustomerDetailsNode',
  name: 'customer details',
  category: 'ENRICHMENT',
  relations: ['Success'],
  description:
    "Adds contact details of the originator's customer, as customer_title and the like. No customer: Failure.",
  configurationVersion: 1,
  configuration: z.looseObject({ fetchTo, detailsList }),
  defaults: { fetchTo: 'DATA', detailsList: [] },
  examples: [
    {
      title: 'a tenant has no customer',
      configuration: { fetchTo: 'DATA', detailsList: ['TITLE'] },
      given: { data: '{"a":1}', originatorType: 'TENANT' },
      expect: { relations: ['Failure'] },
    },
  ],
  upgrade: fetchToUpgrade('addToMetadata', 'METADATA'),
  uses: ['entities'],
  create: (configuration, { services: { entities } }) => {
    requireDetails(configuration.detailsList, 'customer details')
    return {
      handle: (message) => {
        const { originator } = message
        checkTarget(message, configuration.fetchTo)
        if (!OWNED.includes(originator.entityType)) {
          throw NodeErrors.UNSUPPORTED_ORIGINATOR({ type: originator.entityType, expected: OWNED.join(', ') })
        }
        const found = whenThere(customerOf(entities, originator), (customer) => customer && entities.find(customer))
        return whenThere(found, (customer) => {
          if (customer === undefined) throw NodeErrors.NO_CUSTOMER()
          const details = detailsOf(customer, configuration.detailsList, 'customer_')
          return { message: withFetched(message, configuration.fetchTo, details), relations: ['Success'] }
        })
      },
    }
  },
})
