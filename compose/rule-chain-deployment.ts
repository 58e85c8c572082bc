/**
 * Brings rule chains into the engine: all of them at start, then each one as it changes. A change made over the API is answered
 * only when the engine runs it, so that the next message already meets the new version.
 */
import type { Clock, TimerHandle } from '../model/clock.ts'
import { entityId, type EntityId } from '../model/entity-id.ts'
import { errorText } from '../model/errors.ts'
import type { RuleChain, RuleChainGraph } from '../model/entities.ts'
import type { Log } from '../model/log.ts'
import { systemClock } from '../model/system-clock.ts'
import { nodeEntity } from '../engine/rulechain/chain-events.ts'
import type { ChainStart } from '../engine/rulechain/chain-start.ts'
import type { RuleEngine } from '../engine/rulechain/rule-engine.ts'
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import type { LifecycleStep, NotedChainEvents } from '../services/events/chain-events.ts'
import type { RuleChains } from '../services/rule-chains/rule-chains.ts'

/** After a failure, all chains are loaded again. */
const RETRY_MS = 5000

type DeployedChains = Pick<RuleChains, 'loadAll' | 'find' | 'sealedGraph' | 'root'>

/** Who notes how chains and nodes come and go. */
export type LifecycleEvents = Pick<NotedChainEvents, 'lifecycle'>

/** A chain as it was loaded last. */
interface Loaded {
  readonly tenantId: string
  readonly name: string
  /** Names of its nodes, by their ids. */
  readonly nodes: Map<string, string>
}

export class RuleChainDeployment {
  private readonly ruleChains: DeployedChains
  private readonly engine: Pick<RuleEngine, 'load' | 'remove'>
  private readonly log: Log
  private readonly clock: Clock
  private readonly events: LifecycleEvents | undefined
  /** Of each chain that runs, as it was loaded last. */
  private readonly nodes = new Map<string, Loaded>()
  /** The last deployment of each chain that is under way. */
  private readonly underWay = new Map<string, Promise<void>>()
  private stopListening: () => void = () => undefined
  private retry: TimerHandle | undefined
  private isClosed = false
  private stopGaps: () => void = () => undefined
  /** Chains that the engine was given. */
  private readonly deployed = new Set<string>()
  /** Chains that the engine was given as roots, and not since as others. */
  private readonly roots = new Set<string>()

  constructor(
    ruleChains: DeployedChains,
    engine: Pick<RuleEngine, 'load' | 'remove'>,
    log: Log,
    clock: Clock = systemClock,
    events?: LifecycleEvents,
  ) {
    this.events = events
    this.ruleChains = ruleChains
    this.engine = engine
    this.log = log
    this.clock = clock
  }

  /** Follows the feed, and loads every chain. Where changes of other processes may have been missed, all are loaded again. */
  async start(feed: ChangeFeed): Promise<void> {
    this.stopListening = feed.listenToAll(['rule-chain-changed', 'entity-deleted'], (change) => {
      if (change.kind === 'rule-chain-changed') this.deploy(change.tenantId, change.entity.id)
      else if (change.entity.entityType === 'RULE_CHAIN') this.withdraw(change.entity.id)
    })
    this.stopGaps = feed.onGap(() => this.reload())
    await feed.settled()
    for (const { chain, graph } of await this.ruleChains.loadAll()) {
      if (chain.type === 'EDGE') continue
      // It changed after this was read: the newer version is on its way, or there.
      if (this.underWay.has(chain.id) || this.deployed.has(chain.id)) continue
      await this.load(chain, graph)
    }
  }

  close(): void {
    this.isClosed = true
    this.retry?.cancel()
    this.stopListening()
    this.stopGaps()
  }

  /** Each chain in the order of its own changes; what is no more is withdrawn. */
  private reload(): void {
    // What is deployed after this read began is not in it, and not gone either.
    const left = new Set(this.deployed)
    this.ruleChains.loadAll().then(
      (all) => {
        for (const { chain } of all) {
          if (chain.type === 'EDGE') continue
          left.delete(chain.id)
          this.deploy(chain.tenantId, chain.id)
        }
        for (const id of left) this.withdraw(id)
      },
      (error: unknown) => {
        this.log.error('rule chains could not be read again', { reason: errorText(error) })
        this.reloadLater()
      },
    )
  }

