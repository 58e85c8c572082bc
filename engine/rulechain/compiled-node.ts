/** One node of a compiled chain: its instance, where each of its relations leads, its figures. */
import type { RuleNode } from '../../model/entities.ts'
import type { BatchLine } from './batch-line.ts'
import type { NodeDebug } from './chain-events.ts'
import { Latency, type LatencyFigures } from './latency.ts'
import type { NodeInstance } from './node.ts'
import type { OriginatorLanes } from './originator-lanes.ts'

/** Spellings of one label that are remembered, so that a script that makes up labels can not fill the memory. */
const MAX_SPELLINGS = 64

/** The connections of one label. */
export interface Route {
  /** As the chain spells it first; empty for all that lead nowhere. */
  readonly relation: string
  readonly targets: readonly CompiledNode[]
  /** Messages that went this way. */
  taken: number
}

export interface RouteFigures {
  readonly relation: string
  readonly targets: readonly string[]
  readonly taken: number
}

export interface NodeFigures {
  readonly ruleNodeId: string
  readonly name: string
  readonly type: string
  /** Messages that entered the node. */
  readonly received: number
  readonly failed: number
  /** Of the failed: messages that had no outcome at their deadline. */
  readonly timedOut: number
  /** Outcomes that came after the deadline and were ignored. */
  readonly late: number
  /** Time spent in the node; of synchronous nodes one message in `SAMPLED_ONE_IN` is measured and counted for all. */
  readonly busyMs: number
}

/** What is looked at one chain at a time. */
export interface NodeStatistics extends NodeFigures {
  /** Unix ms: since then it counts, in this process. */
  readonly since: number
  /** From entering the node to its outcome, as far as it is measured. */
  readonly latency: LatencyFigures
  readonly routes: readonly RouteFigures[]
  /** Messages that left by a relation that is not connected. */
  readonly ended: number
}

export class CompiledNode {
  readonly record: RuleNode
  /** Undefined while the node could not be made: then `failure` says why. */
  instance: NodeInstance | undefined
  failure: Error | undefined
  /** The instance is that of the version before. */
  isKept = false
  line: BatchLine | undefined
  lanes: OriginatorLanes | undefined
  /** Where its messages are watched. */
  debug: NodeDebug | undefined
  /** Stands in the list of nodes that the next turn looks at. */
  isListed = false
  received = 0
  failed = 0
  timedOut = 0
  late = 0
  busyMs = 0
  readonly latency = new Latency()
  /** Unix ms. */
  since = 0

  /** By label in lower case. */
  private readonly routes = new Map<string, Route & { readonly targets: CompiledNode[] }>()
  private readonly spellings = new Map<string, Route>()
  private readonly nowhere: Route = { relation: '', targets: [], taken: 0 }
  private lastRelation = ''
  private lastRoute = this.nowhere

  constructor(record: RuleNode) {
    this.record = record
  }

  connect(relation: string, target: CompiledNode): void {
    const label = relation.toLowerCase()
    const route = this.routes.get(label)
    if (route === undefined) this.routes.set(label, { relation, targets: [target], taken: 0 })
    // The reference stores connections as a set of (from, to, label): one repeated in a file is one.
    else if (!route.targets.includes(target)) route.targets.push(target)
  }

  /** Where a relation leads; labels are compared without regard to case (`rule-engine.md` 2.1). Who goes there counts it as taken. */
  route(relation: string): Route {
    // Relations are few and mostly the same constant: comparing it costs less than a map (benchmarks/rule-chain).
    if (relation === this.lastRelation) return this.lastRoute
    const route = this.spellings.get(relation) ?? this.lookUp(relation)
    this.lastRelation = relation
    this.lastRoute = route
    return route
  }

  targets(relation: string): readonly CompiledNode[] {
    return this.route(relation).targets
  }

  figures(): NodeFigures {
    return {
      ruleNodeId: this.record.id,
      name: this.record.name,
      type: this.record.type,
      received: this.received,
      failed: this.failed,
      timedOut: this.timedOut,
      late: this.late,
      busyMs: this.busyMs,
    }
  }

  statistics(): NodeStatistics {
    return {
      ...this.figures(),
      since: this.since,
      latency: this.latency.figures(),
      routes: [...this.routes.values()].map(({ relation, targets, taken }) => ({
        relation,
        targets: targets.map(({ record }) => record.id),
        taken,
      })),
      ended: this.nowhere.taken,
    }
  }

  /** Goes on counting where the same node of the version before stopped. */
  continueFrom(before: CompiledNode): void {
    this.received += before.received
    this.failed += before.failed
    this.timedOut += before.timedOut
    this.late += before.late
    this.busyMs += before.busyMs
    this.since = before.since
    this.latency.continueFrom(before.latency)
    this.nowhere.taken += before.nowhere.taken
    for (const [label, { taken }] of before.routes) {
      const route = this.routes.get(label)
      if (route !== undefined) route.taken += taken
    }
  }

  private lookUp(relation: string): Route {
    const route = this.routes.get(relation.toLowerCase()) ?? this.nowhere
    if (this.spellings.size < MAX_SPELLINGS) this.spellings.set(relation, route)
    return route
  }
}
