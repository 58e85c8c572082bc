/** Rule chains and their graphs (`rest-api.md` 8, `rule-engine.md` 3). */
import type { Clock, Random } from '../model/clock.ts'
import type { Page, PageQuery, RuleChain, RuleChainGraph } from '../model/entities.ts'
import type { EntityId } from '../model/entity-id.ts'
import { stringifyJson } from '../model/json.ts'
import type { KnownMessageType } from '../model/message-type.ts'
import type { Principal } from '../model/principal.ts'
import type { NodeCatalogue } from '../engine/rulechain/node.ts'
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import type { Statement } from '../storage/entities/database.ts'
import type { EntityStore } from '../storage/entities/entity-store.ts'
import type { CommitDoubts } from './commit-doubts.ts'
import { attemptedOn, attemptedSave } from './audit/audit-log.ts'
import type { Changes } from './changes.ts'
import type { Cleanup } from './cleanup.ts'
import type { EntityRegistry } from './entities/entity-registry.ts'
import { defaultGraph } from './default-rule-chain.ts'
import { ruleChainJson } from './entity-json.ts'
import { itemNotFound, RuleChainErrors, ServiceErrors } from './errors.ts'
import type { LimitsOfTenants } from './limits.ts'
import { checkName } from './names.ts'
import { checkedGraph, queueNamesIn, targetChainOf } from './rule-chain-graph.ts'
import type { GraphDraft, RuleChainDraft, RuleChainService } from './services.ts'

export interface RuleChainServiceParts {
  readonly entities: EntityStore
  /** Of what names chains. */
  readonly declared: Pick<EntityRegistry, 'checkUnused'>
  readonly changes: Changes
  readonly feed: ChangeFeed
  readonly doubts: CommitDoubts
  readonly cleanup: Cleanup
  readonly catalogue: Pick<NodeCatalogue, 'find'>
  readonly clock: Clock
  readonly random: Random
  readonly limits: Pick<LimitsOfTenants, 'guard'>
}

export class StoredRuleChains implements RuleChainService {
  private readonly parts: RuleChainServiceParts
  private readonly entities: EntityStore

  constructor(parts: RuleChainServiceParts) {
    this.parts = parts
    this.entities = parts.entities
  }

  async find(tenantId: string, id: string): Promise<RuleChain | undefined> {
    const chain = await this.entities.ruleChains.findAnywhere(id)
    return chain?.tenantId === tenantId ? chain : undefined
  }

  page(tenantId: string, type: 'CORE' | 'EDGE', page: PageQuery): Promise<Page<RuleChain>> {
    return this.entities.ruleChains.page(tenantId, type, page)
  }

  async graph(tenantId: string, id: string): Promise<RuleChainGraph | undefined> {
    return (await this.find(tenantId, id)) && this.entities.ruleChains.graph(id)
  }

  root(tenantId: string): Promise<RuleChain | undefined> {
    return this.entities.ruleChains.root(tenantId, 'CORE')
  }

  async loadAll(): Promise<readonly { readonly chain: RuleChain; readonly graph: RuleChainGraph }[]> {
    const loaded = []
    for (const chain of await this.entities.ruleChains.all()) {
      const graph = await this.entities.ruleChains.graph(chain.id)
      if (graph !== undefined) loaded.push({ chain, graph })
    }
    return loaded
  }

  saveByUser(principal: Principal, draft: RuleChainDraft): Promise<RuleChain> {
    const { id, name } = draft
    const tried = () => attemptedSave('RULE_CHAIN', id, name, { name })
    return this.parts.changes.attempt(principal, tried, () => this.save(principal, draft))
  }

  private async save(principal: Principal, draft: RuleChainDraft): Promise<RuleChain> {
    checkName('Rule chain', 'name', draft.name)
    const before = draft.id === undefined ? undefined : await this.required(principal, draft.id)
    checkVersion(draft.version, before)
    if (draft.root === true && before?.root !== true) throw RuleChainErrors.ROOT_EXISTS()
    const chain: RuleChain = {
      ...(before ?? this.newChain(principal)),
      version: (before?.version ?? 0) + 1,
      name: draft.name,
      type: before?.type ?? draft.type ?? 'CORE',
      debugMode: draft.debugMode ?? false,
      configuration: draft.configuration ?? null,
      additionalInfo: draft.additionalInfo ?? null,
    }
    const { ruleChains } = this.entities
    const steps =
      before === undefined
        ? [...(await this.parts.limits.guard(chain.tenantId, 'RULE_CHAIN')), ...ruleChains.insert(chain)]
        : ruleChains.update(chain)
    await this.commit(principal, chain, steps, before === undefined ? 'ENTITY_CREATED' : 'ENTITY_UPDATED')
    return chain
  }

