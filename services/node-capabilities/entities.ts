/** Entities as nodes see them: those of the node's tenant, of any declared type. */
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { NodeEntities, NodeEntity } from '../../engine/rulechain/capabilities/entities.ts'
import type { Soon } from '../../engine/rulechain/capabilities/soon.ts'
import { assets } from '../entities/asset.ts'
import { customers, type Customer } from '../entities/customer.ts'
import type { ColumnSet, RecordOf } from '../entities/define.ts'
import { devices } from '../entities/device.ts'
import type { EntityService } from '../entities/entity-service.ts'
import { customerOf, memberText, nameOf } from '../entities/record-members.ts'
import { tenants } from '../entities/tenant.ts'
import { itemNotFound } from '../errors.ts'
import type { Services } from '../services.ts'
import { asNode } from './as-node.ts'
import type { KnownEntities } from './known-entities.ts'

type Parts = Pick<Services, 'declared' | 'devices' | 'content'>
type AnyService = EntityService<ColumnSet>
type AnyRecord = RecordOf<ColumnSet>

export function nodeEntities(parts: Parts, known: KnownEntities): (node: NodeIdentity) => NodeEntities {
  return (node) => new TenantEntities(parts, node, known)
}

class TenantEntities implements NodeEntities {
  private readonly parts: Parts
  private readonly node: NodeIdentity
  private readonly known: KnownEntities

  constructor(parts: Parts, node: NodeIdentity, known: KnownEntities) {
    this.parts = parts
    this.node = node
    this.known = known
  }

  find(entity: EntityId): Soon<NodeEntity | undefined> {
    return this.known.find(this.node.tenantId, entity, () => this.read(entity))
  }

  async findByName(entityType: EntityId['entityType'], name: string): Promise<NodeEntity | undefined> {
    const service = entityType === 'TENANT' ? undefined : this.parts.declared.ofType(entityType)
    const record = await service?.findByName(this.node.tenantId, name)
    return service && record && this.shown(service, record)
  }

  async findOrCreate(entityType: 'ASSET' | 'CUSTOMER' | 'DEVICE', name: string, type?: string) {
    const found = await this.findByName(entityType, name)
    if (found !== undefined) return { entity: found, isNew: false }
    try {
      const id = await this.create(entityType, name, type)
      return { entity: await this.required(entityId(entityType, id)), isNew: true }
    } catch (error) {
      // Another message made it meanwhile.
      const other = isTaken(error) ? await this.findByName(entityType, name) : undefined
      if (other === undefined) throw error
      return { entity: other, isNew: false }
    }
  }

  async assignToCustomer(entity: EntityId, customerId: string): Promise<void> {
    const { declared, content } = this.parts
    const customer = await declared.of(customers).find(this.node.tenantId, customerId)
    if (customer === undefined) throw itemNotFound(entityId('CUSTOMER', customerId))
    const { service, record } = await this.recordOf(entity)
    if (entity.entityType === 'DASHBOARD') await content.dashboards.assign(asNode(this.node), entity.id, [customer])
    else if (memberText(record, 'customerId') !== customerId) await this.assign(service, entity.id, customer)
  }

  async unassignFromCustomer(entity: EntityId, customerId: string | undefined): Promise<void> {
    const { service, record } = await this.recordOf(entity)
    if (entity.entityType === 'DASHBOARD') {
      if (customerId !== undefined)
        await this.parts.content.dashboards.unassign(asNode(this.node), entity.id, [customerId])
    } else if (memberText(record, 'customerId') !== null) await service.assignByUser(asNode(this.node), entity.id, null)
  }

  credentialsOf(deviceId: string) {
    return this.parts.devices.credentials(this.node.tenantId, deviceId)
  }

  private async assign(service: AnyService, id: string, { id: customerId, title }: Customer): Promise<void> {
    await service.assignByUser(asNode(this.node), id, { id: customerId, title })
  }

  private async create(entityType: 'ASSET' | 'CUSTOMER' | 'DEVICE', name: string, type?: string): Promise<string> {
    const { declared } = this.parts
    const principal = asNode(this.node)
    const typed = type === undefined || type === '' ? { name } : { name, type }
    switch (entityType) {
      case 'ASSET':
        return (await declared.of(assets).saveByUser(principal, typed)).id
      case 'CUSTOMER':
        return (await declared.of(customers).saveByUser(principal, { title: name })).id
      case 'DEVICE':
        return (await declared.of(devices).saveByUser(principal, typed)).id
    }
  }

  private async required(entity: EntityId): Promise<NodeEntity> {
    const found = await this.read(entity)
    if (found === undefined) throw itemNotFound(entity)
    return found
  }

  private async recordOf(entity: EntityId) {
    const service = this.parts.declared.ofType(entity.entityType)
    const record = await service?.find(this.node.tenantId, entity.id)
    if (service === undefined || record === undefined) throw itemNotFound(entity)
    return { service, record }
  }

  private async read({ entityType, id }: EntityId): Promise<NodeEntity | undefined> {
    const { tenantId } = this.node
    const { declared } = this.parts
    if (entityType === 'TENANT') {
      if (id !== tenantId) return undefined
      const tenant = await declared.of(tenants).findAnywhere(id)
      const service = declared.ofType('TENANT')
      return tenant && service && this.shown(service, tenant)
    }
    const service = declared.ofType(entityType)
    const record = await service?.find(tenantId, id)
    return service && record && this.shown(service, record)
  }

  private shown(service: AnyService, record: AnyRecord): NodeEntity {
    const { definition } = service
    const customerId = definition.type === 'CUSTOMER' ? null : customerOf(definition, record)
    const type = memberText(record, 'type')
    const { additionalInfo, ...json } = definition.jsonOf(record)
    return {
      id: entityId(definition.type, record.id),
      createdTime: record.createdTime,
      name: nameOf(definition, record),
      type,
      label: memberText(record, 'label'),
      customerId,
      owner: customerId === null ? entityId('TENANT', this.node.tenantId) : entityId('CUSTOMER', customerId),
      profile: profileOf(record, type),
      additionalInfo: additionalInfo ?? null,
      json: { ...json, additionalInfo: additionalInfo ?? null },
    }
  }
}

/** The type of a device or an asset is its profile's name. */
function profileOf(record: AnyRecord, type: string | null): NodeEntity['profile'] {
  const deviceProfileId = memberText(record, 'deviceProfileId')
  if (deviceProfileId !== null) return { id: entityId('DEVICE_PROFILE', deviceProfileId), name: type ?? '' }
  const assetProfileId = memberText(record, 'assetProfileId')
  return assetProfileId === null ? null : { id: entityId('ASSET_PROFILE', assetProfileId), name: type ?? '' }
}

function isTaken(error: unknown): boolean {
  return isMillraceError(error) && error.code === 'entities.NAME_TAKEN'
}
