/**
 * Rule chains with their graphs. Nodes have a place of their own, the order of creation; connections name nodes by id and
 * are handed out by index. The chain's version counts changes of the chain and of its graph together.
 */
import type { Selectable } from 'kysely'
import type { NodeConnection, RuleChain, RuleChainGraph, RuleNode } from '../../model/entities.ts'
import type { JsonObject } from '../../model/json.ts'
import { booleanColumn, jsonColumn, jsonObjectOf, jsonOf } from './columns.ts'
import { statementOf, type EntityDatabase, type Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import type { RuleChainTable, RuleNodeConnectionTable, RuleNodeTable } from './schema.ts'

/** As many as a refusal names. */
const MAX_NAMES = 10
const NODES_AT_ONCE = 100

/** A node, the name of its chain, and the labels of its connections. */
export interface ConnectedNode {
  readonly chainName: string
  readonly node: RuleNode
  readonly labels: readonly string[]
}

export class RuleChainRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  async root(tenantId: string, type: RuleChain['type']): Promise<RuleChain | undefined> {
    const row = await this.database.builder
      .selectFrom('rule_chain')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .where('type', '=', type)
      .where('root', '=', 1)
      .executeTakeFirst()
    return row && chainOf(row)
  }

  async all(): Promise<readonly RuleChain[]> {
    const rows = await this.database.builder.selectFrom('rule_chain').selectAll().orderBy('id').execute()
    return rows.map(chainOf)
  }

  /** Rule nodes that put messages into the queue of that name, as `chain: node`; `tenantId` absent: of every tenant. */
  async nodesUsingQueue(queueName: string, tenantId?: string): Promise<readonly string[]> {
    let query = this.database.builder
      .selectFrom('rule_node')
      .innerJoin('rule_chain', 'rule_chain.id', 'rule_node.rule_chain_id')
      .select(['rule_chain.name as chain', 'rule_node.name as node'])
      .where('rule_node.queue_name', '=', queueName)
      .orderBy('rule_chain.name')
      .orderBy('rule_node.position')
      .limit(MAX_NAMES)
    if (tenantId !== undefined) query = query.where('rule_chain.tenant_id', '=', tenantId)
    return (await query.execute()).map(({ chain, node }) => `${chain}: ${node}`)
  }

  /** A node with whose it is. */
  async findNode(id: string): Promise<{ readonly tenantId: string; readonly node: RuleNode } | undefined> {
    const row = await this.database.builder
      .selectFrom('rule_node')
      .innerJoin('rule_chain', 'rule_chain.id', 'rule_node.rule_chain_id')
      .selectAll('rule_node')
      .select('rule_chain.tenant_id as tenantId')
      .where('rule_node.id', '=', id)
      .executeTakeFirst()
    return row && { tenantId: row.tenantId, node: nodeOf(row) }
  }

  /** Every node, with its configuration as it lies there. */
  async *storedNodes(): AsyncGenerator<{ readonly node: RuleNode; readonly stored: string }, undefined> {
    for (let after = ''; ;) {
      const rows = await this.database.builder
        .selectFrom('rule_node')
        .selectAll()
        .where('id', '>', after)
        .orderBy('id')
        .limit(NODES_AT_ONCE)
        .execute()
      for (const row of rows) yield { node: nodeOf(row), stored: row.configuration }
      const last = rows.at(-1)
      if (last === undefined || rows.length < NODES_AT_ONCE) return undefined
      after = last.id
    }
  }

  /** Changes a node's configuration, unless it is another than `stored` by then. */
  replaceConfiguration(id: string, stored: string, configuration: JsonObject): Statement {
    const query = this.database.builder
      .updateTable('rule_node')
      .set({ configuration: jsonColumn(configuration) })
      .where('id', '=', id)
      .where('configuration', '=', stored)
    return statementOf(query)
  }

  /** Of all chains of the tenant, by the names of chains and nodes; with the labels of the connections that leave them, in their order. */
  async nodesOfType(tenantId: string, type: string): Promise<readonly ConnectedNode[]> {
    const rows = await this.database.builder
      .selectFrom('rule_node')
      .innerJoin('rule_chain', 'rule_chain.id', 'rule_node.rule_chain_id')
      .leftJoin('rule_node_connection', (join) =>
        join
          .onRef('rule_node_connection.rule_chain_id', '=', 'rule_node.rule_chain_id')
          .onRef('rule_node_connection.from_node_id', '=', 'rule_node.id'),
      )
      .selectAll('rule_node')
      .select(['rule_chain.name as chainName', 'rule_node_connection.type as label'])
      .where('rule_chain.tenant_id', '=', tenantId)
      .where('rule_node.type', '=', type)
      .orderBy('rule_chain.name')
      .orderBy('rule_node.name')
      .orderBy('rule_node.id')
      .execute()
    const nodes = new Map<string, { chainName: string; node: RuleNode; labels: Set<string> }>()
    for (const row of rows) {
      const node = nodes.get(row.id) ?? { chainName: row.chainName, node: nodeOf(row), labels: new Set<string>() }
      if (row.label !== null) node.labels.add(row.label)
      nodes.set(row.id, node)
    }
    return [...nodes.values()].map(({ labels, ...node }) => ({ ...node, labels: [...labels].sort() }))
  }

  /** The chain and its graph as of one version: read again where a save came between the reads. */
  async graph(id: string): Promise<RuleChainGraph | undefined> {
    const { builder } = this.database
    const chains = builder.selectFrom('rule_chain').selectAll().where('id', '=', id).compile()
    const nodes = builder
      .selectFrom('rule_node')
      .selectAll()
      .where('rule_chain_id', '=', id)
      .orderBy('position')
      .compile()
    const connections = builder.selectFrom('rule_node_connection').selectAll().where('rule_chain_id', '=', id).compile()
    for (;;) {
      const [before, nodeRows, connectionRows, after] = await Promise.all([
        this.database.read(chains),
        this.database.read(nodes),
        this.database.read(connections),
        this.database.read(chains),
      ])
      const chain = before.rows[0]
      if (chain === undefined) return undefined
      if (after.rows[0]?.version === chain.version) return graphOf(chain, nodeRows.rows, connectionRows.rows)
    }
  }

  insert(chain: RuleChain): readonly Statement[] {
    const row = { ...rowOf(chain), notes: null }
    return [statementOf(this.database.builder.insertInto('rule_chain').values(row))]
  }

  /** Replaces the version before this one. Throws `VERSION_CONFLICT` where another change came between. */
  update(chain: RuleChain): readonly Statement[] {
    const query = this.database.builder
      .updateTable('rule_chain')
      .set(rowOf(chain))
      .where('id', '=', chain.id)
      .where('version', '=', chain.version - 1)
    return [statementOf(query, { expect: { changes: 1, otherwise: changedBetween } })]
  }

  /** Puts the graph in place of the one before; goes with an `update` of the chain to the graph's version. */
  replaceGraph(graph: RuleChainGraph): readonly Statement[] {
    const { builder } = this.database
    const id = graph.ruleChainId
    const notes = graph.notes === undefined ? null : jsonColumn(graph.notes)
    return [
      statementOf(builder.updateTable('rule_chain').set({ notes }).where('id', '=', id)),
      statementOf(builder.deleteFrom('rule_node_connection').where('rule_chain_id', '=', id)),
      statementOf(builder.deleteFrom('rule_node').where('rule_chain_id', '=', id)),
      ...graph.nodes.map((node, position) =>
        statementOf(builder.insertInto('rule_node').values(nodeRowOf(node, position))),
      ),
      ...graph.connections.map((connection) =>
        statementOf(builder.insertInto('rule_node_connection').values(connectionRowOf(graph, connection))),
      ),
    ]
  }

  /** The chain with its graph. Throws `VERSION_CONFLICT` where it is not this version any more. */
  delete(chain: RuleChain): readonly Statement[] {
    const { builder } = this.database
    return [
      statementOf(builder.deleteFrom('rule_chain').where('id', '=', chain.id).where('version', '=', chain.version), {
        expect: { changes: 1, otherwise: changedBetween },
      }),
      statementOf(builder.deleteFrom('attribute').where('entity_id', '=', chain.id)),
    ]
  }
}

