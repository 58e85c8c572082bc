/** What a tenant may keep here: bytes, by its tenant profile. */
import { SYSTEM_TENANT } from '../changes/changes.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { tenantProfiles } from '../entities/tenant-profile.ts'
import { tenants } from '../entities/tenant.ts'

export type ShareName = 'maxOtaPackagesInBytes' | 'maxResourcesInBytes' | 'maxResourceSize'

/** Undefined: no limit. */
export async function shareOf(
  declared: EntityRegistry,
  tenantId: string,
  share: ShareName,
): Promise<number | undefined> {
  if (tenantId === SYSTEM_TENANT) return undefined
  const tenant = await declared.of(tenants).findAnywhere(tenantId)
  const profileId = tenant?.tenantProfileId ?? null
  const profile = profileId === null ? undefined : await declared.of(tenantProfiles).findAnywhere(profileId)
  const limit = profile?.profileData.limits[share] ?? 0
  return limit > 0 ? limit : undefined
}
