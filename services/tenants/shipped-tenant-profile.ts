/** The tenant profile that every installation has: tenants that name none are of it. */
import type { Clock, Random } from '../../model/clock.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import { recordWith, rowsOf } from '../entities/rows.ts'
import { tenantProfiles } from '../entities/tenant-profile.ts'
import { tenants } from '../entities/tenant.ts'

export interface TenantProfileSeedOptions {
  readonly entities: EntityStore
  readonly clock: Clock
  readonly random: Random
}

/** Its id. Puts it in where it is absent, and gives it to tenants of before there were profiles. Safe where several start at once. */
export async function seedTenantProfile(options: TenantProfileSeedOptions): Promise<string> {
  const { entities } = options
  const id = (await findDefault(entities)) ?? (await insertDefault(options))
  const rows = rowsOf(tenants, entities)
  const without = [{ column: 'tenant_profile_id', is: null }]
  if ((await rows.count(without)) > 0) await entities.write([rows.updateAll(without, { tenant_profile_id: id })])
  return id
}

async function insertDefault({ entities, clock, random }: TenantProfileSeedOptions): Promise<string> {
  const identity = { id: random.uuid(), createdTime: clock.now(), version: 1, tenantId: SYSTEM_TENANT }
  const members = { name: 'Default', description: 'Default tenant profile', default: true }
  const profile = recordWith(tenantProfiles, identity, members)
  try {
    await entities.write([rowsOf(tenantProfiles, entities).insert(tenantProfiles.rowOf(profile))])
    return profile.id
  } catch (error) {
    // Another process may have put it in meanwhile.
    const id = await findDefault(entities)
    if (id === undefined) throw error
    return id
  }
}

async function findDefault(entities: EntityStore): Promise<string | undefined> {
  const row = await rowsOf(tenantProfiles, entities).find([{ column: 'is_default', is: 1 }])
  return row && tenantProfiles.recordOf(row).id
}
