/**
 * The rule engine: knows every chain of every tenant, hands each work to the actor of its chain, and changes chains while
 * they run. Source: `rule-engine.md` section 4.
 */
import type { RuleTracer } from './tracer.ts'
import type { Clock, Random } from '../../model/clock.ts'
import type { RuleChain, RuleChainGraph } from '../../model/entities.ts'
import { errorText } from '../../model/errors.ts'
import type { ActorSystem } from '../actor/system.ts'
import type { Message, Resumption } from '../../model/message.ts'
import type { Link, PublishReceipt } from '../link/link.ts'
import type { UsageMeter } from '../usage/usage.ts'
import type { Work, WorkProcessor } from '../queue/work.ts'
import { AcknowledgedWorks, type AcknowledgedFigures } from './acknowledged.ts'
import type { CapabilitySources } from './capabilities.ts'
import { RuleChainActor, add, noTotals } from './chain-actor.ts'
import type { ChainActorSettings, ChainVersion, NodeTotals } from './chain-actor.ts'
import { startOf, type ChainStart } from './chain-start.ts'
import { NO_EVENTS, type ChainEvents } from './chain-events.ts'
import { compileChain, type CompileInput, type OpenConfiguration } from './compile.ts'
import type { NodeFigures, NodeStatistics } from './compiled-node.ts'
import { RuleChainErrors } from './errors.ts'
import { Branch, returnsTo } from './branch.ts'
import type { DeferredMessage, Deferral } from './deferral.ts'
import { GoneChains, isChainMissing } from './gone-chains.ts'
import { nodeContext } from './node-context.ts'
import type { ContextSources, EngineLog } from './node-context.ts'
import type { NodeCatalogue, NodeSettings } from './node.ts'
import { startLateNodes } from './node-starter.ts'
import type { ChainProgram, ProgramSettings } from './program.ts'
import { TenantRoots } from './tenant-roots.ts'

export interface RuleEngineSettings extends ProgramSettings, ChainActorSettings {
  /** Messages under way after an "acknowledge" node settled them, at most; over it they settle at their end. */
  readonly maxAcknowledged: number
  readonly nodes: NodeSettings
}

export const DEFAULT_RULE_ENGINE_SETTINGS: RuleEngineSettings = {
  maxNodeExecutions: 1000,
  batchSize: 1000,
  batchesInFlight: 4,
  gatheredCharacters: 2 << 20,
  nodeTimeoutMs: 20_000,
  mailboxCapacity: 200_000,
  drainTimeoutMs: 10_000,
  maxAcknowledged: 10_000,
  nodes: { castStrings: true, logsInfo: true },
}

export interface RuleEngineOptions {
  readonly catalogue: NodeCatalogue
  /** What nodes may ask of the platform. */
  readonly capabilities: CapabilitySources
  readonly clock: Clock
  readonly random: Random
  readonly actors: ActorSystem
  /** Must bound its own rate: it is called once a line. */
  readonly log: EngineLog
  /** Where nodes put new messages. */
  readonly link: Pick<Link, 'publish'>
  /** Keeps messages for later; absent where no node asks for that. */
  readonly deferral?: Deferral
  /** What happens to chains and nodes that are watched; absent where nobody asks. */
  readonly events?: ChainEvents
  /** Whose messages are dropped; absent where all may run. */
  readonly meter?: Pick<UsageMeter, 'isDisabled'>
  /** Who follows messages through nodes; absent, they cost nothing more. */
  readonly tracer?: RuleTracer
  /** What is drawn in a chain by now: asked of chains that came here undrawn. Absent where nobody knows more. */
  readonly storedGraph?: (tenantId: string, ruleChainId: string) => Promise<RuleChainGraph | undefined>
  /** Asked of chains that messages name and that do not run here. Absent where nobody knows more. */
  readonly storedChain?: (tenantId: string, ruleChainId: string) => Promise<RuleChain | undefined>
  /** Absent where nothing is sealed. */
  readonly openConfiguration?: OpenConfiguration
  /** Chains of the platform's own, which are in no store: made when the first message comes for them. */
  readonly ownChain?: (
    tenantId: string,
    ruleChainId: string,
  ) => { readonly chain: RuleChain; readonly graph: RuleChainGraph } | undefined
  readonly settings?: Partial<RuleEngineSettings>
}

