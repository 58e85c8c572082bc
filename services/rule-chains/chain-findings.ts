/** What `chain check` says of a rule chain that is stored, beside what else its tenant has. */
import type { RuleChain, RuleChainGraph, RuleNode } from '../../model/entities.ts'
import { isMillraceError } from '../../model/errors.ts'
import { SECRET_MASK, secretsOf } from '../../model/secret-members.ts'
import { assetProfiles } from '../entities/asset-profile.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import { ruleChains } from '../entities/rule-chain.ts'
import { checkChain, type Finding } from './check.ts'
import { incomingFrom, union, type Incoming } from './incoming.ts'
import type { RuleChainParts } from './parts.ts'

export type ChainFindingsParts = Pick<RuleChainParts, 'entities' | 'declared' | 'catalogue' | 'secrets' | 'tryNode'>

export class ChainFindings {
  private readonly parts: ChainFindingsParts

  constructor(parts: ChainFindingsParts) {
    this.parts = parts
  }

  /** In the order of the nodes. No text of them holds a secret. */
  async of(chain: RuleChain, graph: RuleChainGraph): Promise<readonly Finding[]> {
    const { catalogue, tryNode } = this.parts
    const nodes = graph.nodes.map((node) => this.opened(node))
    const findings = await checkChain(
      { ...graph, nodes },
      { catalogue, tryNode: async (node) => tryNode?.(node), incoming: await this.incoming(chain, graph) },
    )
    return findings.map((finding) => this.withoutSecrets(finding, nodes))
  }

  /** One whose secrets are still to be filled in stays as it is: that is told of it. */
  private opened(node: RuleNode): RuleNode {
    try {
      return { ...node, configuration: this.parts.secrets.opened(node) }
    } catch (error) {
      if (isMillraceError(error)) return node
      throw error
    }
  }

  /** Read where it counts alone. */
  private async incoming(chain: RuleChain, graph: RuleChainGraph): Promise<Incoming | undefined> {
    const { catalogue, declared, entities } = this.parts
    const first = graph.firstNodeIndex === null ? undefined : graph.nodes[graph.firstNodeIndex]
    if (chain.root || first === undefined || catalogue.find(first.type)?.takes === undefined) return undefined
    const { id, tenantId } = chain
    const ofProfile = { defaultRuleChainId: id }
    if ((await declared.of(deviceProfiles).count(tenantId, ofProfile)) > 0) return undefined
    if ((await declared.of(assetProfiles).count(tenantId, ofProfile)) > 0) return undefined
    let found: Incoming | undefined
    // One graph at a time: a tenant may have thousands.
    for (const other of await declared.of(ruleChains).findAllBy(tenantId, { type: 'CORE' })) {
      const drawn = other.id === id ? undefined : await entities.ruleChains.graph(other.id)
      const more = drawn && incomingFrom([drawn], id, catalogue)
      if (more === 'all') return more
      if (more !== undefined) found = found === undefined ? more : union(found, more)
    }
    return found
  }

  private withoutSecrets(finding: Finding, nodes: readonly RuleNode[]): Finding {
    const node = finding.nodeIndex === undefined ? undefined : nodes[finding.nodeIndex]
    if (node === undefined) return finding
    const secrets = secretsOf(node.configuration, this.parts.catalogue.find(node.type)?.secrets ?? {})
    return {
      ...finding,
      text: [...secrets.values()].reduce((text, each) => text.replaceAll(each, SECRET_MASK), finding.text),
    }
  }
}
