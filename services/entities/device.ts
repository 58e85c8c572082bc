/** Devices. What they present when they connect is in `device-credentials.ts`. Source: `rest-api.md` 5.1 to 5.3. */
import { isJsonObject, type JsonObject } from '../../model/json.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { newAccessToken } from '../devices/device-credentials.ts'
import { NOT_IN_OWN_HANDS } from '../access/permissions.ts'
import { changedPackages, checkPackages, notesOf } from './assigned-packages.ts'
import { copy, customerId, id, json, name, object, optionalText } from './column.ts'
import { defineEntity, type Identity, type RecordOf } from './define.ts'
import { DeviceErrors } from './device-errors.ts'
import { deviceProfiles, newDeviceProfile, withTransport, type DeviceProfile } from './device-profile.ts'
import type { TransportType } from './device-profile-data.ts'
import { isGateway, lastGatewayOf, newsMessage, newsOf } from './gateway-news.ts'
import { packageId } from './package-id.ts'

const taken = (): Error => EntityStoreErrors.NAME_TAKEN({ entity: 'Device', property: 'name' })
const SERVER_SCOPE = 2

export const devices = defineEntity({
  type: 'DEVICE',
  label: 'Device',
  name: 'name',
  table: {
    name: 'device',
    version: 6,
    countedSince: 4,
    isInherited: true,
    indexes: [
      { members: ['createdTime'], since: 2 },
      { members: ['type'], since: 2 },
      // For entity queries: a page of a type by name, and whether an id is of a type and a customer.
      { members: ['type', 'name'], since: 3 },
      { members: ['id', 'type', 'customerId'], since: 3 },
      // For entity queries: those of a type in the order of their ids, which is that of what a filter on an attribute matches.
      { members: ['type', 'id'], since: 5 },
      // For entity queries: a page by label, of all or of a type.
      { members: ['label', 'id'], absentIsEmpty: true, since: 6 },
      { members: ['type', 'label', 'id'], absentIsEmpty: true, since: 6 },
    ],
  },
  columns: {
    customerId: customerId('device'),
    name: name(),
    type: copy(
      { by: 'deviceProfileId', member: 'name' },
      { since: 2, filledBy: '(select name from device_profile where device_profile.id = device.device_profile_id)' },
    ),
    label: optionalText({ search: true }),
    deviceProfileId: id('DEVICE_PROFILE', {
      whenDeleted: 'refuse',
      missing: () => DeviceErrors.PROFILE_UNKNOWN(),
      foreign: () => DeviceErrors.PROFILE_FOREIGN(),
      inUse: () => DeviceErrors.PROFILE_IN_USE(),
    }),
    firmwareId: packageId('firmware', 'devices'),
    softwareId: packageId('software', 'devices'),
    deviceData: object(),
    additionalInfo: json(),
  },
  unique: [{ members: ['name'], otherwise: taken }],
  imported: {
    NAME: 'name',
    TYPE: 'type',
    LABEL: 'label',
    DESCRIPTION: { in: 'additionalInfo', as: 'description' },
    IS_GATEWAY: { in: 'additionalInfo', as: 'gateway', isFlag: true },
  },
  example: () => ({ name: 'Thermometer 1', type: 'thermometer' }),
  // Of SNMP.
  secrets: {
    deviceData: {
      transportConfiguration: { community: 'text', authenticationPassphrase: 'text', privacyPassphrase: 'text' },
    },
  },
  permissions: { TENANT_ADMIN: 'all', CUSTOMER_USER: NOT_IN_OWN_HANDS },
  isHiddenFromOthers: true,
  shows: {
    customerTitle: { by: 'customerId', table: 'customer', column: 'title', isSearched: true },
    deviceProfileName: { by: 'deviceProfileId', table: 'device_profile', column: 'name', isSearched: true },
    active: {
      by: 'id',
      table: 'attribute',
      idColumn: 'entity_id',
      and: { scope: SERVER_SCOPE, key: 'active' },
      column: 'long_value',
      isFlag: true,
    },
  },
  tells: ({ id: deviceId }, what) =>
    what === 'created'
      ? undefined
      : {
          kind: 'device-changed',
          entity: { entityType: 'DEVICE', id: deviceId },
          // A deleted device too: who looks again finds none.
          credentialsChanged: what === 'in doubt',
        },
  /** The profile by id, by the type's name (made where there is none), else the default. */
  async prepare(record, { draft, before, services, transport }) {
    const profiles = services.of(deviceProfiles)
    const { tenantId } = record
    // What is for one profile is taken only by who says that profile.
    await checkPackages(record, record.deviceProfileId, services)
    const formerProfile = before && (await profiles.find(tenantId, before.deviceProfileId))
    const prepared = (profile: DeviceProfile) => {
      const saved = {
        ...record,
        type: profile.name,
        deviceProfileId: profile.id,
        deviceData: deviceDataOf(record.deviceData, profile.transportType),
      }
      const changed = changedPackages(before && packagesOf(before, formerProfile), packagesOf(saved, profile))
      const notes = notesOf('DEVICE', saved, changed, services)
      return { record: saved, following: before === undefined ? [...notes, inactive(saved, services.store)] : notes }
    }
    if (record.deviceProfileId !== '') {
      const profile = await profiles.find(tenantId, record.deviceProfileId)
      if (profile === undefined) throw DeviceErrors.PROFILE_UNKNOWN()
      return prepared(profile)
    }
    const wanted = draft.type ?? ''
    const profile = await profiles.findBy(tenantId, wanted === '' ? { default: true } : { name: wanted })
    // The default is everybody's: it stays what it is.
    const speaks = wanted === '' ? undefined : transport
    if (profile !== undefined) {
      const fitting = speaks === undefined ? profile : await withTransport(profile, speaks, services)
      return fitting === profile ? prepared(profile) : { ...prepared(fitting), statements: [profiles.update(fitting)] }
    }
    const members = wanted === '' ? { name: 'default', default: true } : { name: wanted, default: false }
    const made = newDeviceProfile({ ...members, id: services.newId(), createdTime: services.now(), tenantId }, speaks)
    return { ...prepared(made), statements: [profiles.insert(made)] }
  },
  /** A random access token. */
  startsWith: (record, services) =>
    services.store.deviceCredentials.insert(newAccessToken(record, services.newId(), undefined)),
  async routeOf({ tenantId, deviceProfileId }, services) {
    const profile = await services.of(deviceProfiles).find(tenantId, deviceProfileId)
    return { ruleChainId: profile?.defaultRuleChainId ?? null, queueName: profile?.defaultQueueName ?? null }
  },
  /** A gateway need not be told what it did itself. */
  async news({ principal, before, after, services, siblings }) {
    const gatewayId = lastGatewayOf(before)
    const call = newsOf(before, after)
    if (gatewayId === undefined || call === undefined || principal.gatewayId !== undefined) return []
    const gateway = await siblings.find(before.tenantId, gatewayId)
    // Whoever may save the device may write there what gateway it was: an ordinary device is not called so.
    if (gateway === undefined || gateway.id === before.id || !isGateway(gateway)) return []
    const made = { messageId: services.newId(), callId: services.newId(), now: services.now() }
    return [newsMessage(gateway, await siblings.routeOf(gateway), call, made)]
  },
  async beforeDelete({ id: deviceId }, services) {
    return services.store.credentialChanges.note(deviceId, services.now())
  },
})

