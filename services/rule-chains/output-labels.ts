/** What comes out of a rule chain: the names of its output nodes, and which connections of other chains go by them. Source: `rest-api.md` 8. */
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { idOfTarget, INPUT_NODE_TYPE, OUTPUT_NODE_TYPE } from './node-types.ts'

/** A node of another chain that hands messages to this one, and what it does with those that come back. */
export interface LabelUsage {
  readonly ruleChainId: string
  readonly ruleNodeId: string
  readonly ruleChainName: string
  readonly ruleNodeName: string
  readonly labels: readonly string[]
}

export class OutputLabels {
  private readonly entities: Pick<EntityStore, 'ruleChains'>

  constructor(entities: Pick<EntityStore, 'ruleChains'>) {
    this.entities = entities
  }

  /** In their order, each once. */
  async of(ruleChainId: string): Promise<readonly string[]> {
    const graph = await this.entities.ruleChains.graph(ruleChainId)
    const outputs = (graph?.nodes ?? []).filter(({ type }) => type === OUTPUT_NODE_TYPE)
    return [...new Set(outputs.map(({ name }) => name))].sort()
  }

  /** By the names of chains and nodes; nodes that nothing is connected to are left out. */
  async usage(tenantId: string, ruleChainId: string): Promise<readonly LabelUsage[]> {
    const nodes = await this.entities.ruleChains.nodesOfType(tenantId, INPUT_NODE_TYPE)
    const callers = nodes.filter(({ node }) => idOfTarget(node.configuration) === ruleChainId)
    const used = callers.map(({ chainName, node, labels }) => ({
      ruleChainId: node.ruleChainId,
      ruleNodeId: node.id,
      ruleChainName: chainName,
      ruleNodeName: node.name,
      labels,
    }))
    return used.filter(({ labels }) => labels.length > 0)
  }
}
