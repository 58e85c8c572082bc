/** Types of one client's resources: of models that were uploaded, and of the objects that everybody has. Source: `device-api.md` 13.6. */
import type { DeviceGateway, ObjectTypes } from '../../engine/device/gateway.ts'
import { findCoreResource, isCoreObject, type FindResource } from './core-models.ts'
import { RESOURCE_TYPES } from './values.ts'

export class ClientModels {
  private readonly gateway: Pick<DeviceGateway, 'findObjectTypes'>
  private uploaded: ReadonlyMap<string, ObjectTypes> = new Map()

  constructor(gateway: Pick<DeviceGateway, 'findObjectTypes'>) {
    this.gateway = gateway
  }

  /** Of the objects that it has, by id and version; one that everybody has is asked for where a resource of it is not known. Rejects as the store does. */
  async load(
    device: Parameters<DeviceGateway['findObjectTypes']>[0],
    objects: readonly { readonly id: number; readonly version: string; readonly wanted: readonly number[] }[],
  ): Promise<void> {
    const keys = objects.flatMap(({ id, version, wanted }) => {
      const isKnown = isCoreObject(id) && wanted.every((each) => findCoreResource(id, version, each) !== undefined)
      return isKnown ? [] : [`${id}_${version}`]
    })
    this.uploaded = keys.length === 0 ? new Map() : await this.gateway.findObjectTypes(device, keys)
  }

  readonly find: FindResource = (objectId, version, resourceId) => {
    const written = this.uploaded.get(`${objectId}_${version}`)?.get(resourceId)
    const name = written?.toUpperCase().replace(' ', '_')
    const type = RESOURCE_TYPES.find((each) => each === name)
    return type === undefined ? findCoreResource(objectId, version, resourceId) : { type }
  }
}
