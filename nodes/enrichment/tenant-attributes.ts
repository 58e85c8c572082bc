/** Adds attributes or latest values of the tenant (`rule-nodes.md` 22). */
import { z } from 'zod'
import { entityId } from '../../model/entity-id.ts'
import { defineNode } from '../define-node.ts'
import { checkTarget, fetchTo } from './fetched.ts'
import { dataMapping, dataToFetch, mappedFetch, mappedUpgrade, requireMapping } from './mapped-data.ts'

const DEFAULTS = { fetchTo: 'METADATA', dataMapping: { alarmThreshold: 'threshold' }, dataToFetch: 'ATTRIBUTES' }

export const tenantAttributes = defineNode({
  type: 'org.thingsboard.rule.engine.metadata.TbGetTenantAttributeNode',
  name: 'tenant attributes',
  category: 'ENRICHMENT',
  relations: ['Success'],
  description: 'Adds attributes or latest values of the tenant, under other names.',
  configurationVersion: 1,
  configuration: z.looseObject({ fetchTo, dataMapping, dataToFetch }),
  defaults: DEFAULTS,
  examples: [
    {
      title: 'a tenant without the attribute',
      configuration: DEFAULTS,
      given: { data: '{"a":1}' },
      expect: { relations: ['Success'], data: '{"a":1}', metadata: {} },
    },
  ],
  upgrade: mappedUpgrade,
  uses: ['attributes', 'history'],
  create: (configuration, { services, tenantId }) => {
    requireMapping(configuration.dataMapping, 'tenant attributes')
    const fetch = mappedFetch(configuration, configuration.dataToFetch, services)
    const tenant = entityId('TENANT', tenantId)
    return {
      handle: (message) => {
        checkTarget(message, configuration.fetchTo)
        return fetch(message, tenant)
      },
    }
  },
})
