/**
 * How much goes through the nodes of a chain and along its connections, how long nodes take, how often they fail. Counts are the engine's
 * of this process; rates are over the time since the chain was looked at before, ten seconds at least, and at first since it counts.
 */
import type { ChainStatistics } from '../../engine/rulechain/rule-engine.ts'
import type { NodeStatistics } from '../../engine/rulechain/compiled-node.ts'
import type { Clock } from '../../model/clock.ts'
import { RuleChainErrors } from './errors.ts'

const LEAST_WINDOW_MS = 10_000
const CHAINS_REMEMBERED = 1_000

interface Sample {
  readonly at: number
  readonly nodes: ReadonlyMap<string, NodeStatistics>
}

interface Samples {
  base: Sample | undefined
  latest: Sample
}

export interface EdgeReading {
  readonly relation: string
  readonly toRuleNodeIds: readonly string[]
  readonly messages: number
  /** A second. */
  readonly rate: number
}

export interface NodeReading extends Omit<NodeStatistics, 'routes'> {
  /** Messages and failures a second. */
  readonly rate: number
  readonly failureRate: number
  readonly edges: readonly EdgeReading[]
}

export interface ChainReading extends Omit<ChainStatistics, 'nodes' | 'tenantId'> {
  /** Over which rates are taken; 0 where each node's are since it counts. */
  readonly windowMs: number
  readonly nodes: readonly NodeReading[]
}

export class ChainStatisticsReader {
  private readonly clock: Clock
  private readonly samples = new Map<string, Samples>()
  private source: ((ruleChainId: string) => ChainStatistics | undefined) | undefined

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** The engine of this process. */
  follow(source: (ruleChainId: string) => ChainStatistics | undefined): void {
    this.source = source
  }

  /** Throws `NO_ENGINE_HERE`, `NOT_RUNNING`. */
  read(tenantId: string, ruleChainId: string): ChainReading {
    if (this.source === undefined) throw RuleChainErrors.NO_ENGINE_HERE()
    const statistics = this.source(ruleChainId)
    if (statistics?.tenantId !== tenantId) throw RuleChainErrors.NOT_RUNNING({ ruleChainId })
    const now = this.clock.now()
    const base = this.baseOf(ruleChainId, now, statistics)
    const { name, inFlight, dropped } = statistics
    return {
      ...{ ruleChainId, name, inFlight, dropped, windowMs: base === undefined ? 0 : now - base.at },
      nodes: statistics.nodes.map((node) => readingOf(node, base, now)),
    }
  }

  private baseOf(ruleChainId: string, now: number, { nodes }: ChainStatistics): Sample | undefined {
    const current: Sample = { at: now, nodes: new Map(nodes.map((node) => [node.ruleNodeId, node])) }
    const samples = this.samples.get(ruleChainId) ?? { base: undefined, latest: current }
    if (now - samples.latest.at >= LEAST_WINDOW_MS) {
      samples.base = samples.latest
      samples.latest = current
    }
    this.samples.delete(ruleChainId)
    this.samples.set(ruleChainId, samples)
    const [oldest] = this.samples.keys()
    if (this.samples.size > CHAINS_REMEMBERED && oldest !== undefined) this.samples.delete(oldest)
    return samples.base
  }
}

function readingOf(node: NodeStatistics, base: Sample | undefined, now: number): NodeReading {
  const { routes, ...figures } = node
  const sampled = base?.nodes.get(node.ruleNodeId)
  // Counted anew since, where the chain was removed and came back.
  const before = sampled !== undefined && sampled.since === node.since ? sampled : undefined
  const elapsedMs = now - (before === undefined || base === undefined ? node.since : base.at)
  const rateOf = (count: number, was = 0): number => (elapsedMs > 0 ? ((count - was) * 1000) / elapsedMs : 0)
  return {
    ...figures,
    rate: rateOf(node.received, before?.received),
    failureRate: rateOf(node.failed, before?.failed),
    edges: routes.map(({ relation, targets, taken }) => ({
      ...{ relation, toRuleNodeIds: targets, messages: taken },
      rate: rateOf(taken, before?.routes.find((route) => route.relation === relation)?.taken),
    })),
  }
}
