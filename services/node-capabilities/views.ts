/** Entity views of an entity of the node's tenant. */
import { entityId } from '../../model/entity-id.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { NodeView, NodeViews } from '../../engine/rulechain/capabilities/views.ts'
import { entityViews } from '../entities/entity-view.ts'
import type { Services } from '../services.ts'

const NO_ATTRIBUTES = { cs: [], ss: [], sh: [] }

export function nodeViews({ declared }: Pick<Services, 'declared'>): (node: NodeIdentity) => NodeViews {
  return ({ tenantId }) => ({
    of: async (source) => {
      const views = await declared.of(entityViews).findAllBy(tenantId, { entityId: source })
      return views.map(({ id, keys, startTimeMs, endTimeMs }): NodeView => ({
        id: entityId('ENTITY_VIEW', id),
        source,
        startTimeMs,
        endTimeMs,
        timeseries: keys?.timeseries ?? [],
        attributes: keys?.attributes ?? NO_ATTRIBUTES,
      }))
    },
  })
}