  private reloadLater(): void {
    if (this.isClosed) return
    this.retry?.cancel()
    this.retry = this.clock.after(RETRY_MS, () => this.reload())
  }

  /** Resolves when all that is known of the chain's changes by now has been deployed, or noted as failed. */
  async deployment(ruleChainId: string): Promise<void> {
    await this.underWay.get(ruleChainId)
  }

  private deploy(tenantId: string, id: string): void {
    this.follow(id, async () => {
      // In this order: a graph that is newer than its chain is what comes next anyway, an older one was never meant to be the root.
      const chain = await this.ruleChains.find(tenantId, id)
      const graph = chain && (await this.ruleChains.sealedGraph(tenantId, id))
      // Deleted meanwhile: that change comes next. Chains of edges run at the edges.
      if (chain === undefined || graph === undefined || chain.type === 'EDGE') return
      await this.load(chain, graph)
    })
  }

  private async load(chain: RuleChain, graph: RuleChainGraph): Promise<void> {
    this.deployed.add(chain.id)
    const wasRoot = this.roots.has(chain.id)
    if (chain.root) this.roots.add(chain.id)
    else this.roots.delete(chain.id)
    this.report(chain, await this.engine.load(chain, graph))
    if (chain.root || !wasRoot) return
    // It may have been read before its successor and loaded behind it: the engine is told of the root again.
    const root = await this.ruleChains.root(chain.tenantId)
    if (root !== undefined && !this.isClosed) this.deploy(root.tenantId, root.id)
  }

  private withdraw(id: string): void {
    this.follow(id, async () => {
      await this.engine.remove(id)
      this.deployed.delete(id)
      this.roots.delete(id)
      this.reportGone(id)
    })
  }

  /** One deployment of a chain after the other, so that the newest version is the last to arrive. */
  private follow(id: string, run: () => Promise<void>): void {
    const next = (this.underWay.get(id) ?? Promise.resolve()).then(run).catch((error: unknown) => {
      this.log.error('a rule chain could not be deployed; its last version goes on', {
        ruleChainId: id,
        reason: errorText(error),
      })
      this.reloadLater()
    })
    this.underWay.set(id, next)
    void next.then(() => {
      if (this.underWay.get(id) === next) this.underWay.delete(id)
    })
  }

  private report(chain: RuleChain, start: ChainStart): void {
    const before = this.nodes.get(chain.id)
    const { tenantId, name } = chain
    const steps = this.stepsOf(tenantId, chain.id, name)
    steps(chainId(chain.id), name, before === undefined ? 'STARTED' : 'UPDATED', start.error)
    if (start.error !== undefined)
      this.log.error('a rule chain does not run', { ruleChain: name, reason: start.error.message })
    for (const node of start.nodes) {
      const entity = nodeEntity(node.ruleNodeId)
      const step = before?.nodes.delete(node.ruleNodeId) === true ? 'UPDATED' : 'STARTED'
      if (!node.isKept) steps(entity, node.name, step, node.error)
      if (node.error === undefined) continue
      this.log.warn('a rule node does not run: its messages fail', {
        ruleChain: name,
        ruleNode: node.name,
        reason: node.error.message,
      })
    }
    for (const [gone, nodeName] of before?.nodes ?? []) steps(nodeEntity(gone), nodeName, 'STOPPED')
    const nodes = new Map(start.nodes.map((node) => [node.ruleNodeId, node.name]))
    this.nodes.set(chain.id, { tenantId, name, nodes })
  }

  private reportGone(id: string): void {
    const before = this.nodes.get(id)
    if (before === undefined) return
    this.nodes.delete(id)
    const steps = this.stepsOf(before.tenantId, id, before.name)
    for (const [nodeId, nodeName] of before.nodes) steps(nodeEntity(nodeId), nodeName, 'STOPPED')
    steps(chainId(id), before.name, 'STOPPED')
  }

  private stepsOf(tenantId: string, ruleChainId: string, ruleChainName: string) {
    return (component: EntityId, componentName: string, event: LifecycleStep, error?: Error): void =>
      this.events?.lifecycle({ tenantId, ruleChainId, ruleChainName, component, componentName, event, error })
  }
}

function chainId(id: string): EntityId {
  return entityId('RULE_CHAIN', id)
}
