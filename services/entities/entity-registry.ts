/** The services of all declared entities, and what one type's change means for the others. */
import type { EntityId, EntityType } from '../../model/entity-id.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Destination } from '../changes/message-route.ts'
import type { Owner } from '../access/ownership.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import type { Column } from './column.ts'
import type { ColumnSet, Companions, EntityAccess, EntityDefinition, RecordOf } from './define.ts'
import { EntityService, type EntityParts, type Followers } from './entity-service.ts'
import { customerOf, nameOf } from './record-members.ts'

export interface RegistryParts extends EntityParts {
  /** Whether the tenant may use a queue of that name. */
  readonly hasQueue: (tenantId: string, name: string) => Promise<boolean>
  /** All that a tenant owns. */
  readonly ownedBy: (tenantId: string) => Companions
  /** What every tenant has from the start. */
  readonly tenantStart: (tenantId: string) => readonly Statement[]
}

interface Referrer {
  readonly service: EntityService<ColumnSet>
  readonly member: string
  readonly column: Column<unknown>
}

export class EntityRegistry implements EntityAccess, Followers {
  readonly store: EntityStore
  private readonly parts: RegistryParts
  private readonly services = new Map<EntityType, EntityService<ColumnSet>>()

  constructor(definitions: readonly EntityDefinition<ColumnSet>[], parts: RegistryParts) {
    this.parts = parts
    this.store = parts.entities
    for (const definition of definitions) this.services.set(definition.type, new EntityService(definition, parts, this))
  }

  /** Throws `TypeError` where the declaration is not among those that the registry was made with. */
  of<Columns extends ColumnSet>(definition: EntityDefinition<Columns>): EntityService<Columns> {
    const service = this.services.get(definition.type)
    if (service === undefined || !isOf(service, definition)) throw new TypeError(`${definition.type} is not served`)
    return service
  }

  /** Undefined for types that are not declared. */
  ofType(type: EntityType): EntityService<ColumnSet> | undefined {
    return this.services.get(type)
  }

  all(): readonly EntityService<ColumnSet>[] {
    return [...this.services.values()]
  }

  hasQueue(tenantId: string, name: string): Promise<boolean> {
    return this.parts.hasQueue(tenantId, name)
  }

  ownedBy(tenantId: string): Companions {
    return this.parts.ownedBy(tenantId)
  }

  tenantStart(tenantId: string): readonly Statement[] {
    return this.parts.tenantStart(tenantId)
  }

  async countOf(type: EntityType, tenantId: string, members: Readonly<Record<string, unknown>>): Promise<number> {
    return this.services.get(type)?.count(tenantId, members) ?? 0
  }

  now(): number {
    return this.parts.clock.now()
  }

  newId(): string {
    return this.parts.random.uuid()
  }

  whose(entity: EntityId): Promise<Owner | undefined> {
    return this.parts.ownerOf(entity)
  }

  findAnywhere({ entityType, id }: EntityId): Promise<RecordOf<ColumnSet> | undefined> {
    return this.services.get(entityType)?.findAnywhere(id) ?? Promise.resolve(undefined)
  }

  /** Undefined for types that are not declared, and for what is not there. */
  async ownerOf({ entityType, id }: EntityId): Promise<Owner | undefined> {
    const service = this.services.get(entityType)
    const record = await service?.findAnywhere(id)
    if (service === undefined || record === undefined) return undefined
    const tenantId = service.definition.tenantOf?.(record) ?? record.tenantId
    const userId = service.definition.userOf?.(record)
    return {
      tenantId: tenantId === SYSTEM_TENANT ? null : tenantId,
      ...(await this.sharesOf(service.definition, record)),
      ...(userId === undefined ? {} : { userId }),
    }
  }

  /** Those of a tenant that are there, with whose they are; undefined for types that are not declared. */
  async findOwned(type: EntityType, tenantId: string, ids: readonly string[]) {
    const service = this.services.get(type)
    const records = await service?.findByIds(tenantId, ids)
    if (service === undefined || records === undefined) return undefined
    const { definition } = service
    return Promise.all(
      records.map(async (record) => ({
        ...{ id: record.id, tenantId, name: nameOf(definition, record) },
        ...(await this.sharesOf(definition, record)),
      })),
    )
  }

  /** Undefined for types that are not declared, and for what is not there. */
  async nameOf({ entityType, id }: EntityId): Promise<string | undefined> {
    const service = this.services.get(entityType)
    const record = await service?.findAnywhere(id)
    return record && service && nameOf(service.definition, record)
  }

  /** Where messages about it go; undefined for types that are not declared, and for what is not there. */
  async destinationOf({ entityType, id }: EntityId): Promise<Destination | undefined> {
    const service = this.services.get(entityType)
    const record = await service?.findAnywhere(id)
    return record && service?.destinationOf(record)
  }

  async checkUnused(type: EntityType, tenantId: string, id: string): Promise<void> {
    for (const { service, member, column } of this.referrersOf(type)) {
      if (column.references?.whenDeleted !== 'refuse' || column.references.inUse === undefined) continue
      if ((await service.count(tenantId, { [member]: id })) > 0) throw column.references.inUse()
    }
    for (const service of this.services.values()) {
      for (const [member, { namesOneOf, mentions }] of Object.entries(service.definition.columns)) {
        const isNamed = namesOneOf?.entityTypes.includes(type) === true
        if (isNamed && (await service.count(tenantId, { [member]: { entityType: type, id } })) > 0)
          throw namesOneOf.inUse(type)
        const isMentioned = mentions?.entityTypes.includes(type) === true
        if (isMentioned && (await service.mentions(tenantId, member, id, mentions.except))) throw mentions.inUse(type)
      }
    }
  }

  forget(type: EntityType, tenantId: string, id: string): readonly Statement[] {
    return this.referrersOf(type)
      .filter(({ column }) => column.references?.whenDeleted === 'forget')
      .map(({ service, member, column }) => service.updateAll(tenantId, { [member]: id }, { [member]: column.absent }))
  }

  copy(
    type: EntityType,
    tenantId: string,
    id: string,
    changed: Readonly<Record<string, unknown>>,
  ): readonly Statement[] {
    const statements: Statement[] = []
    for (const { service, member: by } of this.referrersOf(type)) {
      for (const [member, { copies }] of Object.entries(service.definition.columns)) {
        if (copies?.by !== by || !(copies.member in changed)) continue
        statements.push(service.updateAll(tenantId, { [by]: id }, { [member]: changed[copies.member] }))
      }
    }
    return statements
  }

  /** Who has a part in it within its tenant. */
  private async sharesOf(definition: EntityDefinition<ColumnSet>, record: RecordOf<ColumnSet>) {
    const isOpen = definition.isOpenInTenant?.(record)
    return {
      customerId: customerOf(definition, record),
      customerIds: (await definition.customersOf?.(record, this)) ?? [],
      ...(isOpen === undefined ? {} : { isSharedInTenant: isOpen }),
    }
  }

  private referrersOf(type: EntityType): readonly Referrer[] {
    return [...this.services.values()].flatMap((service) =>
      Object.entries(service.definition.columns)
        .filter(([, column]) => column.references?.entityType === type)
        .map(([member, column]) => ({ service, member, column })),
    )
  }
}

function isOf<Columns extends ColumnSet>(
  service: EntityService<ColumnSet>,
  definition: EntityDefinition<Columns>,
): service is EntityService<ColumnSet> & EntityService<Columns> {
  return (service.definition as unknown) === definition
}
