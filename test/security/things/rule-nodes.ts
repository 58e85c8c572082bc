import { entityId } from '../../../model/entity-id.ts'
import type { MakeThings } from './make-things.ts'

/** A node that is watched, and what it told. */
export const makeRuleNodes: MakeThings = async ({ services, tenant, tenantId }) => {
  const { id: ruleChainId } = await services.ruleChains.saveByUser(tenant, { name: 'secret watched chain' })
  const node = { type: 'test.Node', name: 'secret node', configuration: {} }
  const graph = await services.ruleChains.saveGraphByUser(tenant, {
    ...{ ruleChainId, firstNodeIndex: 0, nodes: [node], connections: [] },
  })
  const ruleNodeId = graph.nodes[0]?.id ?? ''
  const body = { type: 'IN', data: '{"secret":"reading"}', metadata: '{}', msgType: 'POST_TELEMETRY_REQUEST' }
  services.events.writer.add({ type: 'DEBUG_RULE_NODE', tenantId, entity: entityId('RULE_NODE', ruleNodeId), body })
  return { ruleNodeId, watchedChainId: ruleChainId }
}