export type Device = RecordOf<typeof devices.columns>

/** A new device is known to be inactive: who asks for the inactive ones finds it. Source: `device-api.md` 8. */
export function inactive(
  { id: entityId, createdTime: lastUpdateTs }: Pick<Identity, 'id' | 'createdTime'>,
  { attributes }: Pick<EntityStore, 'attributes'>,
): Statement {
  const attribute = { key: 'active', type: 'BOOLEAN', value: false, lastUpdateTs } as const
  return attributes.save([{ entityId, scope: 'SERVER_SCOPE', attribute, sequence: 0 }])
}

/** The device's own, else what its profile gives to all. */
export function packagesOf(
  device: Pick<Device, 'firmwareId' | 'softwareId'>,
  profile: Pick<DeviceProfile, 'firmwareId' | 'softwareId'> | undefined,
): Pick<Device, 'firmwareId' | 'softwareId'> {
  return {
    firmwareId: device.firmwareId ?? profile?.firmwareId ?? null,
    softwareId: device.softwareId ?? profile?.softwareId ?? null,
  }
}

/** Kinds of configuration follow the profile: what was sent for another kind is dropped. */
function deviceDataOf(sent: JsonObject | null, transportType: TransportType): JsonObject {
  const configuration = sent?.['configuration']
  const transport = sent?.['transportConfiguration']
  const isFitting = isJsonObject(transport) && transport['type'] === transportType
  return {
    ...sent,
    configuration:
      isJsonObject(configuration) && configuration['type'] === 'DEFAULT' ? configuration : { type: 'DEFAULT' },
    transportConfiguration: isFitting ? transport : { type: transportType },
  }
}