export interface ChainFigures {
  readonly ruleChainId: string
  readonly tenantId: string
  readonly name: string
  /** Messages that wait in or for a node now. */
  readonly inFlight: number
  /** Of the present version: messages that ended because the node they were addressed to is gone. */
  readonly dropped: number
  readonly nodes: readonly NodeFigures[]
}

export interface ChainStatistics extends Omit<ChainFigures, 'nodes'> {
  readonly nodes: readonly NodeStatistics[]
}

export interface RuleEngine extends WorkProcessor {
  /**
   * Loads a chain, or replaces the one of the same id: the new version takes over between two messages, none is lost.
   * Resolves with how the nodes came up when it has: the caller reports it. A chain that can not run at all is kept as failed: its messages fail
   * with the reason. A chain whose `root` is set becomes its tenant's root, once this version of it runs: until then the one before goes
   * on. Chains of type EDGE do not run here. Rejects `CLOSED`.
   */
  load(chain: RuleChain, graph: RuleChainGraph): Promise<ChainStart>
  /** Ends a chain: what waits for it fails as `retryable`, what is under way ends. */
  remove(ruleChainId: string): Promise<void>
  setRoot(tenantId: string, ruleChainId: string | undefined): void
  figures(): readonly ChainFigures[]
  /** Of one chain, in this process; undefined where it does not run here. */
  statistics(ruleChainId: string): ChainStatistics | undefined
  /** Over all chains and versions, removed ones too: messages that entered nodes, and that failed in them. */
  totals(): Readonly<NodeTotals>
  acknowledgedFigures(): AcknowledgedFigures
  /** Makes a chain of the platform's own before a message comes for it: what sleeps in it is woken here then. Never rejects. */
  startOwn(tenantId: string, ruleChainId: string): Promise<void>
  /** Node executions by tenant since the last time. */
  takeExecutions(): ReadonlyMap<string, number>
  /** Takes nothing more, lets what is under way end, closes all nodes. Idempotent. */
  close(): Promise<void>
}

export function createRuleEngine(options: RuleEngineOptions): RuleEngine {
  return new Engine(options)
}

/** The relation in debug events of a message that a node put at the start of a chain. */
const TO_ROOT = 'To Root Rule Chain'

/** Of a chain that was made and not changed since. */
const FIRST_VERSION = 1

interface LoadedChain {
  chain: RuleChain
  readonly actor: RuleChainActor
  /** Executions of its nodes that were taken. */
  taken: number
  /** Versions are made one after the other, in the order in which they were handed in. */
  loading: Promise<unknown>
}

class Engine implements RuleEngine {
  private readonly options: RuleEngineOptions
  private readonly settings: RuleEngineSettings
  private readonly chains = new Map<string, LoadedChain>()
  private readonly roots = new TenantRoots((ruleChainId) => this.chains.get(ruleChainId)?.actor)
  /** Chains that are being removed: one of the same id is loaded only after. */
  private readonly leaving = new Map<string, Promise<void>>()
  /** Of chains that were removed. */
  private readonly past: NodeTotals = noTotals()
  private executions = new Map<string, number>()
  private readonly acknowledged: AcknowledgedWorks
  private readonly gone: GoneChains
  private closing: Promise<void> | undefined

  constructor(options: RuleEngineOptions) {
    this.options = options
    this.settings = { ...DEFAULT_RULE_ENGINE_SETTINGS, ...options.settings }
    this.acknowledged = new AcknowledgedWorks(this.settings.maxAcknowledged)
    this.gone = new GoneChains(options)
  }

  process(pack: readonly Work[]): void {
    const { meter } = this.options
    for (const work of pack) {
      const { message } = work
      if (meter?.isDisabled(message.tenantId, 'RE') === true) {
        work.end()
        continue
      }
      const { resumption, tenantId } = message
      const ruleChainId = resumption?.ruleChainId ?? message.ruleChainId ?? this.roots.of(tenantId)
      if (ruleChainId === undefined) {
        work.end(RuleChainErrors.NO_ROOT_CHAIN({ tenantId }))
        continue
      }
      const branch = resumption === undefined ? new Branch(work, message) : resumed(work, resumption)
      const refused = this.send(tenantId, ruleChainId, branch)
      if (refused === undefined) continue
      if (this.closing === undefined && isChainMissing(refused)) this.gone.end(work, ruleChainId, refused)
      else work.end(refused)
    }
  }

