/**
 * What the platform does with entities of one declared type. A method named `…ByUser` commits the change and the rule-engine message it
 * causes together (the outbox), tells the change feed, and resolves when both are durable; who may do it was checked by the caller.
 */
import type { Page, PageQuery } from '../../model/entities.ts'
import { entityId } from '../../model/entity-id.ts'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import type { KnownMessageType } from '../../model/message-type.ts'
import type { Metadata } from '../../model/message.ts'
import type { Principal } from '../../model/principal.ts'
import type { Statement, Written } from '../../storage/entities/database.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { Condition, Join, RowStore } from '../../storage/entities/tables/row-store.ts'
import type { Row } from '../../storage/entities/tables/entity-table.ts'
import { attemptedOn, attemptedSave } from '../audit/audit-log.ts'
import { SYSTEM_TENANT, type EntityEvent } from '../changes.ts'
import { itemNotFound, ServiceErrors } from '../errors.ts'
import { linkQueueOf, type Destination, type MessageRoute } from '../message-route.ts'
import { customers } from './customer.ts'
import { publishGone } from './gone.ts'
import { flagConditions, joinsOf, searchedColumns, sortOf } from './list-columns.ts'
import { checkMembers, checkReferences } from './save-checks.ts'
import type { ConditionPage, EntityParts, Followers, Joined, SaveOptions, Shown } from './service-parts.ts'
import { retried } from './retried.ts'
import { changedMembers, customerOf, memberText, nameOf } from './record-members.ts'
import { draftJson, recordWith, rowsOf } from './rows.ts'
import {
  columnOf,
  type ColumnSet,
  type DraftOf,
  type EntityAccess,
  type EntityDefinition,
  type EntityReads,
  type Identity,
  type Prepared,
  type RecordOf,
} from './define.ts'

export type { ConditionPage, EntityParts, Followers, SaveOptions, Shown } from './service-parts.ts'

export class EntityService<Columns extends ColumnSet> implements EntityReads<Columns> {
  readonly definition: EntityDefinition<Columns>
  private readonly parts: EntityParts
  private readonly access: EntityAccess & Followers
  private readonly rows: RowStore
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

  fresh(tenantId: string, members: Partial<RecordOf<Columns>>): RecordOf<Columns> {
    return recordWith(
      this.definition,
      { id: this.parts.random.uuid(), createdTime: this.parts.clock.now(), version: 1, tenantId },
      members,
    )
  }

  insert(record: RecordOf<Columns>): Statement {
    return this.rows.insert(this.definition.rowOf(record))
  }

  update(record: RecordOf<Columns>): Statement {
    return this.rows.update(this.definition.rowOf(record))
  }

  updateAll(tenantId: string, where: Partial<RecordOf<Columns>>, members: Partial<RecordOf<Columns>>): Statement {
    return this.rows.updateAll(this.conditions(tenantId, where), this.columnsOf(members))
  }

  /** Whose what the caller makes is. Throws `PERMISSION_DENIED` for a system administrator where the system has none. */
  tenantOf(principal: Principal): string {
    if (principal.tenantId !== null) return principal.tenantId
    if (this.definition.mayBeSystems === true) return SYSTEM_TENANT
    throw ServiceErrors.PERMISSION_DENIED()
  }

  async saveByUser(
    principal: Principal,
    draft: DraftOf<Columns>,
    options: SaveOptions<Columns> = {},
  ): Promise<RecordOf<Columns>> {
    const tried = () =>
      attemptedSave(
        this.definition.type,
        draft.id,
        memberText(draft, this.definition.name),
        draftJson(this.definition, draft),
      )
    const save = (): Promise<RecordOf<Columns>> => this.save(principal, draft, options)
    // Who names a version wants that one or none.
    const once = draft.version === undefined ? () => retried(this.definition.label, save) : save
    return this.parts.changes.attempt(principal, tried, once)
  }

