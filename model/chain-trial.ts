/** A rule chain on messages of the log, beside what runs: a shadow (new version beside the live one) or a replay. */
import type { RuleChain, RuleChainGraph } from './entities.ts'
import type { JsonObject, JsonValue } from './json.ts'

export const TRIAL_KINDS = ['shadow', 'replay'] as const
export type TrialKind = (typeof TRIAL_KINDS)[number]

export interface TrialOrder {
  readonly kind: TrialKind
  readonly tenantId: string
  /** The live chain that the version stands for: messages reach it as they reach that one. */
  readonly ruleChainId: string
  /** Replays only: what nodes do is done. */
  readonly isReal: boolean
  /** Replays: the first message's time in the log, Unix ms. Shadows begin now. */
  readonly from: number | undefined
  /** Shadows: how long it looks at what comes. */
  readonly durationMs: number
  readonly maxMessages: number
}

export interface DifferenceExample {
  readonly messageId: string
  readonly messageType: string
  readonly originator: JsonObject
  readonly live: readonly JsonValue[]
  readonly tried: readonly JsonValue[]
}

export const DIFFERENCE_KINDS = ['relations', 'messages', 'effects'] as const
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number]

export interface NodeDifference {
  readonly node: string
  readonly what: DifferenceKind
  /** Messages that differ in it. */
  readonly messages: number
  readonly examples: readonly DifferenceExample[]
}

/** Of the version that is tried. */
export interface TriedNode {
  readonly node: string
  readonly entered: number
  readonly relations: Readonly<Record<string, number>>
  /** By what it did, or in a dry run would have done. */
  readonly effects: Readonly<Record<string, number>>
}

export const TRIAL_PHASES = ['running', 'done', 'stopped', 'failed'] as const

export interface TrialReport {
  readonly id: string
  readonly kind: TrialKind
  readonly phase: (typeof TRIAL_PHASES)[number]
  /** Why it failed. */
  readonly reason: string | undefined
  readonly isReal: boolean
  /** Why it ended before it saw all it should. */
  readonly cut: 'messages' | 'time' | undefined
  /** Unix ms. */
  readonly startedAt: number
  readonly from: number
  readonly until: number
  /** The log's time that it has come to. */
  readonly reached: number
  /** The oldest message that the log still holds; undefined where it holds none. */
  readonly retainedFrom: number | undefined
  /** Messages of the tenant that were taken through. */
  readonly messages: number
  readonly maxMessages: number
  /** Of them: that came to the chain, failed in the version that is tried, and did not end in time. */
  readonly reachedChain: number
  readonly failed: number
  readonly unended: number
  /** Messages that go on after a node put them aside or sent them: the trial makes its own of them. */
  readonly passedOver: number
  /** Messages that differ in anything. */
  readonly differing: number
  readonly differences: readonly NodeDifference[]
  /** Differences at further nodes, beyond those that are told. */
  readonly untoldNodes: number
  readonly nodes: readonly TriedNode[]
  /** Nodes that do not start, with the reason. */
  readonly unstarted: readonly { readonly node: string; readonly version: 'live' | 'tried'; readonly reason: string }[]
}

export interface TrialVersions {
  readonly live: TrialChain
  readonly tried: TrialChain
  /** The tenant's other chains, which both may call. */
  readonly others: readonly TrialChain[]
}

export interface TrialChain {
  readonly chain: RuleChain
  /** Secrets sealed. */
  readonly graph: RuleChainGraph
}

export interface ChainTrials {
  /** Throws `RUNNING`, `FULL`, `TOO_MANY_CHAINS`, `NOT_HERE`. */
  begin(order: TrialOrder, versions: TrialVersions): TrialReport
  /** Throws `UNKNOWN`. */
  report(tenantId: string, id: string): TrialReport
  /** Resolves when it is over. Throws `UNKNOWN`. */
  stop(tenantId: string, id: string): Promise<TrialReport>
}