  async load(chain: RuleChain, graph: RuleChainGraph): Promise<ChainStart> {
    await this.leaving.get(chain.id)
    if (this.closing !== undefined) throw RuleChainErrors.CLOSED()
    if (chain.type !== 'CORE') return { error: undefined, nodes: [] }
    this.roots.want(chain)
    const loaded = this.chains.get(chain.id)
    if (loaded === undefined) return this.begin(chain, graph)
    const next = loaded.loading.then(async () => {
      const version = await this.compile(chain, graph, loaded.actor.program)
      await loaded.actor.takeOver(Promise.resolve(version))
      loaded.chain = chain
      this.roots.runs(chain)
      return startOf(version)
    })
    loaded.loading = next.catch(() => undefined)
    return next
  }

  async remove(ruleChainId: string): Promise<void> {
    const loaded = this.chains.get(ruleChainId)
    if (loaded === undefined) return this.leaving.get(ruleChainId)
    this.chains.delete(ruleChainId)
    this.roots.remove(loaded.chain)
    add(this.past, loaded.actor.totals())
    const left = loaded.loading.then(() => loaded.actor.close()).then(() => this.takeOf(loaded))
    this.leaving.set(ruleChainId, left)
    await left
    this.leaving.delete(ruleChainId)
  }

  setRoot(tenantId: string, ruleChainId: string | undefined): void {
    this.roots.set(tenantId, ruleChainId)
  }

  figures(): readonly ChainFigures[] {
    return [...this.chains.values()].map(({ chain, actor }) => ({
      ruleChainId: chain.id,
      tenantId: chain.tenantId,
      name: chain.name,
      inFlight: actor.program?.inFlight ?? 0,
      dropped: actor.program?.dropped ?? 0,
      nodes: actor.program?.nodes.map((node) => node.figures()) ?? [],
    }))
  }

  statistics(ruleChainId: string): ChainStatistics | undefined {
    const program = this.chains.get(ruleChainId)?.actor.program
    return program && { ...program.figures(), nodes: program.nodes.map((node) => node.statistics()) }
  }

  totals(): Readonly<NodeTotals> {
    const totals = { ...this.past }
    for (const { actor } of this.chains.values()) add(totals, actor.totals())
    return totals
  }

  takeExecutions(): ReadonlyMap<string, number> {
    for (const loaded of this.chains.values()) this.takeOf(loaded)
    const taken = this.executions
    this.executions = new Map()
    return taken
  }

  private takeOf(loaded: LoadedChain): void {
    const { received } = loaded.actor.totals()
    const { tenantId } = loaded.chain
    if (received > loaded.taken) {
      this.executions.set(tenantId, (this.executions.get(tenantId) ?? 0) + received - loaded.taken)
    }
    loaded.taken = received
  }

  acknowledgedFigures(): AcknowledgedFigures {
    return this.acknowledged.figures()
  }

  close(): Promise<void> {
    return (this.closing ??= this.closeAll())
  }

  private async closeAll(): Promise<void> {
    const loaded = [...this.chains.values()]
    await Promise.all(loaded.map(({ actor }) => actor.close()))
    await Promise.all(this.leaving.values())
    // Whoever counts them asks once more.
    for (const one of loaded) this.takeOf(one)
    this.chains.clear()
    this.roots.clear()
  }

  /** The first version: what comes before it is compiled waits in the mailbox. */
  private async begin(chain: RuleChain, graph: RuleChainGraph): Promise<ChainStart> {
    const { actors, clock, log } = this.options
    const actor = new RuleChainActor({ actors, clock, log, settings: this.settings }, chain.id)
    const version = this.compile(chain, graph, undefined)
    const loading = actor.takeOver(version)
    this.chains.set(chain.id, { chain, actor, taken: 0, loading: loading.catch(() => undefined) })
    this.roots.waitFor(chain)
    await loading
    this.roots.runs(chain)
    return startOf(await version)
  }