function changedBetween(): Error {
  return EntityStoreErrors.VERSION_CONFLICT({ entity: 'Rule chain' })
}

function rowOf(chain: RuleChain): Omit<RuleChainTable, 'notes'> {
  return {
    id: chain.id,
    created_time: chain.createdTime,
    version: chain.version,
    tenant_id: chain.tenantId,
    name: chain.name,
    type: chain.type,
    first_rule_node_id: chain.firstRuleNodeId,
    root: booleanColumn(chain.root),
    debug_mode: booleanColumn(chain.debugMode),
    configuration: jsonColumn(chain.configuration),
    additional_info: jsonColumn(chain.additionalInfo),
  }
}

function chainOf(row: Selectable<RuleChainTable>): RuleChain {
  return {
    id: row.id,
    createdTime: row.created_time,
    version: row.version,
    tenantId: row.tenant_id,
    name: row.name,
    type: row.type as RuleChain['type'],
    firstRuleNodeId: row.first_rule_node_id,
    root: row.root === 1,
    debugMode: row.debug_mode === 1,
    configuration: jsonOf(row.configuration),
    additionalInfo: jsonOf(row.additional_info),
  }
}

function nodeRowOf(node: RuleNode, position: number): RuleNodeTable {
  return {
    id: node.id,
    created_time: node.createdTime,
    rule_chain_id: node.ruleChainId,
    position,
    type: node.type,
    name: node.name,
    debug_settings: jsonColumn(node.debugSettings),
    singleton_mode: booleanColumn(node.singletonMode),
    queue_name: node.queueName,
    configuration_version: node.configurationVersion,
    configuration: jsonColumn(node.configuration),
    additional_info: jsonColumn(node.additionalInfo),
    disabled_reason: node.disabledReason,
  }
}

