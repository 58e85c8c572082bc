/** Tenant profiles: what tenants of a kind may use. The system's. Source: `rest-api.md` 11. */
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { TenantErrors } from '../tenants/tenant-errors.ts'
import { flag, name, optionalText } from './column.ts'
import { defineEntity, type RecordOf } from './define.ts'
import { LimitErrors, profileData } from './tenant-limits.ts'

const taken = (): Error => EntityStoreErrors.NAME_TAKEN({ entity: 'Tenant profile', property: 'name' })

export const tenantProfiles = defineEntity({
  type: 'TENANT_PROFILE',
  label: 'Tenant profile',
  name: 'name',
  table: { name: 'tenant_profile', version: 1 },
  columns: {
    name: name(),
    description: optionalText({ isFree: true }),
    isolatedTbRuleEngine: flag(false),
    default: flag(false, { column: 'is_default' }),
    profileData: profileData(),
  },
  unique: [{ members: ['name'], otherwise: taken }],
  lacks: ['tenantId', 'externalId', 'version'],
  example: () => ({ name: 'Small' }),
  permissions: { SYS_ADMIN: 'all' },
  mayBeSystems: true,
  // Limits are kept in memory.
  tells: ({ id }) => ({ kind: 'settings-changed', entity: { entityType: 'TENANT_PROFILE', id } }),
  async prepare(record, { draft, before }) {
    if (record.isolatedTbRuleEngine) throw LimitErrors.ISOLATED()
    // A profile becomes the default by a call of its own; a client that sends back what it read may keep the flag.
    if (draft.default === true && before?.default !== true) throw TenantErrors.DEFAULT_PROFILE_EXISTS()
    return { record: { ...record, default: before?.default ?? false } }
  },
  async beforeDelete(record) {
    if (record.default) throw TenantErrors.DEFAULT_PROFILE_DELETE()
    return []
  },
})

export type TenantProfile = RecordOf<typeof tenantProfiles.columns>
