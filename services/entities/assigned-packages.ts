/** Firmware and software of devices and profiles: what a save may name, and the note that devices are to be told (`rest-api.md` 14.3). */
import { forgetBytes } from '../content/stored-bytes.ts'
import type { Statement } from '../../storage/entities/database.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { EntityTable } from '../../storage/entities/tables/entity-table.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import type { EntityAccess } from './define.ts'
import { DeviceErrors } from './device-errors.ts'
import { isAssignable, OTA_TYPES, otaPackages } from './ota-package.ts'
import { rowsOf } from './rows.ts'

export type PackageKind = (typeof OTA_TYPES)[number]

/** The member of devices and profiles that names it. */
export const PACKAGE_MEMBERS = { FIRMWARE: 'firmwareId', SOFTWARE: 'softwareId' } as const

/** Devices, or all devices of a profile, whose package changed and who were not told yet; they go when they were. */
export const OTA_UPDATES: EntityTable = {
  name: 'ota_update',
  version: 1,
  columns: [
    { name: 'owner_type', type: 'text', isNullable: false },
    { name: 'owner_id', type: 'text', isNullable: false },
    { name: 'kind', type: 'text', isNullable: false },
    /** Of a profile: the last device that was told. */
    { name: 'told', type: 'text', isNullable: false },
  ],
  unique: [],
  indexes: [],
}

export function otaUpdateRows(entities: EntityStore): RowStore {
  const overtaken = (): Error => EntityStoreErrors.VERSION_CONFLICT({ entity: 'OTA update' })
  return entities.rows(OTA_UPDATES, { taken: {}, overtaken })
}

interface Assigned {
  readonly id: string
  readonly tenantId: string
  readonly firmwareId: string | null
  readonly softwareId: string | null
}

/** `deviceProfileId`: what the save named. Throws `PACKAGE_…`. */
export async function checkPackages(record: Assigned, deviceProfileId: string, services: EntityAccess): Promise<void> {
  for (const type of OTA_TYPES) {
    const id = record[PACKAGE_MEMBERS[type]]
    if (id === null) continue
    const kind = type.toLowerCase()
    const found = await services.of(otaPackages).find(record.tenantId, id)
    if (found === undefined) throw DeviceErrors.PACKAGE_UNKNOWN({ kind })
    if (found.type !== type) throw DeviceErrors.PACKAGE_TYPE({ kind, type: found.type ?? '' })
    if (!isAssignable(found)) throw DeviceErrors.PACKAGE_EMPTY({ kind })
    if (found.deviceProfileId !== null && found.deviceProfileId !== deviceProfileId)
      throw DeviceErrors.PACKAGE_OF_OTHER_PROFILE({ kind })
  }
}

/** Steps that take the packages of a profile away with it: no other device can load them. */
export async function deletionOfPackages(
  { id, tenantId }: Pick<Assigned, 'id' | 'tenantId'>,
  services: EntityAccess,
): Promise<readonly Statement[]> {
  const { store } = services
  const packages = await services.of(otaPackages).findAllBy(tenantId, { deviceProfileId: id })
  const ofEach = packages.flatMap((each) => [
    forgetBytes(store, each.id),
    ...store.deleteAttached(each.id),
    store.cleanups.note(each.id),
  ])
  const whose = [
    { column: 'tenant_id', is: tenantId },
    { column: 'device_profile_id', is: id },
  ]
  return [...ofEach, rowsOf(otaPackages, store).deleteAll(whose)]
}

/** Steps of the save's transaction: devices are told after it, whatever happens in between. */
export function notesOf(
  ownerType: 'DEVICE' | 'DEVICE_PROFILE',
  { id, tenantId }: Assigned,
  changed: readonly PackageKind[],
  services: EntityAccess,
): readonly Statement[] {
  const rows = otaUpdateRows(services.store)
  return changed.map((kind) =>
    rows.insert({
      id: services.newId(),
      created_time: services.now(),
      version: 1,
      tenant_id: tenantId,
      owner_type: ownerType,
      owner_id: id,
      kind,
      told: '',
    }),
  )
}

/** Which packages are others than before; a new one without any has the same. */
export function changedPackages(
  before: Pick<Assigned, 'firmwareId' | 'softwareId'> | undefined,
  now: Pick<Assigned, 'firmwareId' | 'softwareId'>,
): readonly PackageKind[] {
  return OTA_TYPES.filter((kind) => (before?.[PACKAGE_MEMBERS[kind]] ?? null) !== now[PACKAGE_MEMBERS[kind]])
}
