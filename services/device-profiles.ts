/** Device profiles of a tenant (`rest-api.md` 5.4). */
import type { DeviceProfile, Page, PageQuery } from '../model/entities.ts'
import type { JsonObject } from '../model/json.ts'
import type { EntityStore } from '../storage/entities/entity-store.ts'
import { ServiceErrors } from './errors.ts'
import type { DeviceProfileService } from './services.ts'

export class StoredDeviceProfiles implements DeviceProfileService {
  private readonly entities: EntityStore

  constructor(entities: EntityStore) {
    this.entities = entities
  }

  async find(tenantId: string, id: string): Promise<DeviceProfile | undefined> {
    const profile = await this.entities.deviceProfiles.findAnywhere(id)
    return profile?.tenantId === tenantId ? profile : undefined
  }

  async findDefault(tenantId: string): Promise<DeviceProfile> {
    const profile = await this.entities.deviceProfiles.findDefault(tenantId)
    if (profile === undefined) {
      throw ServiceErrors.ITEM_NOT_FOUND({
        typeName: 'Default device profile of tenant',
        id: tenantId,
        entityType: 'DEVICE_PROFILE',
      })
    }
    return profile
  }

  page(tenantId: string, page: PageQuery): Promise<Page<DeviceProfile>> {
    return this.entities.deviceProfiles.page(tenantId, page)
  }
}

/** A profile as new tenants and unknown device types get it. */
export function newDeviceProfile(
  record: Pick<DeviceProfile, 'id' | 'createdTime' | 'tenantId' | 'name' | 'isDefault'>,
): DeviceProfile {
  return {
    ...record,
    version: 1,
    description: record.isDefault ? 'Default device profile' : null,
    type: 'DEFAULT',
    transportType: 'DEFAULT',
    provisionType: 'DISABLED',
    defaultRuleChainId: null,
    defaultQueueName: null,
    profileData: profileData(),
  }
}

function profileData(): JsonObject {
  return {
    configuration: { type: 'DEFAULT' },
    transportConfiguration: { type: 'DEFAULT' },
    provisionConfiguration: { type: 'DISABLED', provisionDeviceSecret: null },
    alarms: null,
  }
}
