/**
 * Rule chains as they were: each save of a graph is kept with its author, in the transaction of the save. Secrets stay sealed in them and are
 * masked where they are shown.
 */
import type { RuleChain, RuleChainGraph } from '../../model/entities.ts'
import type { Principal } from '../../model/principal.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { ChainVersion, DrawnVersion } from '../../storage/entities/rule-chain-versions.ts'
import { diffChains, type Difference } from './diff.ts'
import type { GraphDraft } from './drafts.ts'
import { RuleChainErrors } from './errors.ts'
import type { RuleChainParts } from './parts.ts'

export type { ChainVersion } from '../../storage/entities/rule-chain-versions.ts'

/** Of one chain; the oldest go. */
export const MAX_CHAIN_VERSIONS = 30

export class RuleChainVersions {
  private readonly parts: Pick<RuleChainParts, 'entities' | 'secrets' | 'clock' | 'random'>

  constructor(parts: RuleChainVersions['parts']) {
    this.parts = parts
  }

  /** For the transaction of the save. */
  kept(principal: Principal, { id, tenantId }: RuleChain, graph: RuleChainGraph): readonly Statement[] {
    const { entities, clock, random } = this.parts
    return [
      entities.ruleChainVersions.insert({
        ...{ id: random.uuid(), tenantId, ruleChainId: id, createdTime: clock.now(), chainVersion: graph.version },
        ...{ authorId: principal.userId, authorName: principal.email, graph },
      }),
      entities.ruleChainVersions.keepNewest(id, MAX_CHAIN_VERSIONS),
    ]
  }

  /** Newest first. */
  of(ruleChainId: string): Promise<readonly ChainVersion[]> {
    return this.parts.entities.ruleChainVersions.of(ruleChainId)
  }

  /** Secrets masked. Throws `VERSION_UNKNOWN`. */
  async shown(ruleChainId: string, versionId: string): Promise<DrawnVersion> {
    const version = await this.found(ruleChainId, versionId)
    return { ...version, graph: this.parts.secrets.maskedGraph(version.graph) }
  }

  /** From a version to another, or to the graph in force. A secret that changed is no difference that is shown. Throws `VERSION_UNKNOWN`. */
  async differences(ruleChainId: string, versionId: string, other: string | undefined): Promise<readonly Difference[]> {
    const before = await this.shown(ruleChainId, versionId)
    const after = other === undefined ? await this.inForce(ruleChainId) : (await this.shown(ruleChainId, other)).graph
    return diffChains(before.graph, after)
  }

  /** What a save takes to bring it back, with the secrets that it had. Nodes that are there still stay the same nodes. Throws `VERSION_UNKNOWN`. */
  async draft(ruleChainId: string, versionId: string): Promise<GraphDraft> {
    const { graph } = await this.found(ruleChainId, versionId)
    const { secrets } = this.parts
    return {
      ...{ ruleChainId, firstNodeIndex: graph.firstNodeIndex, connections: graph.connections },
      nodes: graph.nodes.map((node) => ({ ...node, configuration: secrets.masked(node), madeOf: node })),
      ...(graph.notes === undefined ? {} : { notes: graph.notes }),
    }
  }

  /** Seals what is not sealed under the key in force. Throws `vault.KEY_UNKNOWN`. */
  async sealAnew(): Promise<void> {
    const { entities, secrets } = this.parts
    for await (const version of entities.ruleChainVersions.all()) {
      let isChanged = false
      const nodes = version.graph.nodes.map((node) => {
        const configuration = secrets.sealedAnew(node)
        isChanged ||= configuration !== undefined
        return configuration === undefined ? node : { ...node, configuration }
      })
      if (isChanged)
        await entities.write([entities.ruleChainVersions.replaceGraph(version, { ...version.graph, nodes })])
    }
  }

  private async inForce(ruleChainId: string): Promise<RuleChainGraph> {
    const graph = await this.parts.entities.ruleChains.graph(ruleChainId)
    if (graph === undefined) throw RuleChainErrors.VERSION_UNKNOWN()
    return this.parts.secrets.maskedGraph(graph)
  }

  private async found(ruleChainId: string, versionId: string): Promise<DrawnVersion> {
    const version = await this.parts.entities.ruleChainVersions.find(ruleChainId, versionId)
    if (version === undefined) throw RuleChainErrors.VERSION_UNKNOWN()
    return version
  }
}
