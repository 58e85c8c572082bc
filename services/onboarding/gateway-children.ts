/**
 * Devices behind a gateway: found by their name in the gateway's tenant, or made with the relation to the gateway, all of it together or
 * not at all. A name that the tenant's limit of devices refuses is not tried again for a while. Source: `device-api.md` 4.2.
 */
import { ByteCache } from '../../model/byte-cache.ts'
import type { Clock } from '../../model/clock.ts'
import { entityId, NULL_UUID } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import { isJsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { DeviceErrors } from '../../engine/device/errors.ts'
import type { DeviceIdentity, NamedChild } from '../../engine/device/gateway.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { devices, type Device } from '../entities/device.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { LAST_GATEWAY } from '../entities/gateway-news.ts'
import { retried } from '../entities/retried.ts'
import type { Joined } from '../entities/service-parts.ts'

export interface GatewayChildrenParts {
  readonly entities: EntityStore
  readonly declared: EntityRegistry
  readonly feed: Pick<ChangeFeed, 'publish'>
  readonly clock: Clock
}

/** From a gateway, or an edge node, to a device that was made for it. */
export const CREATED_RELATION = 'Created'
const REFUSED_MS = 300_000
const MAX_REFUSED_BYTES = 1 << 20
const REFUSED_BYTES = 24

export class GatewayChildren {
  private readonly parts: GatewayChildrenParts
  private readonly refused: ByteCache<{ readonly untilMs: number }>
  /** By tenant and name: who asks meanwhile for the same device gets the same answer. */
  private readonly making = new Map<string, Promise<Device>>()

  constructor(parts: GatewayChildrenParts) {
    this.parts = parts
    this.refused = new ByteCache({ maxBytes: MAX_REFUSED_BYTES, sizeOf: () => REFUSED_BYTES })
  }

  /** The device's id. Throws `CHILD_LIMIT`, `CHILD_REFUSED`, and what the store throws that does not answer. */
  async connect(gateway: DeviceIdentity, child: NamedChild): Promise<string> {
    // Half of a character comes back from the store as another name.
    if (!child.name.isWellFormed()) throw DeviceErrors.CHILD_REFUSED()
    const service = this.parts.declared.of(devices)
    const device = (await service.findByName(gateway.tenantId, child.name)) ?? (await this.makeOnce(gateway, child))
    const others = membersOf(device)
    if (others[LAST_GATEWAY] !== gateway.deviceId) await retried('Device', () => this.note(gateway, device.id))
    return device.id
  }

  private makeOnce(gateway: DeviceIdentity, child: NamedChild): Promise<Device> {
    const key = `${gateway.tenantId} ${child.name}`
    const refused = this.refused.peek(key)
    if (refused !== undefined && refused.untilMs > this.parts.clock.monotonic())
      return Promise.reject(DeviceErrors.CHILD_LIMIT())
    let made = this.making.get(key)
    if (made === undefined) {
      made = this.make(gateway, child, key).finally(() => this.making.delete(key))
      this.making.set(key, made)
    }
    return made
  }

  private async make(gateway: DeviceIdentity, child: NamedChild, key: string): Promise<Device> {
    const { name, type, label } = child
    const service = this.parts.declared.of(devices)
    const renamed = await this.renamed(gateway, child)
    if (renamed !== undefined) return renamed
    const draft = {
      name,
      type,
      label,
      customerId: gateway.customerId,
      additionalInfo: { [LAST_GATEWAY]: gateway.deviceId },
    }
    try {
      return await service.saveByUser(asGateway(gateway), draft, {
        joined: (device) => Promise.resolve([this.relationTo(gateway, device)]),
      })
    } catch (error) {
      if (!isMillraceError(error)) throw error
      // Another process made it meanwhile.
      const other = error.code === 'entities.NAME_TAKEN' ? await service.findByName(gateway.tenantId, name) : undefined
      if (other !== undefined) return other
      if (error.code === 'count.LIMIT_REACHED') {
        this.refused.set(key, { untilMs: this.parts.clock.monotonic() + REFUSED_MS })
        throw DeviceErrors.CHILD_LIMIT({}, error)
      }
      if (error.kind === 'invalid' || error.kind === 'denied') throw DeviceErrors.CHILD_REFUSED({}, error)
      throw error
    }
  }

  /** What this gateway made under a former name; what has the name otherwise is another device. */
  private async renamed(gateway: DeviceIdentity, { name, label, formerName }: NamedChild): Promise<Device | undefined> {
    if (formerName === undefined) return undefined
    const { declared, entities } = this.parts
    const service = declared.of(devices)
    const former = await service.findByName(gateway.tenantId, formerName)
    if (former === undefined) return undefined
    const from = entityId('DEVICE', gateway.deviceId)
    const relation = { from, to: entityId('DEVICE', former.id), type: CREATED_RELATION, typeGroup: 'COMMON' } as const
    if ((await entities.relations.find(gateway.tenantId, relation)) === undefined) return undefined
    return service.saveByUser(asGateway(gateway), { ...former, name, label: label ?? former.label })
  }

  private relationTo(gateway: DeviceIdentity, device: Device): Joined {
    const { entities, declared, feed } = this.parts
    const { tenantId } = device
    const from = entityId('DEVICE', gateway.deviceId)
    const to = entityId('DEVICE', device.id)
    const relation = { from, to, type: CREATED_RELATION, typeGroup: 'COMMON', additionalInfo: null } as const
    const tell = (): void => feed.publish({ kind: 'relations-changed', entity: entityId('TENANT', tenantId), tenantId })
    return {
      statements: [entities.relations.save(tenantId, relation, declared.newId(), declared.now())],
      committed: tell,
      inDoubt: tell,
    }
  }

  /** No user's act: nobody audits it, and the rule engine does not hear of it. */
  private async note(gateway: DeviceIdentity, deviceId: string): Promise<void> {
    const { entities, declared, feed } = this.parts
    const service = declared.of(devices)
    const device = await service.findAnywhere(deviceId)
    if (device === undefined) return
    const additionalInfo = { ...membersOf(device), [LAST_GATEWAY]: gateway.deviceId }
    try {
      await entities.write([service.update({ ...device, version: device.version + 1, additionalInfo })])
    } finally {
      const entity = entityId('DEVICE', deviceId)
      feed.publish({ kind: 'device-changed', entity, credentialsChanged: false })
    }
  }
}

function membersOf({ additionalInfo }: Device) {
  return isJsonObject(additionalInfo) ? additionalInfo : {}
}

/** The audit log names the gateway in the place of a user. */
function asGateway({ tenantId, deviceId, deviceName }: DeviceIdentity): Principal {
  return {
    userId: NULL_UUID,
    email: deviceName,
    authority: 'TENANT_ADMIN',
    tenantId,
    customerId: null,
    firstName: null,
    lastName: null,
    isDevice: true,
    gatewayId: deviceId,
  }
}
