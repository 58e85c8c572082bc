/** What comes out of a rule chain: the names of its output nodes, and which connections of other chains go by them. Source: `rest-api.md` 8. */
import type { RuleChainGraph } from '../../model/entities.ts'
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

  /** The graphs of other chains whose connections go by a name that `after` gives to an output node in the place of another, with the new one. */
  async relabelled(
    tenantId: string,
    before: RuleChainGraph,
    after: RuleChainGraph,
  ): Promise<readonly RuleChainGraph[]> {
    const renamed = renamedOutputs(before, after)
    if (renamed.size === 0) return []
    const usage = await this.usage(tenantId, after.ruleChainId)
    const callers = new Set<string>()
    for (const { ruleChainId, labels } of usage) {
      const isConcerned = labels.some((label) => renamed.has(label.toLowerCase()))
      if (isConcerned && ruleChainId !== after.ruleChainId) callers.add(ruleChainId)
    }
    const graphs: RuleChainGraph[] = []
    for (const id of callers) {
      const graph = await this.entities.ruleChains.graph(id)
      if (graph !== undefined) graphs.push(withLabels(graph, after.ruleChainId, renamed))
    }
    return graphs
  }
}

/** Former names in lower case to new ones. A name that became two, or that an output keeps, stays with the callers: nobody knows which they mean. */
function renamedOutputs(before: RuleChainGraph, after: RuleChainGraph): ReadonlyMap<string, string> {
  const names = new Map(outputsOf(before).map(({ id, name }) => [id, name]))
  const renamed = new Map<string, string>()
  const unclear = new Set<string>()
  for (const { id, name } of outputsOf(after)) {
    const former = names.get(id)?.toLowerCase()
    if (former === undefined) continue
    const other = renamed.get(former)
    if (other !== undefined && other !== name) unclear.add(former)
    renamed.set(former, name)
  }
  for (const [former, name] of renamed) if (unclear.has(former) || former === name.toLowerCase()) renamed.delete(former)
  return renamed
}

function outputsOf({ nodes }: RuleChainGraph): RuleChainGraph['nodes'] {
  return nodes.filter(({ type }) => type === OUTPUT_NODE_TYPE)
}

function withLabels(graph: RuleChainGraph, target: string, renamed: ReadonlyMap<string, string>): RuleChainGraph {
  const { nodes, version } = graph
  const leadsThere = (index: number): boolean => {
    const node = nodes[index]
    return node?.type === INPUT_NODE_TYPE && idOfTarget(node.configuration) === target
  }
  const byName = new Map<string, RuleChainGraph['connections'][number]>()
  for (const connection of graph.connections) {
    const { fromIndex, toIndex } = connection
    const name = leadsThere(fromIndex) ? renamed.get(connection.type.toLowerCase()) : undefined
    const type = name ?? connection.type
    // Two connections may have come to be one.
    byName.set(`${fromIndex} ${toIndex} ${type.toLowerCase()}`, { ...connection, type })
  }
  return { ...graph, version: version + 1, connections: [...byName.values()] }
}