  /** Never rejects: a graph that can not run becomes a version that says so. */
  private async compile(
    chain: RuleChain,
    graph: RuleChainGraph,
    previous: ChainProgram | undefined,
  ): Promise<ChainVersion> {
    if (isNotDrawn(graph)) return this.undrawn(chain)
    const { catalogue, clock } = this.options
    const sources: ContextSources = {
      ...this.options,
      settings: this.settings.nodes,
      enqueued: ({ ruleChainId, ruleNodeId }, message) =>
        this.chains.get(ruleChainId)?.actor.program?.watcherOf(ruleNodeId)?.left(message, TO_ROOT),
    }
    const input: CompileInput = {
      chain,
      graph,
      catalogue,
      contextOf: (node, uses, secrets) => nodeContext(sources, chain, node, uses, secrets),
      openConfiguration: this.options.openConfiguration,
      settings: this.settings,
      surroundings: {
        clock,
        log: this.options.log,
        events: this.options.events ?? NO_EVENTS,
        tracer: this.options.tracer,
        send: (ruleChainId, branch) => this.enter(chain.tenantId, ruleChainId, branch),
        acknowledge: (work) => this.acknowledged.detach(work),
        enqueue: (message, receipt) => this.enqueue(message, receipt),
        defer: (deferred, receipt) => this.defer(deferred, receipt),
      },
      previous,
    }
    try {
      const program = await compileChain(input)
      startLateNodes(program, input, { clock, log: this.options.log })
      return { chain, program }
    } catch (cause) {
      return { chain, failure: RuleChainErrors.CHAIN_FAILED({ chain: chain.name, reason: errorText(cause) }, cause) }
    }
  }

  /** Messages end well while the store has nothing drawn either; where it has, this process is only behind, and they come again. */
  private undrawn(chain: RuleChain): ChainVersion {
    const failure = RuleChainErrors.CHAIN_NOT_DRAWN({ chain: chain.name })
    const { storedGraph } = this.options
    if (storedGraph === undefined) return { chain, failure }
    const isMeantEmpty = async (): Promise<boolean> => {
      const stored = await storedGraph(chain.tenantId, chain.id)
      return stored !== undefined && isNotDrawn(stored)
    }
    return { chain, failure, isMeantEmpty }
  }

  private enqueue(message: Message, receipt: PublishReceipt): void {
    // Its place in the log is one of its own.
    message.sequence = 0
    this.options.link.publish(message, receipt)
  }

  private defer(deferred: DeferredMessage, receipt: PublishReceipt): void {
    const { deferral } = this.options
    if (deferral === undefined) return receipt.refused(RuleChainErrors.NOTHING_DEFERRED())
    deferred.message.sequence = 0
    deferral.defer(deferred, receipt)
  }

  async startOwn(tenantId: string, ruleChainId: string): Promise<void> {
    await (this.chains.get(ruleChainId) ?? this.beginOwn(tenantId, ruleChainId))?.loading
  }

  /** What comes before it is compiled waits in its mailbox. */
  private beginOwn(tenantId: string, ruleChainId: string): LoadedChain | undefined {
    if (this.closing !== undefined) return undefined
    const own = this.options.ownChain?.(tenantId, ruleChainId)
    if (own === undefined) return undefined
    this.begin(own.chain, own.graph).catch((error: unknown) => {
      this.options.log('error', 'a chain of the platform’s own did not start', { tenantId, reason: errorText(error) })
    })
    return this.chains.get(ruleChainId)
  }

  /** From a chain that a tenant drew: the platform's own take what the log brings them, and nothing that a tenant makes up. */
  private enter(tenantId: string, ruleChainId: string, branch: Branch): Error | undefined {
    const isOwn = this.options.ownChain?.(tenantId, ruleChainId) !== undefined
    return isOwn ? RuleChainErrors.CHAIN_MISSING({ ruleChainId, tenantId }) : this.send(tenantId, ruleChainId, branch)
  }

  /** A chain of another tenant does not exist for this one. */
  private send(tenantId: string, ruleChainId: string, branch: Branch): Error | undefined {
    const loaded = this.chains.get(ruleChainId) ?? this.beginOwn(tenantId, ruleChainId)
    if (loaded === undefined || loaded.chain.tenantId !== tenantId) {
      return RuleChainErrors.CHAIN_MISSING({ ruleChainId, tenantId })
    }
    return loaded.actor.send(branch)
  }
}

/** Goes on where another delivery put it into the queue: with what it had used up, and the ways back it had. */
function resumed(work: Work, { ruleNodeId, relation, executions, callers }: Resumption): Branch {
  work.executions = executions
  return new Branch(work, work.message, returnsTo(callers), ruleNodeId, relation)
}

/**
 * A chain is made in one step and drawn in the next, and processes hear of them one after the other. An empty chain that was saved so settles
 * its messages, as in the reference; one that is only not known yet must not, since they would be gone.
 */
function isNotDrawn({ nodes, version }: RuleChainGraph): boolean {
  return nodes.length === 0 && version <= FIRST_VERSION
}
