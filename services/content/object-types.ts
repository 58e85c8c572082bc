/** The types of resources of LwM2M objects, of models that were uploaded: the tenant's own, else the system's (`device-api.md` 13.6). */
import { ByteCache } from '../../model/byte-cache.ts'
import type { DeviceIdentity, ObjectTypes } from '../../engine/device/gateway.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { tbResources, type TbResource } from '../entities/tb-resource.ts'
import { parseModel } from './lwm2m-models.ts'
import type { StoredBytes } from './stored-bytes.ts'

export interface TypesOfObjectsParts {
  readonly declared: EntityRegistry
  readonly bytes: Pick<StoredBytes, 'read'>
}

const MAX_BYTES = 4 << 20
const BYTES_OF_TYPE = 100
const MAX_MODELS = 600

export class TypesOfObjects {
  private readonly parts: TypesOfObjectsParts
  /** By the file and its hash: another upload is another entry. */
  private readonly known = new ByteCache<ObjectTypes>({
    maxBytes: MAX_BYTES,
    sizeOf: ({ size }) => BYTES_OF_TYPE * size,
  })
  private readonly reading = new Map<string, Promise<ObjectTypes>>()

  constructor(parts: TypesOfObjectsParts) {
    this.parts = parts
  }

  /** By keys such as `3303_1.1`; what has no model is not in the answer. Rejects as the store does. */
  async find({ tenantId }: DeviceIdentity, keys: readonly string[]): Promise<ReadonlyMap<string, ObjectTypes>> {
    const found = await this.parts.declared.of(tbResources).findWhere(
      [
        { column: 'tenant_id', in: [tenantId, SYSTEM_TENANT] },
        { column: 'resource_type', is: 'LWM2M_MODEL' },
        { column: 'resource_key', in: keys },
      ],
      MAX_MODELS,
    )
    const chosen = new Map<string, TbResource>()
    for (const record of found) {
      const key = record.resourceKey ?? ''
      if (record.tenantId === tenantId || !chosen.has(key)) chosen.set(key, record)
    }
    const types = new Map<string, ObjectTypes>()
    for (const [key, record] of chosen) types.set(key, await this.typesIn(record))
    return types
  }

  private typesIn(record: TbResource): Promise<ObjectTypes> {
    const key = `${record.id} ${record.etag ?? ''}`
    const known = this.known.get(key)
    if (known !== undefined) return Promise.resolve(known)
    let reading = this.reading.get(key)
    if (reading === undefined) {
      reading = this.read(record, key).finally(() => this.reading.delete(key))
      this.reading.set(key, reading)
    }
    return reading
  }

  private async read({ id, fileName }: TbResource, key: string): Promise<ObjectTypes> {
    const { resources } = await parseModel(await this.parts.bytes.read(id), fileName ?? '')
    const types: ObjectTypes = new Map(resources.flatMap((each) => (each.type === '' ? [] : [[each.id, each.type]])))
    this.known.set(key, types)
    return types
  }
}
