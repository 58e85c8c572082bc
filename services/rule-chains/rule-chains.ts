/** Rule chains with their graphs, beyond what the declaration says (`rest-api.md` 8, `rule-engine.md` 3). */
import type { TrialVersions } from '../../model/chain-trial.ts'
import type { Page, PageQuery, RuleChain, RuleChainGraph, RuleNode } from '../../model/entities.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { attemptedOn } from '../audit/audit-log.ts'
import type { EntityService } from '../entities/entity-service.ts'
import type { Joined } from '../entities/service-parts.ts'
import { chainChanged, ruleChains, type RuleChainDraft } from '../entities/rule-chain.ts'
import { graphJson } from '../entity-json.ts'
import { itemNotFound, ServiceErrors } from '../errors.ts'
import { checkName } from '../names.ts'
import { ChainFindings } from './chain-findings.ts'
import type { Finding } from './check.ts'
import { defaultGraph } from './default-rule-chain.ts'
import type { GraphDraft } from './drafts.ts'
import { RuleChainErrors } from './errors.ts'
import { checkedGraph, firstNodeId, queueNamesIn, targetChainOf } from './graph.ts'
import type { GraphOptions, RuleChainParts } from './parts.ts'
import { OutputLabels } from './output-labels.ts'
import { testScript, type ScriptTest, type ScriptTestResult } from './test-script.ts'
import { RuleChainVersions } from './versions.ts'
import { RuleChainTransfer } from './transfer.ts'

export type { GraphOptions, RuleChainParts } from './parts.ts'

/** A change resolves when it is durable, and in force where this process runs chains. */
export class RuleChains {
  readonly outputLabels: OutputLabels
  readonly transfer: RuleChainTransfer
  readonly versions: RuleChainVersions
  private readonly parts: RuleChainParts
  private readonly entities: EntityStore
  private readonly service: EntityService<typeof ruleChains.columns>
  private readonly check: ChainFindings

  constructor(parts: RuleChainParts) {
    this.parts = parts
    this.entities = parts.entities
    this.service = parts.declared.of(ruleChains)
    this.check = new ChainFindings(parts)
    this.outputLabels = new OutputLabels(parts.entities)
    this.versions = new RuleChainVersions(parts)
    this.transfer = new RuleChainTransfer(parts, this.versions, (...asked) => this.checked(...asked))
  }

  find(tenantId: string, id: string): Promise<RuleChain | undefined> {
    return this.service.find(tenantId, id)
  }

  async page(tenantId: string, type: 'CORE' | 'EDGE', query: PageQuery): Promise<Page<RuleChain>> {
    const page = await this.service.page(tenantId, { type }, query)
    return { ...page, data: page.data.map(({ record }) => record) }
  }

  /** As it is shown: without the secrets of its nodes. */
  async graph(tenantId: string, id: string): Promise<RuleChainGraph | undefined> {
    const graph = await this.sealedGraph(tenantId, id)
    return graph && this.parts.secrets.maskedGraph(graph)
  }

  /** As it is stored: for who runs it, see {@link openConfiguration}. */
  async sealedGraph(tenantId: string, id: string): Promise<RuleChainGraph | undefined> {
    return (await this.find(tenantId, id)) && this.entities.ruleChains.graph(id)
  }

  /** For a node that is made. Throws `rule-chain.SECRET_MASKED`, `vault.…`. */
  readonly openConfiguration = (node: RuleNode): JsonObject => this.parts.secrets.opened(node)

  /** What is wrong with the chain as it is stored; undefined where the tenant has none such. */
  async findings(tenantId: string, id: string): Promise<readonly Finding[] | undefined> {
    const chain = await this.find(tenantId, id)
    const graph = chain && (await this.entities.ruleChains.graph(id))
    return graph && this.check.of(chain, graph)
  }

  root(tenantId: string): Promise<RuleChain | undefined> {
    return this.service.findBy(tenantId, { type: 'CORE', root: true })
  }

  /** Every chain with its graph, secrets sealed: what the engine loads at start. */
  async loadAll(): Promise<readonly { readonly chain: RuleChain; readonly graph: RuleChainGraph }[]> {
    const loaded = []
    for (const chain of await this.service.findWhere([])) {
      const graph = await this.entities.ruleChains.graph(chain.id)
      if (graph !== undefined) loaded.push({ chain, graph })
    }
    return loaded
  }

