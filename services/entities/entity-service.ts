/**
 * What the platform does with entities of one declared type. A method named `…ByUser` commits the change and the rule-engine message it
 * causes together (the outbox), tells the change feed, and resolves when both are durable; who may do it was checked by the caller.
 */
import { entityId } from '../../model/entity-id.ts'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import type { KnownMessageType } from '../../model/message-type.ts'
import type { Metadata } from '../../model/message.ts'
import type { Principal } from '../../model/principal.ts'
import type { Statement, Written } from '../../storage/entities/database.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { attemptedOn, attemptedSave, savedData } from '../audit/audit-log.ts'
import { SYSTEM_TENANT, type EntityEvent } from '../changes/changes.ts'
import { itemNotFound, ServiceErrors, typeNameOf } from '../errors.ts'
import { customers } from './customer.ts'
import type { ColumnSet, DraftOf, EntityReads, Identity, Prepared, RecordOf } from './define.ts'
import { EntityReader } from './entity-reader.ts'
import { publishGone } from './gone.ts'
import { changedMembers, memberText, nameOf } from './record-members.ts'
import { retried } from './retried.ts'
import { auditedJson, draftJson, recordWith } from './rows.ts'
import { checkMembers, checkReferences } from './save-checks.ts'
import type { Joined, SaveOptions } from './service-parts.ts'

export type { ConditionPage, EntityParts, Followers, SaveOptions, Shown } from './service-parts.ts'

/** Of which the audit row shows the entity whole. */
const SAVES: ReadonlySet<KnownMessageType> = new Set(['ENTITY_CREATED', 'ENTITY_UPDATED'])

/** What the rule engine hears of a change, and the audit log. */
interface Heard {
  readonly type: KnownMessageType
  readonly metadata?: Metadata
  /** What `readJson` finds after a change that is not committed yet; absent where the change does not touch it. */
  readonly read?: JsonObject
  /** Of a rule chain: the graph that the audit row of the save shows. */
  readonly graph?: JsonObject
}

