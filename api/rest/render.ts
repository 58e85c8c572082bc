/**
 * Records as JSON of the wire (`rest-api.md` 3.1, 3.3, 5, 8, 11, 12): nulls are written, no field is left out. Those that messages
 * carry too are in `services/entity-json.ts`.
 */
import { NULL_UUID } from '../../model/entity-id.ts'
import type { Page, RuleChainGraph, RuleNode, User } from '../../model/entities.ts'
import type { JsonObject } from '../../model/json.ts'
import { idJson } from '../../services/entity-json.ts'

/** Unassigned is not null but the id that means "no entity". */
function customerIdOf(id: string | null): JsonObject {
  return idJson('CUSTOMER', id ?? NULL_UUID)
}

export function renderPage<Item>(page: Page<Item>, render: (item: Item) => JsonObject): JsonObject {
  const { totalPages, totalElements, hasNext } = page
  return { data: page.data.map(render), totalPages, totalElements, hasNext }
}

export function renderUser(user: User): JsonObject {
  return {
    id: idJson('USER', user.id),
    createdTime: user.createdTime,
    tenantId: idJson('TENANT', user.tenantId ?? NULL_UUID),
    customerId: customerIdOf(user.customerId),
    email: user.email,
    authority: user.authority,
    firstName: user.firstName,
    lastName: user.lastName,
    phone: user.phone,
    version: user.version,
    name: user.email,
    additionalInfo: user.additionalInfo,
  }
}

function renderRuleNode(node: RuleNode): JsonObject {
  return {
    id: idJson('RULE_NODE', node.id),
    createdTime: node.createdTime,
    ruleChainId: idJson('RULE_CHAIN', node.ruleChainId),
    type: node.type,
    name: node.name,
    debugSettings: node.debugSettings,
    singletonMode: node.singletonMode,
    queueName: node.queueName,
    configurationVersion: node.configurationVersion,
    configuration: node.configuration,
    externalId: null,
    additionalInfo: node.additionalInfo,
    ...(node.disabledReason === null ? {} : { disabledReason: node.disabledReason }),
  }
}

/** Lists where the reference writes null for "none": its own Python client refuses null there. */
export function renderGraph(graph: RuleChainGraph): JsonObject {
  return {
    ruleChainId: idJson('RULE_CHAIN', graph.ruleChainId),
    version: graph.version,
    firstNodeIndex: graph.firstNodeIndex,
    nodes: graph.nodes.map(renderRuleNode),
    connections: graph.connections.map(({ fromIndex, toIndex, type }) => ({ fromIndex, toIndex, type })),
    ruleChainConnections: [],
    ...(graph.notes === undefined || (Array.isArray(graph.notes) && graph.notes.length === 0)
      ? {}
      : { notes: graph.notes }),
  }
}