  async saveByUser(principal: Principal, draft: RuleChainDraft): Promise<RuleChain> {
    return this.inForce(await this.service.saveByUser(principal, draft))
  }

  async deleteByUser(principal: Principal, id: string): Promise<void> {
    await this.service.deleteByUser(principal, id)
    await this.parts.deployments.of(idOf(id))
  }

  /** Replaces the graph; every node is checked against the catalogue first, so a bad chain changes nothing. */
  saveGraphByUser(principal: Principal, draft: GraphDraft, options: GraphOptions = {}): Promise<RuleChainGraph> {
    const tried = () => attemptedOn('UPDATED', idOf(draft.ruleChainId))
    return this.parts.changes.attempt(principal, tried, () => this.saveGraph(principal, draft, options))
  }

  /** A version that is not saved, beside what is: for a trial. Masks stand for the secrets of the live chain's nodes of the same id. */
  async forTrial(principal: Principal, draft: GraphDraft): Promise<TrialVersions> {
    const chain = await this.required(principal, draft.ruleChainId)
    const graph = await this.entities.ruleChains.graph(chain.id)
    if (graph === undefined) throw itemNotFound(idOf(chain.id))
    const raised: RuleChain = { ...chain, version: chain.version + 1 }
    const tried = { chain: raised, graph: await this.checked(draft, raised, graph, {}) }
    const others = []
    for (const other of await this.service.findAllBy(chain.tenantId, { type: 'CORE' })) {
      const drawn = other.id === chain.id ? undefined : await this.entities.ruleChains.graph(other.id)
      if (drawn !== undefined) others.push({ chain: other, graph: drawn })
    }
    return { live: { chain, graph }, tried, others }
  }

  /** Without its secrets: for who only shows what it would do. */
  readonly maskConfiguration = (node: RuleNode): JsonObject => this.parts.secrets.masked(node)

  private async saveGraph(principal: Principal, draft: GraphDraft, options: GraphOptions): Promise<RuleChainGraph> {
    const before = await this.required(principal, draft.ruleChainId)
    if (draft.version !== undefined && draft.version !== before.version)
      throw ServiceErrors.VERSION_CONFLICT({ entity: 'Rule chain' })
    const graphBefore = await this.entities.ruleChains.graph(before.id)
    if (graphBefore === undefined) throw itemNotFound(idOf(before.id))
    const raised: RuleChain = { ...before, version: before.version + 1 }
    const graph = await this.checked(draft, raised, graphBefore, options)
    const related =
      options.updateRelated === false ? [] : await this.outputLabels.relabelled(before.tenantId, graphBefore, graph)
    const chain = await this.service.changeByUser(
      principal,
      before,
      { firstRuleNodeId: firstNodeId(graph) },
      {
        statements: [...this.entities.ruleChains.replaceGraph(graph), ...this.versions.kept(principal, before, graph)],
        type: 'ENTITY_UPDATED',
        graph: this.told(graph),
        joined: await Promise.all(related.map((caller) => this.relabelling(principal, caller))),
      },
    )
    await this.inForce(chain)
    for (const { ruleChainId } of related) await this.parts.deployments.of(idOf(ruleChainId))
    return this.parts.secrets.maskedGraph(graph)
  }

  /** Saves a version again: what is in force now stays a version too. Node types that are not known any more come back disabled. */
  async restoreByUser(principal: Principal, ruleChainId: string, versionId: string): Promise<RuleChainGraph> {
    await this.required(principal, ruleChainId)
    const draft = await this.versions.draft(ruleChainId, versionId)
    return this.saveGraphByUser(principal, draft, { disableUnknown: true })
  }

  private async relabelling(principal: Principal, graph: RuleChainGraph): Promise<Joined> {
    const caller = await this.required(principal, graph.ruleChainId)
    if (caller.version + 1 !== graph.version) throw ServiceErrors.VERSION_CONFLICT({ entity: 'Rule chain' })
    const statements = [
      ...this.entities.ruleChains.replaceGraph(graph),
      ...this.versions.kept(principal, caller, graph),
    ]
    return this.service.joinedChange(
      principal,
      caller,
      {},
      { statements, type: 'ENTITY_UPDATED', graph: this.told(graph) },
    )
  }

