/**
 * Every calculated field there is, at hand without a wait: who saves values asks here whether anybody calculates with them. The change feed keeps
 * it right; what the log brings says which version it is of, and a field that is older here is read again.
 */
import type { Configuration } from '../../../model/calculated-fields/configuration.ts'
import { configuration as configurationSchema } from '../../../model/calculated-fields/configuration.ts'
import type { AnyField, ArgumentNeed, FieldTools } from '../../../model/calculated-fields/kind.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import { errorText } from '../../../model/errors.ts'
import type { ChangeFeed } from '../../../engine/subscriptions/change.ts'
import type { calculatedFields, CalculatedField } from '../../entities/calculated-field.ts'
import type { EntityService } from '../../entities/entity-service.ts'
import type { Report } from '../../changes/outbox.ts'
import type { Source } from './payload.ts'
import type { RelationWay } from './relation-news.ts'

/** Undefined where fields of that type do not run. */
export type OpenField = (configuration: Configuration, tools: FieldTools) => AnyField | undefined

export interface ActiveField {
  readonly record: CalculatedField
  readonly owner: EntityId
  readonly configuration: Configuration
  /** Undefined where it can not run: for what reason. */
  readonly field: AnyField | undefined
  readonly failure: string | undefined
}

export interface FieldIndexParts {
  readonly fields: Pick<EntityService<typeof calculatedFields.columns>, 'findAnywhere' | 'findWhere'>
  readonly feed: Pick<ChangeFeed, 'listenToAll' | 'onGap' | 'settled'>
  readonly report: Report
  readonly open: OpenField
  readonly toolsOf: (record: CalculatedField) => FieldTools
  /** The tenant had no field before. */
  readonly began?: (tenantId: string) => void
}

interface FieldRead {
  /** Undefined where the field was not known before: it may be anybody's. */
  readonly tenantId: string | undefined
  hasBegun: boolean
  done: Promise<void>
}

const PROFILES = new Set(['DEVICE_PROFILE', 'ASSET_PROFILE'])
const PAGE = 500
const READ_AGAIN_MS = 5_000

export class FieldIndex {
  private readonly parts: FieldIndexParts
  private readonly tenants = new Map<string, TenantFields>()
  private readonly byId = new Map<string, ActiveField>()
  /** Fields that are being read: what is asked meanwhile waits for them. */
  private readonly reading = new Map<string, FieldRead>()
  /** What was deleted while fields are read: each read has its own, for what it answers may be older. */
  private readonly deletions = new Set<Set<string>>()
  private readonly stops: readonly (() => void)[]
  private readonly after: (ms: number, run: () => void) => void

  constructor(parts: FieldIndexParts, after: (ms: number, run: () => void) => void) {
    this.parts = parts
    this.after = after
    this.stops = [
      parts.feed.listenToAll(['settings-changed', 'entity-deleted', 'device-changed'], (change) => {
        const { entity } = change
        if (change.kind === 'entity-deleted' || (change.kind === 'device-changed' && change.hasMoved === true))
          for (const deleted of this.deletions) deleted.add(entity.id)
        if (entity.entityType === 'CALCULATED_FIELD') {
          if (change.kind === 'entity-deleted') this.forget(entity.id)
          else void this.refresh(entity.id)
        } else if (change.kind === 'entity-deleted') this.forgetOf(entity)
        else if (change.kind === 'device-changed' && change.hasMoved === true) this.forgetOf(entity)
      }),
      parts.feed.onGap(() => void this.readAll()),
    ]
  }

  async start(): Promise<void> {
    await this.parts.feed.settled()
    await this.load()
  }

  /** Undefined where the tenant has none: then nothing is to do. */
  of(tenantId: string): TenantFields | undefined {
    return this.tenants.get(tenantId)
  }

  find(id: string): ActiveField | undefined {
    return this.byId.get(id)
  }

  /** Undefined where all is read that may be a field of the tenant's. Reads of fields that are known to be other tenants' are not waited for. */
  pending(tenantId: string): Promise<unknown> | undefined {
    if (this.reading.size === 0) return undefined
    const own = [...this.reading.values()].filter((read) => (read.tenantId ?? tenantId) === tenantId)
    return own.length === 0 ? undefined : Promise.all(own.map(({ done }) => done))
  }

