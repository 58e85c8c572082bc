/** Adds contact details of the tenant (`rule-nodes.md` 23). */
import { z } from 'zod'
import { entityId } from '../../model/entity-id.ts'
import { whenThere } from '../../engine/rulechain/capabilities/soon.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { detailsList, detailsOf, requireDetails } from './details.ts'
import { checkTarget, fetchTo, withFetched } from './fetched.ts'
import { fetchToUpgrade } from '../upgrade.ts'

export const tenantDetails = defineNode({
  type: 'org.thingsboard.rule.engine.metadata.TbGetTenantDetailsNode',
  name: 'tenant details',
  category: 'ENRICHMENT',
  relations: ['Success'],
  description: 'Adds contact details of the tenant, as tenant_title and the like.',
  configurationVersion: 1,
  configuration: z.looseObject({ fetchTo, detailsList }),
  defaults: { fetchTo: 'DATA', detailsList: [] },
  examples: [
    {
      title: 'an array takes no details',
      configuration: { fetchTo: 'DATA', detailsList: ['TITLE'] },
      given: { data: '[]' },
      expect: { relations: ['Failure'] },
    },
  ],
  upgrade: fetchToUpgrade('addToMetadata', 'METADATA'),
  uses: ['entities'],
  create: (configuration, { tenantId, services: { entities } }) => {
    requireDetails(configuration.detailsList, 'tenant details')
    const tenant = entityId('TENANT', tenantId)
    return {
      handle: (message) => {
        checkTarget(message, configuration.fetchTo)
        return whenThere(entities.find(tenant), (found) => {
          if (found === undefined) throw NodeErrors.ENTITY_GONE({ type: 'TENANT', id: tenantId })
          const details = detailsOf(found, configuration.detailsList, 'tenant_')
          return { message: withFetched(message, configuration.fetchTo, details), relations: ['Success'] }
        })
      },
    }
  },
})
