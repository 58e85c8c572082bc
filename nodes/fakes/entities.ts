/** Entities of a test's tenant. */
import { entityId, type EntityId, type EntityType } from '../../model/entity-id.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { NodeDeviceCredentials, NodeEntities, NodeEntity } from '../../engine/rulechain/capabilities/entities.ts'

export interface FakeEntity {
  readonly id: EntityId
  readonly name: string
  readonly createdTime?: number
  readonly type?: string
  readonly label?: string
  readonly customerId?: string
  readonly profileId?: string
  readonly additionalInfo?: JsonValue
  /** Of the API's form what the test reads. */
  readonly json?: JsonObject
  readonly credentials?: NodeDeviceCredentials
}

export class FakeEntities implements NodeEntities {
  /** What was assigned (and to whom) and unassigned. */
  readonly assigned: (readonly [entityId: string, customerId: string])[] = []
  readonly unassigned: string[] = []
  private readonly tenantId: string
  private readonly held = new Map<string, FakeEntity>()
  private made = 0

  constructor(tenantId: string) {
    this.tenantId = tenantId
    this.add({ id: entityId('TENANT', tenantId), name: 'Test tenant' })
  }

  add(...entities: readonly FakeEntity[]): void {
    for (const entity of entities) this.held.set(entity.id.id, entity)
  }

  /** In the order in which they were added. */
  all(): readonly FakeEntity[] {
    return [...this.held.values()]
  }

  find(entity: EntityId): NodeEntity | undefined {
    const held = this.held.get(entity.id)
    return held?.id.entityType === entity.entityType ? this.shown(held) : undefined
  }

  async findByName(entityType: EntityType, name: string): Promise<NodeEntity | undefined> {
    const held = [...this.held.values()].find((one) => one.id.entityType === entityType && one.name === name)
    return held && this.shown(held)
  }

  async findOrCreate(entityType: 'ASSET' | 'CUSTOMER' | 'DEVICE', name: string, type?: string) {
    const found = await this.findByName(entityType, name)
    if (found !== undefined) return { entity: found, isNew: false }
    const id = entityId(entityType, `99999999-9999-4999-8999-${String(++this.made).padStart(12, '0')}`)
    const made = { id, name, type: type ?? 'default' }
    this.add(made)
    return { entity: this.shown(made), isNew: true }
  }

  async assignToCustomer({ id }: EntityId, customerId: string): Promise<void> {
    this.change(id, { customerId })
    this.assigned.push([id, customerId])
  }

  async unassignFromCustomer({ id }: EntityId): Promise<void> {
    this.change(id, { customerId: undefined })
    this.unassigned.push(id)
  }

  async credentialsOf(deviceId: string): Promise<NodeDeviceCredentials | undefined> {
    return this.held.get(deviceId)?.credentials
  }

  private change(id: string, change: { readonly customerId: string | undefined }): void {
    const { customerId: _before, ...held } = this.held.get(id) ?? {}
    if (!('id' in held)) return
    const { customerId } = change
    this.add(customerId === undefined ? held : { ...held, customerId })
  }

  private shown(entity: FakeEntity): NodeEntity {
    const { id, name, customerId } = entity
    const hasProfile = id.entityType === 'DEVICE' || id.entityType === 'ASSET'
    const profileType = id.entityType === 'DEVICE' ? 'DEVICE_PROFILE' : 'ASSET_PROFILE'
    const profileId = entity.profileId ?? '88888888-8888-4888-8888-888888888888'
    return {
      id,
      name,
      createdTime: entity.createdTime ?? 0,
      type: entity.type ?? (hasProfile ? 'default' : null),
      label: entity.label ?? null,
      customerId: customerId ?? null,
      owner: customerId === undefined ? entityId('TENANT', this.tenantId) : entityId('CUSTOMER', customerId),
      profile: hasProfile ? { id: entityId(profileType, profileId), name: entity.type ?? 'default' } : null,
      additionalInfo: entity.additionalInfo ?? null,
      json: { name, ...(entity.json ?? {}) },
    }
  }
}
