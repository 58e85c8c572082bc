/** One node of a compiled chain: its instance, where each of its relations leads, its figures. */
import type { RuleNode } from '../../model/entities.ts'
import type { BatchLine } from './batch-line.ts'
import type { NodeDebug } from './chain-events.ts'
import type { NodeInstance } from './node.ts'
import type { OriginatorLanes } from './originator-lanes.ts'

/** Spellings of one label that are remembered, so that a script that makes up labels can not fill the memory. */
const MAX_SPELLINGS = 64

const NOWHERE: readonly CompiledNode[] = []

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

  /** By label in lower case. */
  private readonly routes = new Map<string, CompiledNode[]>()
  private readonly spellings = new Map<string, readonly CompiledNode[]>()
  private lastRelation = ''
  private lastTargets: readonly CompiledNode[] = NOWHERE

  constructor(record: RuleNode) {
    this.record = record
  }

  connect(relation: string, target: CompiledNode): void {
    const label = relation.toLowerCase()
    const targets = this.routes.get(label)
    if (targets === undefined) this.routes.set(label, [target])
    // The reference stores connections as a set of (from, to, label): one repeated in a file is one.
    else if (!targets.includes(target)) targets.push(target)
  }

  /** Where a relation leads; labels are compared without regard to case (`rule-engine.md` 2.1). */
  targets(relation: string): readonly CompiledNode[] {
    // Relations are few and mostly the same constant: comparing it costs less than a map (benchmarks/rule-chain).
    if (relation === this.lastRelation) return this.lastTargets
    const targets = this.spellings.get(relation) ?? this.lookUp(relation)
    this.lastRelation = relation
    this.lastTargets = targets
    return targets
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

  /** Goes on counting where the same node of the version before stopped. */
  continueFrom(before: CompiledNode): void {
    this.received += before.received
    this.failed += before.failed
    this.timedOut += before.timedOut
    this.late += before.late
    this.busyMs += before.busyMs
  }

  private lookUp(relation: string): readonly CompiledNode[] {
    const targets = this.routes.get(relation.toLowerCase()) ?? NOWHERE
    if (this.spellings.size < MAX_SPELLINGS) this.spellings.set(relation, targets)
    return targets
  }
}
