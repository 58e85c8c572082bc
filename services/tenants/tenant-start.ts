/** What every tenant has from the start: a default profile for devices and one for assets, and its root rule chains. */
import type { Clock, Random } from '../../model/clock.ts'
import type { NodeCatalogue } from '../../engine/rulechain/node.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { defaultGraph, EDGE_ROOT_RULE_CHAIN_NAME, ROOT_RULE_CHAIN_NAME } from '../rule-chains/default-rule-chain.ts'
import { insertionOfProfile, newDeviceProfile, type DeviceProfile } from '../entities/device-profile.ts'
import { assetProfiles } from '../entities/asset-profile.ts'
import { apiUsageStates, NEW_STATE } from '../entities/api-usage-state.ts'
import { recordWith, rowsOf } from '../entities/rows.ts'
import { newRuleChain, ruleChains } from '../entities/rule-chain.ts'
import { monthOf } from '../usage/features.ts'
import { checkedGraph, firstNodeId, nothingDrawn } from '../rule-chains/graph.ts'

export interface TenantStartParts {
  readonly entities: EntityStore
  readonly clock: Clock
  readonly random: Random
  readonly catalogue: Pick<NodeCatalogue, 'find'>
}

export interface TenantStart {
  /** Go behind the tenant's own row. */
  readonly statements: readonly Statement[]
  readonly deviceProfile: DeviceProfile
}

export function tenantStart(parts: TenantStartParts, tenantId: string): TenantStart {
  const { entities, clock, random } = parts
  const record = () => ({ id: random.uuid(), createdTime: clock.now(), version: 1, tenantId })
  const deviceProfile = newDeviceProfile({ ...record(), name: 'default', default: true })
  const assetProfile = recordWith(assetProfiles, record(), {
    name: 'default',
    description: 'Default asset profile',
    default: true,
  })
  const usage = recordWith(apiUsageStates, record(), { ...NEW_STATE, cycleTs: monthOf(clock.now()) })
  // Not shown among the others; nothing runs it.
  const edgeRoot = { ...newRuleChain(random.uuid(), tenantId, clock.now()), name: EDGE_ROOT_RULE_CHAIN_NAME }
  return {
    statements: [
      ...rootRuleChain(parts, tenantId),
      rowsOf(ruleChains, entities).insert(ruleChains.rowOf({ ...edgeRoot, type: 'EDGE', root: true })),
      insertionOfProfile(entities, deviceProfile),
      rowsOf(assetProfiles, entities).insert(assetProfiles.rowOf(assetProfile)),
      rowsOf(apiUsageStates, entities).insert(apiUsageStates.rowOf(usage)),
    ],
    deviceProfile,
  }
}

function rootRuleChain(
  { entities, clock, random, catalogue }: TenantStartParts,
  tenantId: string,
): readonly Statement[] {
  const chain = { ...newRuleChain(random.uuid(), tenantId, clock.now()), name: ROOT_RULE_CHAIN_NAME, root: true }
  const raised = { ...chain, version: 2 }
  const graph = checkedGraph(defaultGraph(chain.id), raised, nothingDrawn(chain.id), {
    catalogue,
    // No node of it has any.
    secrets: { filled: ({ configuration }) => configuration, sealed: ({ configuration }) => configuration },
    disableUnknown: true,
    now: clock.now(),
    maxDebugMinutes: 0,
    newId: () => random.uuid(),
    chainName: () => undefined,
    hasQueue: () => false,
  })
  const saved = { ...raised, firstRuleNodeId: firstNodeId(graph) }
  return [rowsOf(ruleChains, entities).insert(ruleChains.rowOf(saved)), ...entities.ruleChains.replaceGraph(graph)]
}
