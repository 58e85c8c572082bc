/** Asset profiles: the rule chain, queue and dashboard that assets of a kind share. Source: `rest-api.md` 5.7. */
import { ServiceErrors } from '../errors.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { flag, name, optionalId, optionalText } from './column.ts'
import { defineEntity } from './define.ts'

const taken = (): Error => EntityStoreErrors.NAME_TAKEN({ entity: 'Asset profile', property: 'name' })
const chain = {
  missing: () => ServiceErrors.PROFILE_CHAIN_UNKNOWN(),
  foreign: () => ServiceErrors.PROFILE_CHAIN_FOREIGN(),
}

export const assetProfiles = defineEntity({
  type: 'ASSET_PROFILE',
  label: 'Asset profile',
  name: 'name',
  table: { name: 'asset_profile', version: 1 },
  columns: {
    name: name(),
    description: optionalText({ isFree: true }),
    image: optionalText({ isFree: true, sort: false }),
    defaultRuleChainId: optionalId('RULE_CHAIN', {
      whenDeleted: 'refuse',
      ...chain,
      inUse: () => ServiceErrors.ASSET_PROFILE_CHAIN_IN_USE(),
    }),
    defaultDashboardId: optionalId('DASHBOARD', {
      whenDeleted: 'refuse',
      isUnenforced: true,
      missing: () => ServiceErrors.PROFILE_DASHBOARD_UNKNOWN(),
      foreign: () => ServiceErrors.PROFILE_DASHBOARD_FOREIGN(),
      inUse: () => ServiceErrors.ASSET_PROFILE_DASHBOARD_IN_USE(),
    }),
    defaultQueueName: optionalText(),
    defaultEdgeRuleChainId: optionalId('RULE_CHAIN', { whenDeleted: 'forget', ...chain }),
    default: flag(false, { column: 'is_default' }),
  },
  unique: [{ members: ['name'], otherwise: taken }],
  example: () => ({ name: 'building' }),
  permissions: { TENANT_ADMIN: 'all', CUSTOMER_USER: ['READ'] },
  isSharedInTenant: true,
  /** Its assets show its name. */
  tells: ({ id }, what) =>
    what === 'created'
      ? undefined
      : { kind: 'device-changed', entity: { entityType: 'ASSET_PROFILE', id }, credentialsChanged: false },
  async prepare(record, { before, services }) {
    const { defaultQueueName, tenantId } = record
    if (defaultQueueName !== null && defaultQueueName !== '' && !(await services.hasQueue(tenantId, defaultQueueName)))
      throw ServiceErrors.ASSET_PROFILE_QUEUE_UNKNOWN()
    // A profile becomes the default by a call of its own; a client may send back what it read.
    if (record.default && before?.default !== true) throw ServiceErrors.DEFAULT_ASSET_PROFILE_EXISTS()
    return { record: { ...record, default: before?.default ?? false } }
  },
  async beforeDelete(record) {
    if (record.default) throw ServiceErrors.DEFAULT_ASSET_PROFILE_DELETE()
    return []
  },
})
