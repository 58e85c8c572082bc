/** What is known of entities of one declared type: single ones, lists, how they are shown, where messages about them go. */
import type { Page, PageQuery } from '../../model/entities.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Condition, Join, RowStore } from '../../storage/entities/tables/row-store.ts'
import type { Row } from '../../storage/entities/tables/entity-table.ts'
import { itemNotFound } from '../errors.ts'
import { linkQueueOf, type Destination, type MessageRoute } from '../changes/message-route.ts'
import { columnOf, type ColumnSet, type EntityAccess, type EntityDefinition, type RecordOf } from './define.ts'
import { flagConditions, joinsOf, searchedColumns, sortOf } from './list-columns.ts'
import { customerOf } from './record-members.ts'
import { rowsOf } from './rows.ts'
import type { ConditionPage, EntityParts, Followers, Shown } from './service-parts.ts'

export class EntityReader<Columns extends ColumnSet> {
  readonly definition: EntityDefinition<Columns>
  protected readonly parts: EntityParts
  protected readonly access: EntityAccess & Followers
  protected readonly rows: RowStore
  private readonly joins: readonly Join[]
  private readonly sort: Readonly<Record<string, string>>

  constructor(definition: EntityDefinition<Columns>, parts: EntityParts, access: EntityAccess & Followers) {
    this.definition = definition
    this.parts = parts
    this.access = access
    this.rows = rowsOf(definition, parts.entities)
    this.joins = joinsOf(definition)
    this.sort = sortOf(definition)
  }

  async find(tenantId: string, id: string): Promise<RecordOf<Columns> | undefined> {
    const record = await this.findAnywhere(id)
    return record?.tenantId === tenantId ? record : undefined
  }

  /** Without a tenant: for the access check, which must know whose it is. */
  async findAnywhere(id: string): Promise<RecordOf<Columns> | undefined> {
    return this.findRow([{ column: 'id', is: id }])
  }

  /** For members that no two of the whole system have alike. */
  findAnywhereBy(members: Partial<RecordOf<Columns>>): Promise<RecordOf<Columns> | undefined> {
    return this.findRow(Object.entries(this.columnsOf(members)).map(([column, is]) => ({ column, is })))
  }

  findBy(tenantId: string, members: Partial<RecordOf<Columns>>): Promise<RecordOf<Columns> | undefined> {
    return this.findRow(this.conditions(tenantId, members))
  }

  async findByIds(tenantId: string, ids: readonly string[]): Promise<readonly RecordOf<Columns>[]> {
    const rows = await this.rows.findAll([
      { column: 'tenant_id', is: this.definition.tenantColumn(tenantId) },
      { column: 'id', in: ids },
    ])
    return rows.map((row) => this.definition.recordOf(row))
  }

  async findAllBy(tenantId: string, members: Partial<RecordOf<Columns>>): Promise<readonly RecordOf<Columns>[]> {
    const rows = await this.rows.findAll(this.conditions(tenantId, members))
    return rows.map((row) => this.definition.recordOf(row))
  }

  /** Texts of a member, each once, in their order. */
  async distinct(tenantId: string, member: string, members: Readonly<Record<string, unknown>>): Promise<string[]> {
    return (await this.rows.distinct(this.column(member), this.conditions(tenantId, members))).map(String)
  }

  count(tenantId: string, members: Partial<RecordOf<Columns>>): Promise<number> {
    return this.rows.count(this.conditions(tenantId, members))
  }

  /** Whether the text of the member names the entity in one whose member `except` does not. */
  async mentions(tenantId: string, member: string, id: string, except: string): Promise<boolean> {
    const tenant = { column: 'tenant_id', is: this.definition.tenantColumn(tenantId) }
    const others = { column: this.column(except), isNot: id }
    return (await this.rows.count([tenant, others, { column: this.column(member), holds: id }])) > 0
  }

  findByName(tenantId: string, name: string): Promise<RecordOf<Columns> | undefined> {
    const named = { column: this.column(this.definition.name), is: name }
    return this.findRow([{ column: 'tenant_id', is: this.definition.tenantColumn(tenantId) }, named])
  }

