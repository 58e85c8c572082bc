/** Tenants: who owns everything else; they themselves are the system's. Source: `rest-api.md` 11. */
import { SYSTEM_TENANT } from '../changes/changes.ts'
import { LOOK } from '../access/permissions.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { TenantErrors } from '../tenants/tenant-errors.ts'
import { json, name, optionalId } from './column.ts'
import { CONTACT } from './contact.ts'
import { defineEntity, type RecordOf } from './define.ts'
import { tenantProfiles } from './tenant-profile.ts'

const taken = (): Error => EntityStoreErrors.NAME_TAKEN({ entity: 'Tenant', property: 'title' })

export const tenants = defineEntity({
  type: 'TENANT',
  label: 'Tenant',
  name: 'title',
  table: {
    name: 'tenant',
    version: 3,
    forgetsCountsSince: 3,
    isInherited: true,
    tenantIdSince: 2,
    indexes: [
      { members: ['createdTime'], since: 2 },
      { members: ['tenantProfileId'], since: 2 },
    ],
  },
  columns: {
    ...CONTACT,
    title: name(),
    tenantProfileId: optionalId(
      'TENANT_PROFILE',
      {
        whenDeleted: 'refuse',
        missing: () => TenantErrors.PROFILE_UNKNOWN(),
        inUse: () => TenantErrors.PROFILE_REFERENCED(),
      },
      { since: 2 },
    ),
    additionalInfo: json(),
  },
  unique: [{ members: ['title'], otherwise: taken, isSystemWide: true }],
  lacks: ['tenantId', 'externalId'],
  example: () => ({ title: 'Acme' }),
  permissions: { SYS_ADMIN: 'all', TENANT_ADMIN: [...LOOK, 'DELETE'] },
  mayBeSystems: true,
  // Limits are kept in memory.
  tells: ({ id }) => ({ kind: 'settings-changed', entity: { entityType: 'TENANT', id } }),
  tenantOf: ({ id }) => id,
  shows: { tenantProfileName: { by: 'tenantProfileId', table: 'tenant_profile', column: 'name' } },
  async prepare(record, { before, services }) {
    const following = before === undefined ? services.tenantStart(record.id) : []
    if (record.tenantProfileId !== null) return { record, following }
    const profile = await services.of(tenantProfiles).findBy(SYSTEM_TENANT, { default: true })
    return { record: { ...record, tenantProfileId: profile?.id ?? null }, following }
  },
  takesAlong: ({ id }, services) => services.ownedBy(id),
  // The reference knows one region only, whatever is sent.
  moreJson: ({ title }) => ({ name: title, region: 'Global' }),
})

export type Tenant = RecordOf<typeof tenants.columns>