  private async save(
    principal: Principal,
    sent: DraftOf<Columns>,
    options: SaveOptions<Columns>,
  ): Promise<RecordOf<Columns>> {
    const before = sent.id === undefined ? undefined : await this.required(sent.id)
    const draft = before === undefined ? sent : { ...sent, ...options.over?.(before) }
    if (before !== undefined && draft.version !== undefined && draft.version !== before.version)
      throw EntityStoreErrors.VERSION_CONFLICT({ entity: this.definition.label })
    const tenantId = before?.tenantId ?? options.newOf ?? this.tenantOf(principal)
    const identity = {
      id: before?.id ?? this.parts.random.uuid(),
      createdTime: before?.createdTime ?? this.parts.clock.now(),
      version: (before?.version ?? 0) + 1,
      tenantId,
    }
    const asSent = recordWith(this.definition, identity, { ...draft, ...this.fixedMembers(before) })
    checkMembers(this.definition, asSent)
    requireOwnCustomer(principal, asSent)
    await checkReferences(this.definition, asSent, before, this.parts.ownerOf)
    const saving = { principal, draft, before, services: this.access, siblings: this }
    const prepared: Prepared<Columns> = (await this.definition.prepare?.(asSent, saving)) ?? { record: asSent }
    const { record, statements = [] } = prepared
    const fromStart = before === undefined ? this.definition.startsWith?.(record, this.access) : undefined
    const own = options.following === undefined ? (fromStart ?? []) : await options.following(record, before)
    const following = [...(prepared.following ?? []), ...own]
    const joined = (await options.joined?.(record, before)) ?? []
    if (before === undefined) {
      const guard = await this.parts.limits.guard(tenantId, this.definition.type)
      const steps = [...guard, ...statements, this.insert(record), ...following]
      await this.commit(principal, record, steps, 'ENTITY_CREATED', {}, joined)
      return record
    }
    const followers = this.access.copy(this.definition.type, tenantId, record.id, changedMembers(before, record))
    const steps = [...statements, this.update(record), ...following, ...followers]
    const news = await this.newsOf(principal, before, record)
    await this.commit(principal, record, steps, 'ENTITY_UPDATED', {}, [...joined, ...news])
    return record
  }

  deleteByUser(principal: Principal, id: string): Promise<void> {
    const tried = () => attemptedOn('DELETED', { entityType: this.definition.type, id })
    return this.parts.changes.attempt(principal, tried, () => this.remove(principal, id))
  }

  private async remove(principal: Principal, id: string): Promise<void> {
    const record = await this.required(id)
    const { definition, parts } = this
    const before = (await definition.beforeDelete?.(record, this.access)) ?? []
    await this.access.checkUnused(definition.type, record.tenantId, id)
    const companions = definition.takesAlong?.(record, this.access)
    const statements = [
      ...(companions?.statements ?? []),
      ...before,
      ...this.access.forget(definition.type, record.tenantId, id),
      this.rows.delete(record),
      ...parts.entities.deleteAttached(id),
      parts.entities.cleanups.note(id),
    ]
    const news = await this.newsOf(principal, record, undefined)
    const written = await this.commit(principal, record, statements, 'ENTITY_DELETED', {}, news)
    const tenantId = definition.tenantOf?.(record) ?? record.tenantId
    for (const entity of [...(companions?.gone(written) ?? []), { entityType: definition.type, id }]) {
      parts.forgetAttributes(entity.id)
      publishGone(parts.feed, entity, tenantId)
    }
    // Of a tenant there may be millions: nobody waits for their series.
    if (companions === undefined) await parts.cleanup.run(id)
    else parts.cleanup.resumeLater()
  }

