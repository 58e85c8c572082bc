/** Device profiles: transport, provisioning, rule chain, queue and packages that devices of a kind share. Source: `rest-api.md` 5.4. */
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Statement } from '../../storage/entities/database.ts'
import { ServiceErrors } from '../errors.ts'
import { changedPackages, checkPackages, deletionOfPackages, notesOf } from './assigned-packages.ts'
import { certificateKeyOf } from './certificate-provisioning.ts'
import { choice, flag, name, object, optionalId, optionalText } from './column.ts'
import { defineEntity, type EntityAccess, type Identity, type RecordOf } from './define.ts'
import { DeviceErrors } from './device-errors.ts'
import {
  checkPayloadSchemas,
  checkSparkplug,
  newProfileData,
  PROVISION_TYPES,
  profileDataOf,
  TRANSPORT_TYPES,
  type TransportType,
} from './device-profile-data.ts'
import { packageId } from './package-id.ts'
import { recordWith, rowsOf } from './rows.ts'

const taken = (): Error => EntityStoreErrors.NAME_TAKEN({ entity: 'Device profile', property: 'name' })
const chain = {
  missing: () => ServiceErrors.PROFILE_CHAIN_UNKNOWN(),
  foreign: () => ServiceErrors.PROFILE_CHAIN_FOREIGN(),
}

export const deviceProfiles = defineEntity({
  type: 'DEVICE_PROFILE',
  label: 'Device profile',
  name: 'name',
  table: { name: 'device_profile', version: 2, isInherited: true },
  columns: {
    name: name(),
    description: optionalText({ isFree: true }),
    image: optionalText({ isFree: true, sort: false, since: 2 }),
    type: choice(['DEFAULT'], 'DEFAULT', { since: 2 }),
    transportType: choice(TRANSPORT_TYPES, 'DEFAULT'),
    provisionType: choice(PROVISION_TYPES, 'DISABLED'),
    provisionDeviceKey: optionalText({ since: 2 }),
    defaultRuleChainId: optionalId('RULE_CHAIN', {
      whenDeleted: 'refuse',
      ...chain,
      inUse: () => DeviceErrors.PROFILE_CHAIN_IN_USE(),
    }),
    defaultDashboardId: optionalId(
      'DASHBOARD',
      {
        whenDeleted: 'refuse',
        isUnenforced: true,
        missing: () => ServiceErrors.PROFILE_DASHBOARD_UNKNOWN(),
        foreign: () => ServiceErrors.PROFILE_DASHBOARD_FOREIGN(),
        inUse: () => DeviceErrors.PROFILE_DASHBOARD_IN_USE(),
      },
      { since: 2 },
    ),
    defaultQueueName: optionalText(),
    defaultEdgeRuleChainId: optionalId('RULE_CHAIN', { whenDeleted: 'forget', ...chain }, { since: 2 }),
    firmwareId: packageId('firmware', 'device profile'),
    softwareId: packageId('software', 'device profile'),
    default: flag(false, { column: 'is_default' }),
    profileData: object(),
  },
  unique: [
    { members: ['name'], otherwise: taken },
    {
      members: ['provisionDeviceKey'],
      isSystemWide: true,
      since: 2,
      otherwise: () => DeviceErrors.PROVISION_KEY_TAKEN(),
    },
  ],
  example: () => ({
    name: 'pump',
    type: 'DEFAULT',
    transportType: 'DEFAULT',
    provisionType: 'ALLOW_CREATE_NEW_DEVICES',
    provisionDeviceKey: 'pumps',
    profileData: { provisionConfiguration: { type: 'ALLOW_CREATE_NEW_DEVICES', provisionDeviceSecret: 'secret' } },
  }),
  secrets: { profileData: { provisionConfiguration: { provisionDeviceSecret: 'text' } } },
  permissions: { TENANT_ADMIN: 'all', CUSTOMER_USER: ['READ'] },
  isSharedInTenant: true,
  tells: ({ id }, what) =>
    what === 'created'
      ? undefined
      : { kind: 'device-changed', entity: { entityType: 'DEVICE_PROFILE', id }, credentialsChanged: false },
  async prepare(record, { draft, before, services }) {
    for (const [member, property] of [
      ['type', 'type'],
      ['transportType', 'transport type'],
    ] as const)
      if (draft[member] === undefined) throw DeviceErrors.PROFILE_PROPERTY_MISSING({ property })
    // A profile becomes the default by a call of its own; a client may send back what it read.
    if (record.default && before?.default !== true) throw DeviceErrors.DEFAULT_PROFILE_EXISTS()
    const defaultQueueName = record.defaultQueueName === '' ? null : record.defaultQueueName
    if (defaultQueueName !== null && !(await services.hasQueue(record.tenantId, defaultQueueName)))
      throw DeviceErrors.PROFILE_QUEUE_UNKNOWN()
    const profileData = profileDataOf(record.profileData, record.transportType)
    if (record.transportType === 'MQTT') checkSparkplug(profileData)
    await checkPayloadSchemas(profileData)
    if (before !== undefined) await withTransport(before, record.transportType, services)
    const sentKey = record.provisionDeviceKey === '' ? null : record.provisionDeviceKey
    const isByChain = record.provisionType === 'X509_CERTIFICATE_CHAIN'
    const provisionDeviceKey = isByChain ? await certificateKeyOf(profileData) : sentKey
    await checkPackages(record, record.id, services)
    return {
      record: { ...record, defaultQueueName, profileData, provisionDeviceKey, default: before?.default ?? false },
      following: notesOf('DEVICE_PROFILE', record, changedPackages(before, record), services),
    }
  },
  async beforeDelete(record, services) {
    if (record.default) throw DeviceErrors.DEFAULT_PROFILE_DELETE()
    return deletionOfPackages(record, services)
  },
})

export type DeviceProfile = RecordOf<typeof deviceProfiles.columns>

/** A profile as new tenants and unknown device types get it. */
export function newDeviceProfile(
  record: Omit<Identity, 'version'> & Pick<DeviceProfile, 'name' | 'default'>,
  transportType: TransportType = 'DEFAULT',
): DeviceProfile {
  const { id, createdTime, tenantId } = record
  return recordWith(
    deviceProfiles,
    { id, createdTime, tenantId, version: 1 },
    {
      name: record.name,
      default: record.default,
      description: record.default ? 'Default device profile' : null,
      transportType,
      profileData: newProfileData(transportType),
    },
  )
}

/** The same profile, for devices of another protocol. Throws `PROFILE_TRANSPORT_FIXED` where it has devices. */
export async function withTransport(
  profile: DeviceProfile,
  transportType: TransportType,
  services: EntityAccess,
): Promise<DeviceProfile> {
  if (profile.transportType === transportType) return profile
  if ((await services.countOf('DEVICE', profile.tenantId, { deviceProfileId: profile.id })) > 0)
    throw DeviceErrors.PROFILE_TRANSPORT_FIXED()
  const { transportConfiguration } = newProfileData(transportType)
  const profileData = { ...profile.profileData, transportConfiguration: transportConfiguration ?? null }
  return { ...profile, version: profile.version + 1, transportType, profileData }
}

export function insertionOfProfile(entities: EntityStore, profile: DeviceProfile): Statement {
  return rowsOf(deviceProfiles, entities).insert(deviceProfiles.rowOf(profile))
}