  /** Reads one field as it is now. Never rejects. Who asks before the read has begun waits for the same. */
  refresh(id: string): Promise<void> {
    const before = this.reading.get(id)
    if (before?.hasBegun === false) return before.done
    const tenantId = this.byId.get(id)?.record.tenantId ?? before?.tenantId
    const read: FieldRead = { tenantId, hasBegun: false, done: Promise.resolve() }
    read.done = (before?.done ?? Promise.resolve())
      .then(async () => {
        read.hasBegun = true
        await this.withDeletions(async (deleted) => {
          const record = await this.parts.fields.findAnywhere(id)
          this.forget(id)
          if (record !== undefined && !isDeleted(record, deleted)) this.add(record)
        })
      })
      .catch((error: unknown) => {
        this.parts.report('A calculated field could not be read; it is tried again', { id, reason: errorText(error) })
        this.after(READ_AGAIN_MS, () => void this.refresh(id))
      })
      .finally(() => {
        if (this.reading.get(id) === read) this.reading.delete(id)
      })
    this.reading.set(id, read)
    return read.done
  }

  tenantIds(): readonly string[] {
    return [...this.tenants.keys()]
  }

  get size(): number {
    return this.byId.size
  }

  close(): void {
    for (const stop of this.stops) stop()
  }

  private async readAll(): Promise<void> {
    await this.load().catch((error: unknown) => {
      this.parts.report('Calculated fields could not be read; it is tried again', { reason: errorText(error) })
      this.after(READ_AGAIN_MS, () => void this.readAll())
    })
  }

  private async load(): Promise<void> {
    const left = new Set(this.byId.keys())
    for (let after = ''; ;) {
      const page = await this.withDeletions(async (deleted) => {
        const read = await this.parts.fields.findWhere([{ column: 'id', after }], PAGE)
        for (const record of read) {
          left.delete(record.id)
          if ((this.byId.get(record.id)?.record.version ?? -1) >= record.version || isDeleted(record, deleted)) continue
          this.forget(record.id)
          this.add(record)
        }
        return read
      })
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) break
      after = last.id
    }
    for (const id of left) void this.refresh(id)
  }

  private async withDeletions<Value>(read: (deleted: ReadonlySet<string>) => Promise<Value>): Promise<Value> {
    const deleted = new Set<string>()
    this.deletions.add(deleted)
    try {
      return await read(deleted)
    } finally {
      this.deletions.delete(deleted)
    }
  }

  private add(record: CalculatedField): void {
    const { entityId: owner, tenantId } = record
    const read = configurationSchema.safeParse(record.configuration)
    if (owner === null || !read.success) return
    const active = this.opened(record, owner, read.data)
    this.byId.set(record.id, active)
    const fields = this.tenants.get(tenantId) ?? new TenantFields()
    const isFirst = fields.isEmpty
    this.tenants.set(tenantId, fields)
    fields.add(active)
    if (isFirst) this.parts.began?.(tenantId)
  }

  private opened(record: CalculatedField, owner: EntityId, configuration: Configuration): ActiveField {
    const common = { record, owner, configuration }
    try {
      const field = this.parts.open(configuration, this.parts.toolsOf(record))
      const failure = field === undefined ? `fields of type ${configuration.type} do not run` : undefined
      return { ...common, field, failure }
    } catch (error) {
      return { ...common, field: undefined, failure: errorText(error) }
    }
  }

  private forget(id: string): void {
    const active = this.byId.get(id)
    if (active === undefined) return
    this.byId.delete(id)
    const fields = this.tenants.get(active.record.tenantId)
    fields?.remove(active)
    if (fields?.isEmpty === true) this.tenants.delete(active.record.tenantId)
  }

  /** Fields go with what they are of. */
  private forgetOf(entity: EntityId): void {
    const tenants = entity.entityType === 'TENANT' ? [this.tenants.get(entity.id)] : this.tenants.values()
    for (const fields of tenants)
      for (const { record } of [
        ...(entity.entityType === 'TENANT' ? (fields?.all() ?? []) : (fields?.on(entity.id) ?? [])),
      ])
        this.forget(record.id)
  }
}

/** With what it is of, or by itself. */
function isDeleted({ id, tenantId, entityId: owner }: CalculatedField, deleted: ReadonlySet<string>): boolean {
  return [id, tenantId, owner?.id ?? ''].some((one) => deleted.has(one))
}

/** Whom values of a key may concern. */
interface Interest {
  /** Fields whose entities are not named: of profiles, owners, relations. */
  readonly anybody: Set<string>
  /** By entity: whose values they are. */
  readonly byEntity: Map<string, Set<string>>
}

/** An argument of a field, and what the field is set on. */
export interface Dependent {
  readonly owner: EntityId
  readonly need: ArgumentNeed
}

const NO_FIELDS: readonly ActiveField[] = []

export class TenantFields {
  private readonly fields = new Map<string, ActiveField>()
  /** Made anew with each change: they are asked for with each message. */
  private readonly byOwner = new Map<string, readonly ActiveField[]>()
  private readonly interests = new Map<string, Interest>()