  /** For what has a customer. Null takes it from the one it has. */
  assignByUser(
    principal: Principal,
    id: string,
    customer: { readonly id: string; readonly title: string } | null,
  ): Promise<RecordOf<Columns>> {
    const action = customer === null ? 'UNASSIGNED_FROM_CUSTOMER' : 'ASSIGNED_TO_CUSTOMER'
    const tried = () => attemptedOn(action, { entityType: this.definition.type, id })
    const assign = () => this.assign(principal, id, customer)
    return this.parts.changes.attempt(principal, tried, () => retried(this.definition.label, assign))
  }

  private async assign(
    principal: Principal,
    id: string,
    customer: { readonly id: string; readonly title: string } | null,
  ): Promise<RecordOf<Columns>> {
    const before = await this.required(id)
    const customerId = memberText(before, 'customerId')
    if (customer === null && customerId === null)
      throw ServiceErrors.NOT_ASSIGNED_ENTITY({ entity: this.definition.label })
    const record = { ...before, version: before.version + 1, customerId: customer?.id ?? null }
    const own = this.update(record)
    if (customer !== null) {
      const metadata = { assignedCustomerId: customer.id, assignedCustomerName: customer.title }
      await this.commit(principal, record, [own], 'ENTITY_ASSIGNED', metadata)
    } else {
      const owner = await this.access.of(customers).find(before.tenantId, customerId ?? '')
      const metadata = { unassignedCustomerId: customerId ?? '', unassignedCustomerName: owner?.title ?? '' }
      await this.commit(principal, record, [own], 'ENTITY_UNASSIGNED', metadata)
    }
    return record
  }

  /** A change that is no save: its own statements, some members, and what the rule engine hears of it. */
  async changeByUser(
    principal: Principal,
    before: RecordOf<Columns>,
    members: Partial<RecordOf<Columns>>,
    change: {
      /** Steps of the same transaction before and after the entity's own. */
      readonly first?: readonly Statement[]
      readonly statements?: readonly Statement[]
      readonly type: KnownMessageType
      readonly metadata?: Metadata
      /** What else the rule engine hears of the same change. */
      readonly also?: readonly { readonly type: KnownMessageType; readonly metadata: Metadata }[]
      /** Changes of something else that go into the same transaction. */
      readonly joined?: readonly Joined[]
    },
  ): Promise<RecordOf<Columns>> {
    const record = { ...before, ...members, version: before.version + 1 }
    const { first = [], statements = [], type, metadata, also = [] } = change
    const joined = [...(change.joined ?? [])]
    for (const other of also)
      joined.push({ statements: [], event: await this.eventOf(principal, record, other.type, other.metadata) })
    await this.commit(principal, record, [...first, this.update(record), ...statements], type, metadata, joined)
    return record
  }

  /** The change of one more record, as a part of another change: with its own message and audit row. */
  async joinedChange(
    principal: Principal,
    before: RecordOf<Columns>,
    members: Partial<RecordOf<Columns>>,
    { statements, type }: { readonly statements: readonly Statement[]; readonly type: KnownMessageType },
  ): Promise<Joined> {
    const record = { ...before, ...members, version: before.version + 1 }
    return {
      statements: [this.update(record), ...statements],
      event: await this.eventOf(principal, record, type, {}),
      committed: () => this.tell(record, 'changed'),
      inDoubt: () => this.tell(record, 'in doubt'),
    }
  }

  /** A step after a change of the record: refused where the member's sum over those of its tenant is above the limit. */
  within(record: Identity, member: string, limit: number, otherwise: () => Error): Statement {
    const column = this.column(member)
    return this.rows.requireSum({ id: record.id, tenantId: record.tenantId }, column, limit, otherwise)
  }

