/** Graphs of rule chains as they were saved, each with who saved it. They go with the chain. */
import { z } from 'zod'
import type { RuleChainGraph } from '../../model/entities.ts'
import { parseJson, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { EntityDatabase, Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import type { EntityTable, Row } from './tables/entity-table.ts'
import { RowStore } from './tables/row-store.ts'

export const RULE_CHAIN_VERSION_TABLE: EntityTable = {
  name: 'rule_chain_version',
  version: 1,
  columns: [
    {
      name: 'rule_chain_id',
      type: 'text',
      isNullable: false,
      references: { table: 'rule_chain', whenDeleted: 'delete' },
    },
    { name: 'chain_version', type: 'integer', isNullable: false },
    { name: 'author_id', type: 'text', isNullable: true },
    { name: 'author_name', type: 'text', isNullable: true },
    { name: 'node_count', type: 'integer', isNullable: false },
    { name: 'graph', type: 'text', isNullable: false },
  ],
  unique: [{ columns: ['rule_chain_id', 'chain_version'] }],
  indexes: [],
}

export interface ChainVersion {
  readonly id: string
  readonly tenantId: string
  readonly ruleChainId: string
  /** Unix ms. */
  readonly createdTime: number
  /** Of the chain. */
  readonly chainVersion: number
  readonly authorId: string | null
  readonly authorName: string | null
  readonly nodeCount: number
}

export interface DrawnVersion extends ChainVersion {
  /** Secrets sealed. */
  readonly graph: RuleChainGraph
  /** Of the row. */
  readonly rowVersion: number
}

export type NewVersion = Omit<DrawnVersion, 'nodeCount' | 'rowVersion'>

export class RuleChainVersionRepository {
  private readonly rows: RowStore

  constructor(database: EntityDatabase) {
    this.rows = new RowStore(database, RULE_CHAIN_VERSION_TABLE, {
      taken: {},
      overtaken: () => EntityStoreErrors.VERSION_CONFLICT({ entity: 'Rule chain' }),
    })
  }

  insert(version: NewVersion): Statement {
    return this.rows.insert({ ...rowOf(version), version: 1 })
  }

  keepNewest(ruleChainId: string, count: number): Statement {
    return this.rows.keepNewest({ rule_chain_id: ruleChainId }, count)
  }

  /** In the place of the graph that it was read with. */
  replaceGraph(version: DrawnVersion, graph: RuleChainGraph): Statement {
    return this.rows.update({ ...rowOf({ ...version, graph }), version: version.rowVersion + 1 })
  }

  /** Newest first. Their number is bounded by who writes them. */
  async of(ruleChainId: string): Promise<readonly ChainVersion[]> {
    const rows = await this.rows.findAll([{ column: 'rule_chain_id', is: ruleChainId }])
    return rows.map(versionOf).sort((a, b) => b.chainVersion - a.chainVersion)
  }

  async find(ruleChainId: string, id: string): Promise<DrawnVersion | undefined> {
    const row = await this.rows.find([
      { column: 'id', is: id },
      { column: 'rule_chain_id', is: ruleChainId },
    ])
    return row && drawnOf(row)
  }

  /** All of them, in the order of their ids. */
  async *all(): AsyncGenerator<DrawnVersion, undefined> {
    for (let after = ''; ;) {
      const rows = await this.rows.findAll([{ column: 'id', after }], VERSIONS_AT_ONCE)
      for (const row of rows) yield drawnOf(row)
      if (rows.length < VERSIONS_AT_ONCE) return
      after = String(rows.at(-1)?.['id'])
    }
  }
}

const VERSIONS_AT_ONCE = 20

function versionOf(row: Row): ChainVersion {
  const text = (name: string): string | null => {
    const value = row[name]
    return typeof value === 'string' ? value : null
  }
  return {
    ...{ id: String(row['id']), tenantId: String(row['tenant_id']), ruleChainId: String(row['rule_chain_id']) },
    ...{ createdTime: Number(row['created_time']), chainVersion: Number(row['chain_version']) },
    ...{ authorId: text('author_id'), authorName: text('author_name') },
    ...{ nodeCount: Number(row['node_count']) },
  }
}

function drawnOf(row: Row): DrawnVersion {
  return {
    ...versionOf(row),
    rowVersion: Number(row['version']),
    graph: graphSchema.parse(parseJson(String(row['graph']))),
  }
}

function rowOf({ graph, ...version }: NewVersion): Omit<Row, 'version'> {
  return {
    ...{ id: version.id, created_time: version.createdTime, tenant_id: version.tenantId },
    ...{ rule_chain_id: version.ruleChainId, chain_version: version.chainVersion },
    ...{ author_id: version.authorId, author_name: version.authorName },
    ...{ node_count: graph.nodes.length, graph: stringifyJson(jsonOf(graph)) },
  }
}

function jsonOf(graph: RuleChainGraph): JsonObject {
  return {
    ...graph,
    nodes: graph.nodes.map((node) => ({ ...node })),
    connections: graph.connections.map((connection) => ({ ...connection })),
  }
}

const anyJson = z.custom<JsonValue>()
const nodeSchema = z.object({
  ...{ id: z.string(), createdTime: z.number(), ruleChainId: z.string(), type: z.string(), name: z.string() },
  ...{ debugSettings: anyJson, singletonMode: z.boolean(), queueName: z.string().nullable() },
  ...{ configurationVersion: z.number(), configuration: z.custom<JsonObject>(), additionalInfo: anyJson },
  disabledReason: z.string().nullable(),
})
const graphSchema = z
  .object({
    ...{ ruleChainId: z.string(), version: z.number(), firstNodeIndex: z.number().nullable() },
    nodes: z.array(nodeSchema),
    connections: z.array(z.object({ fromIndex: z.number(), toIndex: z.number(), type: z.string() })),
    notes: anyJson.optional(),
  })
  .transform(({ notes, ...graph }): RuleChainGraph => ({ ...graph, ...(notes === undefined ? {} : { notes }) }))