export class EntityService<Columns extends ColumnSet> extends EntityReader<Columns> implements EntityReads<Columns> {
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
      throw EntityStoreErrors.VERSION_CONFLICT({ entity: typeNameOf(this.definition.type) })
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
    const { transport } = options
    const saving = { principal, draft, before, services: this.access, siblings: this, transport }
    const prepared: Prepared<Columns> = (await this.definition.prepare?.(asSent, saving)) ?? { record: asSent }
    const { record, statements = [] } = prepared
    const fromStart = before === undefined ? this.definition.startsWith?.(record, this.access) : undefined
    const own = options.following === undefined ? (fromStart ?? []) : await options.following(record, before)
    const following = [...(prepared.following ?? []), ...own]
    const joined = (await options.joined?.(record, before)) ?? []
    if (before === undefined) {
      const guard = await this.parts.limits.guard(tenantId, this.definition.type)
      const steps = [...guard, ...statements, this.insert(record), ...following]
      await this.commit(principal, record, steps, { type: 'ENTITY_CREATED' }, joined)
      return record
    }
    const followers = this.access.copy(this.definition.type, tenantId, record.id, changedMembers(before, record))
    const steps = [...statements, this.update(record), ...following, ...followers]
    const news = await this.newsOf(principal, before, record)
    await this.commit(principal, record, steps, { type: 'ENTITY_UPDATED' }, [...joined, ...news])
    return record
  }

  deleteByUser(principal: Principal, id: string): Promise<void> {
    const tried = () => attemptedOn('DELETED', { entityType: this.definition.type, id })
    const remove = (): Promise<void> => this.remove(principal, id)
    return this.parts.changes.attempt(principal, tried, () => retried(this.definition.label, remove))
  }

  private async remove(principal: Principal, id: string): Promise<void> {
    const record = await this.required(id)
    const { definition, parts } = this
    const before = (await definition.beforeDelete?.(record, this.access)) ?? []
    await this.access.checkUnused(definition.type, record.tenantId, id)
    const unassigned = (await parts.alarmsUnassigned?.(principal, { entityType: definition.type, id })) ?? []
    const companions = definition.takesAlong?.(record, this.access)
    // Ahead of what goes along, which takes alarms from users too.
    const ahead = unassigned.flatMap((alarm) => alarm.statements)
    const statements = [
      ...ahead,
      ...(companions?.statements ?? []),
      ...before,
      ...this.access.forget(definition.type, record.tenantId, id),
      this.rows.delete(record),
      ...parts.entities.deleteAttached(id),
      parts.entities.cleanups.note(id),
    ]
    const gone = await parts.relationsGone?.(record.tenantId, { entityType: definition.type, id })
    const news: readonly Joined[] = [
      ...(await this.newsOf(principal, record, undefined)),
      ...(gone ?? []).map((message) => ({ statements: [], news: message })),
      ...unassigned.map((alarm) => ({ ...alarm, statements: [] })),
    ]
    const written = await this.commit(principal, record, statements, { type: 'ENTITY_DELETED' }, news)
    const tenantId = definition.tenantOf?.(record) ?? record.tenantId
    const along = companions?.gone({ results: written.results.slice(ahead.length) }) ?? []
    for (const entity of [...along, { entityType: definition.type, id }]) {
      parts.forgetAttributes(entity.id)
      publishGone(parts.feed, entity, tenantId)
    }
    // Of a tenant there may be millions: nobody waits for their series.
    if (companions === undefined) await parts.cleanup.run(id)
    else parts.cleanup.resumeLater()
  }

  /** For what has a customer. Null takes it from the one it has. */
  async assignByUser(
    principal: Principal,
    id: string,
    customer: { readonly id: string; readonly title: string } | null,
  ): Promise<RecordOf<Columns>> {
    if (customer === null) this.checkAssigned(await this.required(id))
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
    if (customer === null) this.checkAssigned(before)
    const customerId = memberText(before, 'customerId')
    const record = { ...before, version: before.version + 1, customerId: customer?.id ?? null }
    const own = this.update(record)
    if (customer !== null) {
      const metadata = { assignedCustomerId: customer.id, assignedCustomerName: customer.title }
      await this.commit(principal, record, [own], { type: 'ENTITY_ASSIGNED', metadata })
    } else {
      const owner = await this.access.of(customers).find(before.tenantId, customerId ?? '')
      const metadata = { unassignedCustomerId: customerId ?? '', unassignedCustomerName: owner?.title ?? '' }
      await this.commit(principal, record, [own], { type: 'ENTITY_UNASSIGNED', metadata })
    }
    return record
  }

  private checkAssigned(record: RecordOf<Columns>): void {
    if (memberText(record, 'customerId') === null)
      throw ServiceErrors.NOT_ASSIGNED_ENTITY({ entity: typeNameOf(this.definition.type) })
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
      /** What else the rule engine hears of the same change. */
      readonly also?: readonly Heard[]
      /** Changes of something else that go into the same transaction. */
      readonly joined?: readonly Joined[]
    } & Heard,
  ): Promise<RecordOf<Columns>> {
    const record = { ...before, ...members, version: before.version + 1 }
    const { first = [], statements = [], also = [] } = change
    const joined = [...(change.joined ?? [])]
    for (const other of also) joined.push({ statements: [], event: await this.eventOf(principal, record, other) })
    await this.commit(principal, record, [...first, this.update(record), ...statements], change, joined)
    return record
  }

  /** A change of what belongs to the record and is kept beside it: one at a time; the record and its version stay as clients read them. */
  async changeBesideByUser(
    principal: Principal,
    record: RecordOf<Columns>,
    statements: readonly Statement[],
  ): Promise<void> {
    const gone = (): Error => itemNotFound({ entityType: this.definition.type, id: record.id })
    await this.commit(principal, record, [this.rows.hold(record, gone), ...statements], { type: 'ENTITY_UPDATED' })
  }

  /** The change of one more record, as a part of another change: with its own message and audit row. */
  async joinedChange(
    principal: Principal,
    before: RecordOf<Columns>,
    members: Partial<RecordOf<Columns>>,
    { statements, ...heard }: { readonly statements: readonly Statement[] } & Heard,
  ): Promise<Joined> {
    const record = { ...before, ...members, version: before.version + 1 }
    return {
      statements: [this.update(record), ...statements],
      event: await this.eventOf(principal, record, heard),
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

  private async commit(
    principal: Principal,
    record: RecordOf<Columns>,
    statements: readonly Statement[],
    heard: Heard,
    joined: readonly Joined[] = [],
  ): Promise<Written> {
    const { parts } = this
    const { type } = heard
    const event = await this.eventOf(principal, record, heard)
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
    // Whoever looked while it was made, for what is written with it, found none.
    if (type === 'ENTITY_CREATED') parts.forgetAttributes(record.id)
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
    { type, metadata, read, graph }: Heard,
  ): Promise<EntityEvent> {
    const { definition } = this
    const json = {
      ...definition.jsonOf(record),
      ...(read ?? (await definition.readJson?.([record], this.access))?.[0]),
    }
    const told = definition.messageJson?.(json) ?? json
    const entity = auditedJson(definition, told)
    // Built of the message's own text where it says the same.
    const isOther = SAVES.has(type) && (entity !== told || graph !== undefined)
    const shown = { entity, ...(graph === undefined ? {} : { metadata: graph }) }
    return {
      ...(await this.routeOf(record)),
      type,
      principal,
      originator: { entityType: definition.type, id: record.id },
      metadata: { ...metadata, entityName: nameOf(definition, record), entityType: definition.type },
      data: stringifyJson(told),
      ...(isOther ? { audit: { actionData: savedData(shown) } } : {}),
    }
  }

  private tell(record: RecordOf<Columns>, what: 'created' | 'changed' | 'in doubt'): void {
    const changes = this.definition.tells?.(record, what) ?? []
    for (const change of 'kind' in changes ? [changes] : changes) this.parts.feed.publish(change)
  }
}

/** A customer's user may keep a thing or let it go: whose it is instead is the tenant's to say. */
function requireOwnCustomer({ authority, customerId }: Principal, record: Readonly<Record<string, unknown>>): void {
  const wanted = memberText(record, 'customerId')
  if (authority === 'CUSTOMER_USER' && wanted !== null && wanted !== customerId) throw ServiceErrors.PERMISSION_DENIED()
}
