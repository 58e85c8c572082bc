/** Where messages of an entity of the node's tenant begin. */
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { NodeRoutes } from '../../engine/rulechain/capabilities/routes.ts'
import type { Services } from '../services.ts'

export function nodeRoutes({ routeOf }: Pick<Services, 'routeOf'>): (node: NodeIdentity) => NodeRoutes {
  return ({ tenantId }) => ({
    of: async (entity) => {
      const route = await routeOf(entity)
      if (route?.tenantId !== tenantId) return undefined
      return { ruleChainId: route.ruleChainId ?? undefined, queueName: route.queueName ?? undefined }
    },
  })
}