  private fixedMembers(before: RecordOf<Columns> | undefined): Readonly<Record<string, unknown>> {
    const fixed = Object.entries(this.definition.columns).filter(([, { isFixed }]) => isFixed === true)
    return Object.fromEntries(fixed.map(([member, column]) => [member, before?.[member] ?? column.absent]))
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

  private async commit(
    principal: Principal,
    record: RecordOf<Columns>,
    statements: readonly Statement[],
    type: KnownMessageType,
    metadata: Metadata = {},
    joined: readonly Joined[] = [],
  ): Promise<Written> {
    const { parts } = this
    const event = await this.eventOf(principal, record, type, metadata)
    const told = await parts.notifications.entityChanged(event)
    const steps = [...statements, ...joined.flatMap((other) => other.statements), ...told]
    const events = [event, ...joined.flatMap((other) => other.event ?? [])]
    const commit = parts.changes.commitAll(
      steps,
      events,
      joined.flatMap((other) => other.news ?? []),
    )
    const written = await parts.doubts.watch(commit, () => {
      parts.forgetAttributes(record.id)
      this.tell(record, 'in doubt')
      const { tenantId } = record
      // They go with it.
      if (type === 'ENTITY_DELETED')
        parts.feed.publish({ kind: 'relations-changed', entity: entityId('TENANT', tenantId), tenantId })
      for (const other of joined) other.inDoubt?.()
    })
    for (const other of joined) other.committed?.(written)
    parts.notifications.committed(told)
    if (type !== 'ENTITY_DELETED') this.tell(record, type === 'ENTITY_CREATED' ? 'created' : 'changed')
    return written
  }

  private async newsOf(
    principal: Principal,
    before: RecordOf<Columns>,
    after: RecordOf<Columns> | undefined,
  ): Promise<readonly Joined[]> {
    const change = { principal, before, after, services: this.access, siblings: this }
    return ((await this.definition.news?.(change)) ?? []).map((news) => ({ statements: [], news }))
  }

  private async eventOf(
    principal: Principal,
    record: RecordOf<Columns>,
    type: KnownMessageType,
    metadata: Metadata,
  ): Promise<EntityEvent> {
    const { definition } = this
    return {
      ...(await this.routeOf(record)),
      type,
      principal,
      originator: { entityType: definition.type, id: record.id },
      metadata: { ...metadata, entityName: nameOf(definition, record), entityType: definition.type },
      data: stringifyJson(definition.messageJson?.(definition.jsonOf(record)) ?? definition.jsonOf(record)),
    }
  }

  private tell(record: RecordOf<Columns>, what: 'created' | 'changed' | 'in doubt'): void {
    const changes = this.definition.tells?.(record, what) ?? []
    for (const change of 'kind' in changes ? [changes] : changes) this.parts.feed.publish(change)
  }

  private async required(id: string): Promise<RecordOf<Columns>> {
    const record = await this.findAnywhere(id)
    if (record === undefined) throw itemNotFound({ entityType: this.definition.type, id })
    return record
  }

  private async findRow(where: readonly Condition[]): Promise<RecordOf<Columns> | undefined> {
    const row = await this.rows.find(where)
    return row && this.definition.recordOf(row)
  }

  private conditions(tenantId: string, members: Readonly<Record<string, unknown>>): readonly Condition[] {
    const own = Object.entries(this.columnsOf(members)).map(([column, is]) => ({ column, is }))
    return [
      { column: 'tenant_id', is: this.definition.tenantColumn(tenantId) },
      ...own,
      ...flagConditions(this.definition, members),
    ]
  }

  private columnsOf(members: Readonly<Record<string, unknown>>): Row {
    const columns: Record<string, Row[string]> = {}
    for (const [member, column] of Object.entries(this.definition.columns)) {
      const value = members[member]
      if (value !== undefined) columns[columnOf(member, column)] = column.toColumn(value)
    }
    return columns
  }

  private column(member: string): string {
    return columnOf(member, this.definition.columns[member])
  }
}

/** A customer's user may keep a thing or let it go: whose it is instead is the tenant's to say. */
function requireOwnCustomer({ authority, customerId }: Principal, record: Readonly<Record<string, unknown>>): void {
  const wanted = memberText(record, 'customerId')
  if (authority === 'CUSTOMER_USER' && wanted !== null && wanted !== customerId) throw ServiceErrors.PERMISSION_DENIED()
}