function nodeOf(row: Selectable<RuleNodeTable>): RuleNode {
  return {
    id: row.id,
    createdTime: row.created_time,
    ruleChainId: row.rule_chain_id,
    type: row.type,
    name: row.name,
    debugSettings: jsonOf(row.debug_settings),
    singletonMode: row.singleton_mode === 1,
    queueName: row.queue_name,
    configurationVersion: row.configuration_version,
    configuration: jsonObjectOf(row.configuration),
    additionalInfo: jsonOf(row.additional_info),
    disabledReason: row.disabled_reason,
  }
}

function connectionRowOf(graph: RuleChainGraph, connection: NodeConnection): RuleNodeConnectionTable {
  const from = graph.nodes[connection.fromIndex]
  const to = graph.nodes[connection.toIndex]
  if (from === undefined || to === undefined) throw new RangeError('A connection leads to no node')
  return { rule_chain_id: graph.ruleChainId, from_node_id: from.id, to_node_id: to.id, type: connection.type }
}

function graphOf(
  chain: Selectable<RuleChainTable>,
  nodeRows: readonly Selectable<RuleNodeTable>[],
  connectionRows: readonly Selectable<RuleNodeConnectionTable>[],
): RuleChainGraph {
  const indexes = new Map(nodeRows.map((row, index) => [row.id, index]))
  const indexOf = (nodeId: string): number => {
    const index = indexes.get(nodeId)
    if (index === undefined) throw EntityStoreErrors.FAILED({ reason: `rule chain ${chain.id} has no node ${nodeId}` })
    return index
  }
  const connections = connectionRows
    .map((row) => ({ fromIndex: indexOf(row.from_node_id), toIndex: indexOf(row.to_node_id), type: row.type }))
    .sort((a, b) => a.fromIndex - b.fromIndex || a.toIndex - b.toIndex || (a.type < b.type ? -1 : 1))
  return {
    ruleChainId: chain.id,
    version: chain.version,
    firstNodeIndex: chain.first_rule_node_id === null ? null : indexOf(chain.first_rule_node_id),
    nodes: nodeRows.map(nodeOf),
    connections,
    ...(chain.notes === null ? {} : { notes: jsonOf(chain.notes) }),
  }
}
