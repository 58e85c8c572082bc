/**
 * Rule chains: what the messages of a tenant go through. Their graphs are rows of their own, which the chain's version counts too
 * (`services/rule-chains`). Source: `rest-api.md` 8.1.
 */
import type { RuleChain } from '../../model/entities.ts'
import { entityId } from '../../model/entity-id.ts'
import type { Change } from '../../engine/subscriptions/change.ts'
import { RuleChainErrors } from '../rule-chains/errors.ts'
import { choice, fixed, flag, json, name, optionalText, type Column } from './column.ts'
import { defineEntity, type DraftOf } from './define.ts'

export const RULE_CHAIN_TYPES = ['CORE', 'EDGE'] as const

/** Names a part of the chain itself, no other entity. */
const firstRuleNodeId: Column<string | null> = {
  ...fixed(optionalText()),
  shape: {
    type: ['object', 'null'],
    properties: { entityType: { const: 'RULE_NODE' }, id: { type: 'string', format: 'uuid' } },
  },
  toJson: (id) => (id === null ? null : { entityType: 'RULE_NODE', id }),
}

/** Who runs the chain reads it again. */
export function chainChanged({ id, tenantId }: Pick<RuleChain, 'id' | 'tenantId'>): Change {
  return { kind: 'rule-chain-changed', entity: entityId('RULE_CHAIN', id), tenantId }
}

export const ruleChains = defineEntity({
  type: 'RULE_CHAIN',
  label: 'Rule chain',
  name: 'name',
  table: { name: 'rule_chain', version: 2, isInherited: true, countedSince: 2 },
  columns: {
    name: name(),
    type: choice(RULE_CHAIN_TYPES, 'CORE'),
    firstRuleNodeId,
    root: flag(false),
    debugMode: flag(false),
    configuration: json(),
    additionalInfo: json(),
  },
  example: () => ({ name: 'Thermostats' }),
  permissions: { SYS_ADMIN: 'all', TENANT_ADMIN: 'all' },
  tells: chainChanged,
  async prepare(record, { draft, before }) {
    // The root is made by a call of its own; a client that sends back what it read may keep the flag.
    if (draft.root === true && before?.root !== true) throw RuleChainErrors.ROOT_EXISTS()
    return { record: { ...record, type: before?.type ?? record.type, root: before?.root ?? false } }
  },
  async beforeDelete({ id, root }, { store }) {
    if (root) throw RuleChainErrors.ROOT_DELETE()
    return store.events.deleteOfChain(id)
  },
})

export type RuleChainDraft = DraftOf<typeof ruleChains.columns>

/** An empty CORE chain that is not root. */
export function newRuleChain(id: string, tenantId: string, createdTime: number): RuleChain {
  return {
    ...{ id, createdTime, version: 1, tenantId, name: '', type: 'CORE', firstRuleNodeId: null },
    ...{ root: false, debugMode: false, configuration: null, additionalInfo: null },
  }
}
