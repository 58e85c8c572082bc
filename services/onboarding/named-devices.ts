/**
 * Devices by their names, for those who bring the telemetry of others: looked up once, kept until they change, and made on first sight where that is
 * allowed. What a tenant may have of devices bounds it.
 */
import { ByteCache } from '../../model/byte-cache.ts'
import { NULL_UUID } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { Principal } from '../../model/principal.ts'
import { deviceOriginator } from '../../engine/device/device-messages.ts'
import type { Uploader } from '../../engine/device/uploads.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { DeviceService } from '../devices/device-service.ts'
import { devices } from '../entities/device.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'

export interface NamedDevicesParts {
  readonly declared: Pick<EntityRegistry, 'of'>
  readonly devices: Pick<DeviceService, 'findIdentity'>
  readonly feed: Pick<ChangeFeed, 'listenToAll' | 'onGap'>
}

/** How a device comes to be that is not there. */
export interface Making {
  /** Of its profile, which is made where there is none; undefined: the tenant's default. */
  readonly type: string | undefined
  /** Who made it, for the audit log. */
  readonly by: string
}

const MAX_BYTES = 16 * 2 ** 20
/** Of an identity and what stands around it, names apart. */
const DEVICE_BYTES = 800

export class NamedDevices {
  private readonly parts: NamedDevicesParts
  private readonly known: ByteCache<Uploader>
  private readonly keys = new Map<string, string>()
  private readonly finding = new Map<string, Promise<Uploader | undefined>>()
  /** How often anything changed: what was read before is not kept. */
  private changes = 0
  private readonly stops: readonly (() => void)[]

  constructor(parts: NamedDevicesParts) {
    this.parts = parts
    this.known = new ByteCache<Uploader>({
      maxBytes: MAX_BYTES,
      sizeOf: ({ identity }) => DEVICE_BYTES + 4 * (identity.deviceName.length + identity.deviceType.length),
      onDrop: (_key, { identity }) => this.keys.delete(identity.deviceId),
    })
    const forgetAll = (): void => {
      this.changes++
      for (const key of [...this.keys.values()]) this.known.delete(key)
    }
    this.stops = [
      parts.feed.onGap(forgetAll),
      parts.feed.listenToAll(['device-changed', 'entity-deleted'], ({ entity }) => {
        if (entity.entityType === 'DEVICE_PROFILE') forgetAll()
        else if (entity.entityType === 'DEVICE') this.forget(entity.id)
      }),
    ]
  }

  /** At once, where it was seen lately. */
  lookUp(tenantId: string, name: string): Uploader | undefined {
    return this.known.get(keyOf(tenantId, name))
  }

  /** Undefined where there is none, and `making` does not say how to make it. Throws what refuses a new device, such as the tenant's limit. */
  find(tenantId: string, name: string, making: Making | undefined): Promise<Uploader | undefined> {
    const key = `${making === undefined ? 'find' : 'make'}/${keyOf(tenantId, name)}`
    const underWay = this.finding.get(key)
    if (underWay !== undefined) return underWay
    const found = this.read(tenantId, name, making).finally(() => this.finding.delete(key))
    this.finding.set(key, found)
    return found
  }

  close(): void {
    for (const stop of this.stops) stop()
  }

  private async read(tenantId: string, name: string, making: Making | undefined): Promise<Uploader | undefined> {
    const before = this.changes
    const service = this.parts.declared.of(devices)
    let device = await service.findByName(tenantId, name)
    if (device === undefined && making !== undefined) device = await this.make(tenantId, name, making)
    const identity = device === undefined ? undefined : await this.parts.devices.findIdentity(device.id)
    if (identity?.tenantId !== tenantId) return undefined
    const uploader = { identity, originator: deviceOriginator(identity) }
    if (this.changes === before) this.keep(keyOf(tenantId, name), uploader)
    return uploader
  }

  private async make(tenantId: string, name: string, { type, by }: Making) {
    const service = this.parts.declared.of(devices)
    try {
      return await service.saveByUser(makerOf(tenantId, by), { name, type })
    } catch (error) {
      if (!isMillraceError(error) || error.kind !== 'invalid') throw error
      // Another process may have made it meanwhile.
      const made = await service.findByName(tenantId, name)
      if (made === undefined) throw error
      return made
    }
  }

  private keep(key: string, uploader: Uploader): void {
    this.known.set(key, uploader)
    this.keys.set(uploader.identity.deviceId, key)
  }

  private forget(deviceId: string): void {
    this.changes++
    const key = this.keys.get(deviceId)
    if (key !== undefined) this.known.delete(key)
  }
}

function keyOf(tenantId: string, name: string): string {
  return `${tenantId}/${name}`
}

function makerOf(tenantId: string, by: string): Principal {
  return {
    ...{ userId: NULL_UUID, email: by, authority: 'TENANT_ADMIN', tenantId, customerId: null },
    ...{ firstName: null, lastName: null, isDevice: true },
  }
}