  saveGraphByUser(
    principal: Principal,
    draft: GraphDraft,
    options: { readonly disableUnknown?: boolean } = {},
  ): Promise<RuleChainGraph> {
    const tried = () => attemptedOn('UPDATED', { entityType: 'RULE_CHAIN', id: draft.ruleChainId })
    return this.parts.changes.attempt(principal, tried, () => this.saveGraph(principal, draft, options))
  }

  private async saveGraph(
    principal: Principal,
    draft: GraphDraft,
    options: { readonly disableUnknown?: boolean },
  ): Promise<RuleChainGraph> {
    const before = await this.required(principal, draft.ruleChainId)
    checkVersion(draft.version, before)
    const graphBefore = await this.entities.ruleChains.graph(before.id)
    if (graphBefore === undefined) throw itemNotFound({ entityType: 'RULE_CHAIN', id: before.id })
    const raised: RuleChain = { ...before, version: before.version + 1 }
    const graph = checkedGraph(draft, raised, graphBefore, {
      catalogue: this.parts.catalogue,
      disableUnknown: options.disableUnknown ?? false,
      now: this.parts.clock.now(),
      newId: () => this.parts.random.uuid(),
      chainName: await this.namesOfTargets(before.tenantId, draft),
      hasQueue: await this.queuesOf(before.tenantId, queueNamesIn(draft.nodes)),
    })
    const chain = { ...raised, firstRuleNodeId: firstNodeId(graph) }
    const { ruleChains } = this.entities
    await this.commit(
      principal,
      chain,
      [...ruleChains.update(chain), ...ruleChains.replaceGraph(graph)],
      'ENTITY_UPDATED',
    )
    return graph
  }

  async setRootByUser(principal: Principal, id: string): Promise<RuleChain> {
    const before = await this.required(principal, id)
    if (before.root) return before
    if (before.type !== 'CORE') throw ServiceErrors.NOT_A_CORE_CHAIN()
    const { ruleChains } = this.entities
    const oldRoot = await ruleChains.root(before.tenantId, before.type)
    const chain: RuleChain = { ...before, version: before.version + 1, root: true }
    const steps =
      oldRoot === undefined ? [] : ruleChains.update({ ...oldRoot, version: oldRoot.version + 1, root: false })
    await this.commit(principal, chain, [...steps, ...ruleChains.update(chain)], 'ENTITY_UPDATED')
    if (oldRoot !== undefined) this.publishChanged(oldRoot)
    return chain
  }

  deleteByUser(principal: Principal, id: string): Promise<void> {
    const tried = () => attemptedOn('DELETED', { entityType: 'RULE_CHAIN', id })
    return this.parts.changes.attempt(principal, tried, () => this.remove(principal, id))
  }

  private async remove(principal: Principal, id: string): Promise<void> {
    const chain = await this.required(principal, id)
    if (chain.root) throw ServiceErrors.ROOT_CHAIN_DELETE()
    await this.parts.declared.checkUnused('RULE_CHAIN', chain.tenantId, id)
    const steps = [...this.entities.ruleChains.delete(chain), ...this.entities.deleteAttached(id)]
    const noted = this.entities.cleanups.note(id)
    await this.commitInDoubt(principal, chain, [...steps, noted], 'ENTITY_DELETED')
    this.parts.feed.publish({ kind: 'entity-deleted', entity: idOf(chain), tenantId: chain.tenantId })
    await this.parts.cleanup.run(id)
  }

  async createDefaultByUser(principal: Principal, name: string): Promise<RuleChain> {
    checkName('Rule chain', 'name', name)
    const created: RuleChain = { ...this.newChain(principal), version: 1, name }
    const graph = this.defaultGraphOf({ ...created, version: 2 })
    const chain = { ...created, version: 2, firstRuleNodeId: firstNodeId(graph) }
    const { ruleChains } = this.entities
    const guard = await this.parts.limits.guard(chain.tenantId, 'RULE_CHAIN')
    const steps = [
      ...guard,
      ...ruleChains.insert(created),
      ...ruleChains.update(chain),
      ...ruleChains.replaceGraph(graph),
    ]
    await this.commit(principal, chain, steps, 'ENTITY_CREATED')
    return chain
  }

