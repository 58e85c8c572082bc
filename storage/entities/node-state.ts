/**
 * What rule nodes remember, and the messages they send later. Each row belongs to a partition; a commit names the epoch under which its
 * process owns that partition, and is refused whole where another process has it under a later one.
 */
import { sql, type RawBuilder } from 'kysely'
import { NULL_UUID } from '../../model/entity-id.ts'
import { sqlValue, type BulkColumn, type EntityDatabase, type SqlValue, type Statement } from './database.ts'
import { allColumns, type EntityTable } from './tables/entity-table.ts'

const text = { type: 'text', isNullable: false } as const
const integer = { type: 'integer', isNullable: false } as const

/** `partition_name` tells the partitions of one log from those of another. */
const PLACE = [
  { name: 'rule_chain_id', ...text },
  { name: 'rule_node_id', ...text },
  { name: 'entity_id', ...text },
  { name: 'partition_name', ...text },
] as const

/** `version` is the epoch under which the partition is owned. */
export const NODE_PARTITION_TABLE: EntityTable = {
  name: 'node_partition',
  version: 1,
  columns: [{ name: 'owner', ...text }],
  unique: [],
  indexes: [],
}

export const NODE_STATE_TABLE: EntityTable = {
  name: 'node_state',
  version: 1,
  columns: [
    ...PLACE,
    { name: 'value', type: 'text', isNullable: true },
    /** Visits that may be repeated, with what came of them. */
    { name: 'done', ...text },
    { name: 'wake_at', type: 'integer', isNullable: true },
    { name: 'bytes', ...integer },
  ],
  unique: [],
  indexes: [
    { columns: ['partition_name', 'wake_at'], where: 'wake_at is not null' },
    { columns: ['rule_node_id'] },
    { columns: ['rule_chain_id'] },
    { columns: ['entity_id'] },
  ],
}

/** Messages that nodes made and the link does not have yet. `version` counts those of one owner, in the order in which they were committed. */
export const NODE_OUTPUT_TABLE: EntityTable = {
  name: 'node_output',
  version: 1,
  columns: [...PLACE, { name: 'due', ...integer }, { name: 'message', ...text }, { name: 'bytes', ...integer }],
  unique: [],
  indexes: [
    { columns: ['partition_name', 'due'] },
    { columns: ['rule_node_id'] },
    { columns: ['rule_chain_id'] },
    { columns: ['entity_id'] },
  ],
}

export const NODE_STATE_TABLES: readonly EntityTable[] = [NODE_PARTITION_TABLE, NODE_STATE_TABLE, NODE_OUTPUT_TABLE]

/** Where a row belongs. */
export interface NodeRowPlace {
  readonly tenantId: string
  readonly ruleChainId: string
  readonly ruleNodeId: string
  /** Of whom it speaks. */
  readonly entityId: string
}

export interface NodeStateRow extends NodeRowPlace {
  readonly id: string
  /** JSON text; null where only visits are remembered. */
  readonly value: string | null
  readonly done: string
  /** Unix ms. */
  readonly wakeAt: number | null
  readonly bytes: number
}

export interface NodeOutputRow extends NodeRowPlace {
  /** That of the message. */
  readonly id: string
  /** Unix ms. */
  readonly due: number
  readonly message: string
  readonly bytes: number
}