  private told(graph: RuleChainGraph): JsonObject {
    return graphJson(this.parts.secrets.maskedGraph(graph))
  }

  private async checked(
    draft: GraphDraft,
    chain: RuleChain,
    before: RuleChainGraph,
    { disableUnknown = false }: GraphOptions,
    names: ReadonlyMap<string, string> = new Map(),
  ): Promise<RuleChainGraph> {
    const targets = await this.namesOfTargets(chain.tenantId, draft)
    const { catalogue, clock, random, limits, secrets } = this.parts
    const { maxDebugModeDurationMinutes: maxDebugMinutes } = await limits.of(chain.tenantId)
    return checkedGraph(draft, chain, before, {
      ...{ catalogue, secrets, disableUnknown, now: clock.now(), maxDebugMinutes },
      newId: () => random.uuid(),
      chainName: (id) => names.get(id) ?? targets.get(id),
      hasQueue: await this.queuesOf(chain.tenantId, queueNamesIn(draft.nodes)),
    })
  }

  async setRootByUser(principal: Principal, id: string): Promise<RuleChain> {
    const before = await this.required(principal, id)
    if (before.root) return before
    if (before.type !== 'CORE') throw RuleChainErrors.NOT_A_CORE_CHAIN()
    const oldRoot = await this.root(before.tenantId)
    const former =
      oldRoot === undefined ? [] : [this.service.update({ ...oldRoot, version: oldRoot.version + 1, root: false })]
    const change = { first: former, type: 'ENTITY_UPDATED' } as const
    const chain = await this.service.changeByUser(principal, before, { root: true }, change)
    if (oldRoot !== undefined) this.parts.feed.publish(chainChanged(oldRoot))
    return this.inForce(chain)
  }

  /** A chain of the default root chain's shape, which is not the root. Nodes that this version does not have are there, disabled. */
  createDefaultByUser(principal: Principal, name: string): Promise<RuleChain> {
    checkName('Rule chain', 'name', name)
    const chain = this.service.fresh(this.service.tenantOf(principal), { name })
    return this.transfer.createByUser(principal, chain, defaultGraph(chain.id))
  }

  /** Runs a script once, with a message that the user gives. */
  test(principal: Principal, language: 'TBEL' | 'JS', test: ScriptTest): Promise<ScriptTestResult> {
    return testScript(test, language, this.service.tenantOf(principal), this.parts)
  }

  /** Seals what is not sealed under the key in force: also what versions before kept as it is. Throws `vault.KEY_UNKNOWN`. */
  async sealAnew(): Promise<void> {
    const { entities, secrets } = this.parts
    for await (const { node, stored } of entities.ruleChains.storedNodes()) {
      const sealed = secrets.sealedAnew(node)
      // Where it was saved meanwhile, that save sealed it.
      if (sealed !== undefined)
        await entities.write([entities.ruleChains.replaceConfiguration(node.id, stored, sealed)])
    }
    await this.versions.sealAnew()
  }

  private async inForce(chain: RuleChain): Promise<RuleChain> {
    await this.parts.deployments.of(idOf(chain.id))
    return chain
  }

  private async namesOfTargets(tenantId: string, draft: GraphDraft): Promise<ReadonlyMap<string, string>> {
    const ids = (draft.ruleChainConnections ?? []).map(targetChainOf)
    const chains = ids.length === 0 ? [] : await this.service.findByIds(tenantId, ids)
    return new Map(chains.map(({ id, name }) => [id, name]))
  }

  private async queuesOf(tenantId: string, names: ReadonlySet<string>): Promise<(name: string) => boolean> {
    const known = new Set<string>()
    for (const name of names) {
      if ((await this.entities.queues.findByName(tenantId, name)) !== undefined) known.add(name)
    }
    return (name) => known.has(name)
  }

  private async required(principal: Principal, id: string): Promise<RuleChain> {
    const chain = await this.service.findAnywhere(id)
    if (chain === undefined) throw itemNotFound(idOf(id))
    if (chain.tenantId !== principal.tenantId) throw ServiceErrors.PERMISSION_DENIED()
    return chain
  }
}

function idOf(id: string): EntityId {
  return entityId('RULE_CHAIN', id)
}