  /** Nodes that this version does not have are there, disabled: the shape is the reference's. */
  private defaultGraphOf(chain: RuleChain): RuleChainGraph {
    const nothing = { ruleChainId: chain.id, version: 1, firstNodeIndex: null, nodes: [], connections: [] }
    return checkedGraph(defaultGraph(chain.id), chain, nothing, {
      catalogue: this.parts.catalogue,
      disableUnknown: true,
      now: chain.createdTime,
      newId: () => this.parts.random.uuid(),
      chainName: () => undefined,
      hasQueue: () => false,
    })
  }

  private newChain(principal: Principal): RuleChain {
    if (principal.tenantId === null) throw ServiceErrors.PERMISSION_DENIED()
    return newRuleChain(this.parts.random.uuid(), principal.tenantId, this.parts.clock.now())
  }

  private async namesOfTargets(tenantId: string, draft: GraphDraft): Promise<(id: string) => string | undefined> {
    const names = new Map<string, string>()
    for (const legacy of draft.ruleChainConnections ?? []) {
      const chain = await this.find(tenantId, targetChainOf(legacy))
      if (chain !== undefined) names.set(chain.id, chain.name)
    }
    return (id) => names.get(id)
  }

  private async queuesOf(tenantId: string, names: ReadonlySet<string>): Promise<(name: string) => boolean> {
    const known = new Set<string>()
    for (const name of names) {
      if ((await this.entities.queues.findByName(tenantId, name)) !== undefined) known.add(name)
    }
    return (name) => known.has(name)
  }

  private async required(principal: Principal, id: string): Promise<RuleChain> {
    const chain = await this.entities.ruleChains.findAnywhere(id)
    if (chain === undefined) throw itemNotFound({ entityType: 'RULE_CHAIN', id })
    if (chain.tenantId !== principal.tenantId) throw ServiceErrors.PERMISSION_DENIED()
    return chain
  }

  private async commit(
    principal: Principal,
    chain: RuleChain,
    statements: readonly Statement[],
    type: KnownMessageType,
  ): Promise<void> {
    await this.commitInDoubt(principal, chain, statements, type)
    this.publishChanged(chain)
  }

  /** A commit that nobody knows of is looked at as a change: who runs the chain reads it again. */
  private async commitInDoubt(
    principal: Principal,
    chain: RuleChain,
    statements: readonly Statement[],
    type: KnownMessageType,
  ): Promise<void> {
    const commit = this.parts.changes.commit(statements, event(principal, chain, type))
    await this.parts.doubts.watch(commit, () => this.publishChanged(chain))
  }

  private publishChanged(chain: RuleChain): void {
    this.parts.feed.publish({ kind: 'rule-chain-changed', entity: idOf(chain), tenantId: chain.tenantId })
  }
}

/** An empty CORE chain that is not root. */
export function newRuleChain(id: string, tenantId: string, createdTime: number): RuleChain {
  return {
    id,
    createdTime,
    version: 1,
    tenantId,
    name: '',
    type: 'CORE',
    firstRuleNodeId: null,
    root: false,
    debugMode: false,
    configuration: null,
    additionalInfo: null,
  }
}

export function firstNodeId(graph: RuleChainGraph): string | null {
  return graph.firstNodeIndex === null ? null : (graph.nodes[graph.firstNodeIndex]?.id ?? null)
}

function checkVersion(version: number | undefined, before: RuleChain | undefined): void {
  if (version === undefined || before === undefined || version === before.version) return
  throw ServiceErrors.VERSION_CONFLICT({ entity: 'Rule chain' })
}

function idOf(chain: RuleChain): EntityId {
  return { entityType: 'RULE_CHAIN', id: chain.id }
}

function event(principal: Principal, chain: RuleChain, type: KnownMessageType) {
  return {
    type,
    principal,
    tenantId: chain.tenantId,
    customerId: null,
    originator: idOf(chain),
    metadata: { entityName: chain.name, entityType: 'RULE_CHAIN' },
    data: stringifyJson(ruleChainJson(chain)),
  }
}