  /** Arguments that are not the own entity's. */
  private others = 0

  get isEmpty(): boolean {
    return this.fields.size === 0
  }

  /** Whether {@link dependents} may find any: it is asked with each message. */
  get hasDependents(): boolean {
    return this.others > 0
  }

  all(): Iterable<ActiveField> {
    return this.fields.values()
  }

  /** Those that are set on the entity, or on the profile. */
  on(ownerId: string): readonly ActiveField[] {
    return this.byOwner.get(ownerId) ?? NO_FIELDS
  }

  add(active: ActiveField): void {
    const { record, owner, field } = active
    this.fields.set(record.id, active)
    this.byOwner.set(owner.id, [...this.on(owner.id).filter((one) => one.record.id !== record.id), active])
    for (const need of Object.values(field?.needs.arguments ?? {})) this.register(need, active, true)
  }

  remove(active: ActiveField): void {
    const { record, owner, field } = active
    this.fields.delete(record.id)
    const others = this.on(owner.id).filter((one) => one.record.id !== record.id)
    if (others.length > 0) this.byOwner.set(owner.id, others)
    else this.byOwner.delete(owner.id)
    for (const need of Object.values(field?.needs.arguments ?? {})) this.register(need, active, false)
  }

  /** Whether any field may calculate with a value of the entity. */
  wants(entityId: string, source: Source, key: string): boolean {
    const interest = this.interests.get(interestKey(source, key))
    if (interest === undefined) return false
    return interest.anybody.size > 0 || interest.byEntity.has(entityId)
  }

  /** Arguments that are not the own entity's and may be this one's. */
  dependents(entity: EntityId, source: Source, keys: readonly string[]): readonly Dependent[] {
    const found = new Map<ArgumentNeed, Dependent>()
    for (const key of keys) {
      const interest = this.interests.get(interestKey(source, key))
      if (interest === undefined) continue
      for (const id of [...interest.anybody, ...(interest.byEntity.get(entity.id) ?? [])]) {
        const active = this.fields.get(id)
        for (const need of Object.values(active?.field?.needs.arguments ?? {}))
          if (active !== undefined && need.key === key && sourceOf(need) === source && mayReach(need, entity))
            found.set(need, { owner: active.owner, need })
      }
    }
    return [...found.values()]
  }

  /** The ways of relations that values and results take. */
  ways(): readonly RelationWay[] {
    const found: RelationWay[] = []
    for (const { owner, field } of this.fields.values()) {
      if (field === undefined) continue
      const { arguments: needed, targets } = field.needs
      for (const { origin } of Object.values(needed))
        if (origin.from === 'related') found.push({ owner, levels: origin.levels })
      if (targets !== undefined) found.push({ owner, levels: [targets] })
    }
    return found
  }

  private register(need: ArgumentNeed, { record, owner }: ActiveField, isThere: boolean): void {
    if (need.origin.from !== 'own') this.others += isThere ? 1 : -1
    const key = interestKey(sourceOf(need), need.key)
    const interest = this.interests.get(key) ?? { anybody: new Set<string>(), byEntity: new Map<string, Set<string>>() }
    const { origin } = need
    const named =
      origin.from === 'entity'
        ? origin.entity
        : origin.from === 'own' && !PROFILES.has(owner.entityType)
          ? owner
          : undefined
    const ids = named === undefined ? interest.anybody : (interest.byEntity.get(named.id) ?? new Set<string>())
    if (isThere) ids.add(record.id)
    else ids.delete(record.id)
    if (named !== undefined) {
      if (ids.size === 0) interest.byEntity.delete(named.id)
      else interest.byEntity.set(named.id, ids)
    }
    if (interest.anybody.size + interest.byEntity.size === 0) this.interests.delete(key)
    else this.interests.set(key, interest)
  }
}

export function isProfile({ entityType }: EntityId): boolean {
  return PROFILES.has(entityType)
}

export function sourceOf({ type, scope }: ArgumentNeed): Source {
  return type === 'ATTRIBUTE' ? (scope ?? 'SERVER_SCOPE') : 'series'
}

function mayReach({ origin }: ArgumentNeed, entity: EntityId): boolean {
  switch (origin.from) {
    case 'own':
      return false
    case 'entity':
      return origin.entity.id === entity.id
    case 'owner':
      return entity.entityType === 'CUSTOMER' || entity.entityType === 'TENANT'
    case 'related':
      return true
  }
}

function interestKey(source: Source, key: string): string {
  return `${source} ${key}`
}