export class NodeStateRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  /** Undefined where nobody has owned the partition yet. */
  async epochOf(partition: string): Promise<number | undefined> {
    const rows = await this.read(sql<{ version: number }>`select version from node_partition where id = ${partition}`)
    return rows[0] && Number(rows[0].version)
  }

  /** From now on commits of earlier epochs are refused; so is the claim, with this error, where the partition has a later one. */
  claim(partition: string, epoch: number, owner: string, now: number, otherwise: () => Error): Statement {
    return this.statement(
      sql`insert into node_partition (id, created_time, version, tenant_id, owner)
        values (${partition}, ${now}, ${epoch}, ${NULL_UUID}, ${owner})
        on conflict (id) do update set version = excluded.version, owner = excluded.owner, created_time = excluded.created_time
        where node_partition.version < excluded.version
          or (node_partition.version = excluded.version and node_partition.owner = excluded.owner)`,
      { expect: { changes: 1, otherwise } },
    )
  }

  /** Undoes the transaction with this error where the partition is owned under another epoch. */
  fence(partition: string, epoch: number, otherwise: () => Error): Statement {
    return this.statement(
      sql`update node_partition set version = version where id = ${partition} and version = ${epoch}`,
      { expect: { changes: 1, otherwise } },
    )
  }

  putStates(partition: string, rows: readonly NodeStateRow[], now: number): Statement {
    const values = rows.map(({ value, done, wakeAt, bytes, ...row }) => [
      ...placeValues(partition, row, now),
      ...[value, done, wakeAt, bytes],
    ])
    return this.bulk(NODE_STATE_TABLE, values, UPDATED_STATE)
  }

  removeStates(ids: readonly string[]): Statement {
    return this.removal('node_state', ids)
  }

  /** `before`: how many their owner put before them. */
  putOutputs(partition: string, rows: readonly NodeOutputRow[], now: number, before: number): Statement {
    const values = rows.map(({ due, message, bytes, ...row }, index) => [
      ...placeValues(partition, row, now, before + index + 1),
      ...[due, message, bytes],
    ])
    return this.bulk(NODE_OUTPUT_TABLE, values, UPDATED_OUTPUT)
  }

  removeOutputs(ids: readonly string[]): Statement {
    return this.removal('node_output', ids)
  }

  async states(ids: readonly string[]): Promise<readonly NodeStateRow[]> {
    if (ids.length === 0) return []
    return (await this.read(sql<StateColumns>`select * from node_state where id in (${sql.join([...ids])})`)).map(
      stateOf,
    )
  }

  /** Those to be woken up to `time`, the earliest first. */
  async woken(partition: string, time: number, limit: number): Promise<readonly NodeStateRow[]> {
    const query = sql<StateColumns>`select * from node_state
      where partition_name = ${partition} and wake_at is not null and wake_at <= ${time} order by wake_at limit ${limit}`
    return (await this.read(query)).map(stateOf)
  }

  /** Those due up to `time`, the earliest first; of the same time in the order in which they were committed. */
  async due(partition: string, time: number, limit: number): Promise<readonly NodeOutputRow[]> {
    const query = sql<OutputColumns>`select * from node_output
      where partition_name = ${partition} and due <= ${time}
      order by due, created_time, version limit ${limit}`
    return (await this.read(query)).map(outputOf)
  }

  /** Unix ms; undefined where nothing waits. */
  async nextTime(partition: string): Promise<number | undefined> {
    const [row] = await this.read(sql<{ wake_at: number | null; due: number | null }>`select
      (select min(wake_at) from node_state where partition_name = ${partition} and wake_at is not null) as wake_at,
      (select min(due) from node_output where partition_name = ${partition}) as due`)
    const times = [row?.wake_at, row?.due].flatMap((time) =>
      time === null || time === undefined ? [] : [Number(time)],
    )
    return times.length === 0 ? undefined : Math.min(...times)
  }

  /** The messages that wait. */
  async waiting(partition: string): Promise<readonly Pick<NodeOutputRow, 'id' | 'ruleNodeId' | 'entityId' | 'due'>[]> {
    const rows = await this.read(sql<Pick<OutputColumns, 'id' | 'rule_node_id' | 'entity_id' | 'due'>>`
      select id, rule_node_id, entity_id, due from node_output where partition_name = ${partition}`)
    return rows.map((row) => ({
      id: row.id,
      ruleNodeId: row.rule_node_id,
      entityId: row.entity_id,
      due: Number(row.due),
    }))
  }

  async bytesOf(tenantId: string): Promise<number> {
    const [row] = await this.read(sql<{ bytes: number | null }>`select
      (select coalesce(sum(bytes), 0) from node_state where tenant_id = ${tenantId}) +
      (select coalesce(sum(bytes), 0) from node_output where tenant_id = ${tenantId}) as bytes`)
    return Number(row?.bytes ?? 0)
  }

  /**
   * Takes away what nodes left that are in no chain any more, and visits alone that were noted before `time` (Unix ms). The node that calculates a
   * tenant's fields has the tenant's id and is in no stored chain.
   */
  removeForgotten(time: number, limit: number): readonly Statement[] {
    const visits = sql`delete from node_state where id in (select id from node_state
      where value is null and wake_at is null and created_time < ${time} limit ${limit})`
    const forgotten = ['node_state', 'node_output'].map((name) => {
      const table = sql.table(name)
      return this.statement(sql`delete from ${table} where id in (
        select id from ${table} where rule_node_id <> tenant_id and not exists (select 1 from rule_node where rule_node.id = ${table}.rule_node_id)
        limit ${limit})`)
    })
    return [...forgotten, this.statement(visits)]
  }

  private bulk(
    table: EntityTable,
    parameterRows: readonly (readonly SqlValue[])[],
    updated: readonly string[],
  ): Statement {
    const columns = allColumns(table)
    const names = sql.join(columns.map(({ name }) => sql.ref(name)))
    const values = sql.join(columns.map(() => sql`${null}`))
    const set = sql.join(updated.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`))
    const query = sql`insert into ${sql.table(table.name)} (${names}) values (${values}) on conflict (id) do update set ${set}`
    const bulk: readonly BulkColumn[] = columns.map(({ name, type }) => ({ name, type, isKey: name === 'id' }))
    return { ...this.statement(query), parameters: [], parameterRows, bulk }
  }

  private removal(table: string, ids: readonly string[]): Statement {
    const query = sql`delete from ${sql.table(table)} where id = ${''}`
    return { ...this.statement(query), parameters: [], parameterRows: ids.map((id) => [id]) }
  }

  private async read<Row>(query: RawBuilder<Row>): Promise<readonly Row[]> {
    return (await this.database.read(query.compile(this.database.builder))).rows
  }

  private statement(query: RawBuilder<unknown>, options: Pick<Statement, 'expect'> = {}): Statement {
    const { sql: words, parameters } = query.compile(this.database.builder)
    return { sql: words, parameters: parameters.map(sqlValue), ...options }
  }
}

/** The epoch and the partition of a row may have changed with the log. */
const UPDATED_STATE = ['created_time', 'rule_chain_id', 'partition_name', 'value', 'done', 'wake_at', 'bytes']
const UPDATED_OUTPUT = ['due', 'message', 'bytes']

/** Of the common columns and {@link PLACE}, in their order. */
function placeValues(
  partition: string,
  row: NodeRowPlace & { readonly id: string },
  now: number,
  version = 1,
): readonly SqlValue[] {
  return [row.id, now, version, row.tenantId, row.ruleChainId, row.ruleNodeId, row.entityId, partition]
}

interface PlaceColumns {
  readonly id: string
  readonly tenant_id: string
  readonly rule_chain_id: string
  readonly rule_node_id: string
  readonly entity_id: string
  readonly bytes: number
}

interface StateColumns extends PlaceColumns {
  readonly value: string | null
  readonly done: string
  readonly wake_at: number | null
}

interface OutputColumns extends PlaceColumns {
  readonly due: number
  readonly message: string
}

function placeOf(row: PlaceColumns) {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    ruleChainId: row.rule_chain_id,
    ruleNodeId: row.rule_node_id,
    entityId: row.entity_id,
    bytes: Number(row.bytes),
  }
}

function stateOf(row: StateColumns): NodeStateRow {
  const wakeAt = row.wake_at === null ? null : Number(row.wake_at)
  return { ...placeOf(row), value: row.value, done: row.done, wakeAt }
}

function outputOf(row: OutputColumns): NodeOutputRow {
  return { ...placeOf(row), due: Number(row.due), message: row.message }
}