  /**
   * Those whose members are these; undefined ones do not matter. `infos`: with the names beside it, in which the text search looks too.
   */
  async page(
    tenantId: string,
    members: Readonly<Record<string, unknown>>,
    query: PageQuery,
    form: 'plain' | 'infos' = 'plain',
  ): Promise<Page<Shown<Columns>>> {
    const page = await this.rows.page({
      where: this.conditions(tenantId, members),
      joins: this.joins,
      sort: this.sort,
      search: searchedColumns(this.definition, form),
      query,
    })
    return { ...page, data: page.data.map((row) => ({ record: this.definition.recordOf(row), names: row })) }
  }

  /** Those that meet conditions on columns, whoever has them; what lists of the declaration's own need. */
  async pageWhere({ search, sort, ...page }: ConditionPage): Promise<Page<RecordOf<Columns>>> {
    const searched = search ?? [this.column(this.definition.name)]
    const found = await this.rows.page({ ...page, sort: { ...this.sort, ...sort }, search: searched })
    return { ...found, data: found.data.map((row) => this.definition.recordOf(row)) }
  }

  /** The different names of those that meet conditions, in their order. */
  pageOfNames(where: readonly Condition[], query: PageQuery): Promise<Page<string>> {
    return this.rows.pageOfValues(this.column(this.definition.name), where, query)
  }

  async findWhere(where: readonly Condition[], limit?: number): Promise<readonly RecordOf<Columns>[]> {
    const rows = await this.rows.findAll(where, limit)
    return rows.map((row) => this.definition.recordOf(row))
  }

  /** The JSON forms, with what has to be read for them. */
  async render(records: readonly RecordOf<Columns>[]): Promise<JsonObject[]> {
    const more = (await this.definition.readJson?.(records, this.access)) ?? []
    return records.map((record, index) => ({ ...this.definition.jsonOf(record), ...more[index] }))
  }

  async renderOne(record: RecordOf<Columns>): Promise<JsonObject> {
    return (await this.render([record]))[0] ?? {}
  }

  /** One, with the names beside it. */
  async findShown(tenantId: string, id: string): Promise<Shown<Columns> | undefined> {
    const { data } = await this.rows.page({
      where: [...this.conditions(tenantId, {}), { column: 'id', is: id }],
      joins: this.joins,
      sort: {},
      search: [],
      query: { page: 0, pageSize: 1 },
    })
    const [row] = data
    return row && { record: this.definition.recordOf(row), names: row }
  }

  get nameColumn(): string {
    return this.column(this.definition.name)
  }

  /** Whose messages about it are, and where they go. */
  async routeOf(record: RecordOf<Columns>): Promise<MessageRoute> {
    const customerId = customerOf(this.definition, record)
    return { ...(await this.destinationOf(record)), tenantId: record.tenantId, customerId }
  }

  /** Where messages about it go: the chain, and the queue as the link calls it. */
  async destinationOf(record: RecordOf<Columns>): Promise<Destination> {
    const route = await this.definition.routeOf?.(record, this.access)
    const queueName = await linkQueueOf(this.parts.entities, record.tenantId, route?.queueName ?? null)
    return { ruleChainId: route?.ruleChainId ?? null, queueName }
  }

  protected async required(id: string): Promise<RecordOf<Columns>> {
    const record = await this.findAnywhere(id)
    if (record === undefined) throw itemNotFound({ entityType: this.definition.type, id })
    return record
  }

  protected async findRow(where: readonly Condition[]): Promise<RecordOf<Columns> | undefined> {
    const row = await this.rows.find(where)
    return row && this.definition.recordOf(row)
  }

  protected conditions(tenantId: string, members: Readonly<Record<string, unknown>>): readonly Condition[] {
    const own = Object.entries(this.columnsOf(members)).map(([column, is]) => ({ column, is }))
    return [
      { column: 'tenant_id', is: this.definition.tenantColumn(tenantId) },
      ...own,
      ...flagConditions(this.definition, members),
    ]
  }

  protected columnsOf(members: Readonly<Record<string, unknown>>): Row {
    const columns: Record<string, Row[string]> = {}
    for (const [member, column] of Object.entries(this.definition.columns)) {
      const value = members[member]
      if (value !== undefined) columns[columnOf(member, column)] = column.toColumn(value)
    }
    return columns
  }

  protected column(member: string): string {
    return columnOf(member, this.definition.columns[member])
  }
}
