/** What the services of rule chains are made of. */
import type { Clock, Random } from '../../model/clock.ts'
import type { RuleChain, RuleChainGraph } from '../../model/entities.ts'
import type { NodeCatalogue } from '../../engine/rulechain/node.ts'
import type { ScriptHost } from '../../engine/script/script.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Changes } from '../changes/changes.ts'
import type { CommitDoubts } from '../changes/commit-doubts.ts'
import type { Deployments } from '../deployments.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import type { LimitsOfTenants } from '../tenants/limits.ts'
import type { TryNode } from './checked-chain.ts'
import type { GraphDraft } from './drafts.ts'
import type { NodeSecrets } from './node-secrets.ts'

export interface RuleChainParts {
  readonly entities: EntityStore
  readonly declared: EntityRegistry
  readonly changes: Changes
  readonly feed: ChangeFeed
  readonly doubts: CommitDoubts
  readonly deployments: Deployments
  readonly catalogue: Pick<NodeCatalogue, 'find'>
  readonly secrets: NodeSecrets
  readonly scripts: ScriptHost
  readonly clock: Clock
  readonly random: Random
  readonly limits: Pick<LimitsOfTenants, 'guard' | 'of'>
  /** Absent: what nodes do not start for is not looked for. */
  readonly tryNode?: TryNode | undefined
}

export interface GraphOptions {
  /** Node types that are not known are stored disabled and marked, in the place of being refused by name. */
  readonly disableUnknown?: boolean
  /** Connections of other chains follow an output node that gets another name; true where it is left out. */
  readonly updateRelated?: boolean
}

/** A graph as it is stored: with what the tenant has of chains and queues. `names` of chains that are about to be there. */
export type CheckGraph = (
  draft: GraphDraft,
  chain: RuleChain,
  before: RuleChainGraph,
  options: GraphOptions,
  names?: ReadonlyMap<string, string>,
) => Promise<RuleChainGraph>
