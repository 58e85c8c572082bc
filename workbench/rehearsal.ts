/** One chain on its own engine, its own clock and its own world: messages go in, and what they do is seen. Nothing of it is stored. */
import type { ActorSystem } from '../engine/actor/system.ts'
import type { DebugEvent } from '../engine/rulechain/chain-events.ts'
import type { NodeCatalogue } from '../engine/rulechain/node.ts'
import { StatesInMemory } from '../engine/state/memory-store.ts'
import { NodeStates } from '../engine/state/node-states.ts'
import type { Link } from '../engine/link/link.ts'
import type { NodeStart } from '../engine/rulechain/chain-start.ts'
import { createRuleEngine, type RuleEngine } from '../engine/rulechain/rule-engine.ts'
import type { RuleChain, RuleChainGraph, RuleNode } from '../model/entities.ts'
import type { ManualClock } from '../model/manual-clock.ts'
import type { Random } from '../model/clock.ts'
import type { Message } from '../model/message.ts'
import type { DrawnChain, DrawnNode } from './chain-file.ts'
import { WorkbenchErrors } from './errors.ts'
import { SoleWork } from './sole-work.ts'
import type { World } from './world.ts'

export interface RehearsalParts {
  readonly tenantId: string
  readonly catalogue: NodeCatalogue
  readonly world: World
  readonly clock: ManualClock
  readonly random: Random
  readonly actors: ActorSystem
  /** Gives what runs in real time, such as a sandbox, a moment; false once it has had enough of them. */
  readonly pause: (sofar: number) => Promise<boolean>
}

/** A message at a node: entered it, or left it by a relation. */
export interface Visit {
  readonly nodeIndex: number
  readonly direction: 'IN' | 'OUT'
  readonly relation: string | undefined
  readonly message: Message
}

/** Messages that one message may make by way of the queue before it is taken for endless. */
const MAX_MESSAGES = 1000
/** Relations that stand in debug events alone: nothing is connected by them. */
const TOLD_ONLY: ReadonlySet<string> = new Set(['ACK', 'To Root Rule Chain'])
/** Points in time at which something happens while time passes. */
const MAX_STEPS = 100_000
/** All that a rehearsal remembers lies in one partition. */
const STREAM = 0

export class Rehearsal {
  readonly visits: Visit[] = []
  private readonly parts: RehearsalParts
  private readonly engine: RuleEngine
  private readonly states: NodeStates
  private readonly indexes = new Map<string, number>()
  private readonly chain: DrawnChain
  private readonly chainId: string
  private enqueued: Message[] = []
  private sent = 0

  constructor(chain: DrawnChain, parts: RehearsalParts) {
    this.parts = parts
    this.chain = chain
    this.chainId = parts.random.uuid()
    const link: Pick<Link, 'publish'> = {
      publish: (message, receipt) => {
        this.enqueued.push(message)
        receipt.stored()
      },
    }
    this.states = new NodeStates({
      ...{ store: new StatesInMemory(), clock: parts.clock, serviceId: 'rehearsal', report: () => undefined },
      log: {
        publish: (message, receipt) => link.publish(message, receipt),
        streamOf: () => STREAM,
        settledBelow: () => 0,
      },
    })
    this.engine = createRuleEngine({
      ...{ catalogue: parts.catalogue, clock: parts.clock, random: parts.random, actors: parts.actors },
      capabilities: { ...parts.world.sources(), state: (node) => this.states.of(node) },
      log: () => undefined,
      link,
      deferral: this.states,
      events: { debug: (event) => this.note(event), failed: () => undefined },
    })
  }

  /** Resolves with how its nodes came up. */
  async load(): Promise<readonly NodeStart[]> {
    const { clock } = this.parts
    await this.states.taken(STREAM)
    const loading = this.engine.load(this.record(), this.graph())
    let isDone = false
    const done = loading.finally(() => (isDone = true))
    for (let looks = 0; !isDone; looks++) {
      await clock.settle()
      if (!isDone && !(await this.parts.pause(looks))) break
    }
    const { error, nodes } = await done
    if (error !== undefined) throw WorkbenchErrors.GRAPH_BROKEN({ reason: error.message }, error)
    return nodes
  }

  /** Resolves with what the message, and all that it made by way of the queue, failed for. Throws `GOES_ROUND`, `NEVER_SETTLED`. */
  async send(messages: readonly Message[]): Promise<readonly Error[]> {
    const failures: Error[] = []
    let next = messages
    for (let sent = 0; next.length > 0; sent += next.length) {
      if (sent > MAX_MESSAGES) throw WorkbenchErrors.GOES_ROUND({ limit: MAX_MESSAGES })
      const works = next.map((message) => new SoleWork(message))
      for (const { message } of works) message.sequence = ++this.sent
      this.enqueued = []
      this.engine.process(works)
      await this.settled(works)
      failures.push(...works.flatMap(({ errors }) => errors))
      next = this.enqueued
    }
    return failures
  }

  async pass(ms: number): Promise<readonly Error[]> {
    const { clock } = this.parts
    const failures: Error[] = []
    const until = clock.now() + ms
    // From one thing that happens to the next, so that what one brings about is there for the other.
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      const left = until - clock.now()
      await clock.advance(Math.min(left, clock.untilNextTimerMs ?? left))
      const late = this.enqueued
      this.enqueued = []
      failures.push(...(await this.send(late)))
      if (left <= 0) break
    }
    return failures
  }

  async close(): Promise<void> {
    await this.engine.close()
    await this.states.close()
  }

  private async settled(works: readonly SoleWork[]): Promise<void> {
    for (let looks = 0; ; looks++) {
      await this.parts.clock.settle()
      if (works.every(({ open }) => open === 0)) return
      if (!(await this.parts.pause(looks))) throw WorkbenchErrors.NEVER_SETTLED({ nodes: this.lastEntered() })
    }
  }

  private lastEntered(): string {
    const last = this.visits.findLast(({ direction }) => direction === 'IN')
    return `'${this.chain.nodes[last?.nodeIndex ?? -1]?.name ?? 'the queue'}'`
  }

  private note({ ruleNodeId, direction, relation, message }: DebugEvent): void {
    const nodeIndex = this.indexes.get(ruleNodeId)
    if (nodeIndex !== undefined && !(direction === 'OUT' && TOLD_ONLY.has(relation ?? '')))
      this.visits.push({ nodeIndex, direction, relation, message })
  }

  private record(): RuleChain {
    return {
      ...{ id: this.chainId, tenantId: this.parts.tenantId, createdTime: 0, version: 2, name: this.chain.name },
      ...{ type: 'CORE', firstRuleNodeId: null, root: true, debugMode: false, configuration: null },
      additionalInfo: null,
    }
  }

  private graph(): RuleChainGraph {
    const { nodes, connections, firstNodeIndex } = this.chain
    return {
      ...{ ruleChainId: this.chainId, version: 2, firstNodeIndex, connections },
      nodes: nodes.map((node, index) => this.nodeRecord(node, index)),
    }
  }

  /** Watched for ever, so that every step of a message is seen. */
  private nodeRecord(node: DrawnNode, index: number): RuleNode {
    const id = this.parts.random.uuid()
    this.indexes.set(id, index)
    const { type, name, singletonMode, queueName, configurationVersion, configuration } = node
    return {
      ...{ id, createdTime: 0, ruleChainId: this.chainId, type, name, singletonMode, queueName },
      ...{ configurationVersion, configuration, additionalInfo: null, disabledReason: null },
      debugSettings: { failuresEnabled: true, allEnabled: true, allEnabledUntil: Number.MAX_SAFE_INTEGER },
    }
  }
}
