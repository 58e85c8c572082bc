/** Assets: buildings, rooms, lines: what devices are in. Source: `rest-api.md` 5.7. */
import { ServiceErrors } from '../errors.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { NOT_IN_OWN_HANDS } from '../access/permissions.ts'
import { assetProfiles } from './asset-profile.ts'
import { copy, customerId, id, json, name, optionalText } from './column.ts'
import { defineEntity } from './define.ts'

const taken = (): Error => EntityStoreErrors.NAME_TAKEN({ entity: 'Asset', property: 'name' })

export const assets = defineEntity({
  type: 'ASSET',
  label: 'Asset',
  name: 'name',
  table: {
    name: 'asset',
    version: 3,
    countedSince: 3,
    indexes: [
      { members: ['customerId'] },
      { members: ['assetProfileId'] },
      // For entity queries: a page of a type by name, and whether an id is of a type and a customer.
      { members: ['type', 'name'], since: 2 },
      { members: ['id', 'type', 'customerId'], since: 2 },
    ],
  },
  columns: {
    customerId: customerId('asset'),
    name: name(),
    type: copy({ by: 'assetProfileId', member: 'name' }),
    label: optionalText({ search: true }),
    assetProfileId: id('ASSET_PROFILE', {
      whenDeleted: 'refuse',
      missing: () => ServiceErrors.ASSET_PROFILE_UNKNOWN(),
      foreign: () => ServiceErrors.ASSET_PROFILE_FOREIGN(),
      inUse: () => ServiceErrors.ASSET_PROFILE_REFERENCED(),
    }),
    additionalInfo: json(),
  },
  unique: [{ members: ['name'], otherwise: taken }],
  imported: {
    NAME: 'name',
    TYPE: 'type',
    LABEL: 'label',
    DESCRIPTION: { in: 'additionalInfo', as: 'description' },
  },
  example: () => ({ name: 'Hall 1', type: 'building' }),
  permissions: { TENANT_ADMIN: 'all', CUSTOMER_USER: NOT_IN_OWN_HANDS },
  shows: {
    customerTitle: { by: 'customerId', table: 'customer', column: 'title', isSearched: true },
    assetProfileName: { by: 'assetProfileId', table: 'asset_profile', column: 'name', isSearched: true },
  },
  /** Who follows it is asked again whether it is still theirs. */
  tells: ({ id: assetId }, what) =>
    what === 'created'
      ? undefined
      : { kind: 'device-changed', entity: { entityType: 'ASSET', id: assetId }, credentialsChanged: false },
  /** The profile by id, by the type's name (made where there is none), else the default. */
  async prepare(record, { draft, services }) {
    const profiles = services.of(assetProfiles)
    const { tenantId } = record
    if (record.assetProfileId !== '') {
      const profile = await profiles.find(tenantId, record.assetProfileId)
      if (profile === undefined) throw ServiceErrors.ASSET_PROFILE_UNKNOWN()
      return { record: { ...record, type: profile.name } }
    }
    const wanted = draft.type ?? ''
    const profile = await profiles.findBy(tenantId, wanted === '' ? { default: true } : { name: wanted })
    if (profile !== undefined) return { record: { ...record, type: profile.name, assetProfileId: profile.id } }
    const made = profiles.fresh(tenantId, wanted === '' ? { name: 'default', default: true } : { name: wanted })
    return { record: { ...record, type: made.name, assetProfileId: made.id }, statements: [profiles.insert(made)] }
  },
  async routeOf({ tenantId, assetProfileId }, services) {
    const profile = await services.of(assetProfiles).find(tenantId, assetProfileId)
    return { ruleChainId: profile?.defaultRuleChainId ?? null, queueName: profile?.defaultQueueName ?? null }
  },
})
