/** OTA packages: firmware and software for devices of a profile, kept here or at an address. Source: `rest-api.md` 14.3. */
import { ContentErrors } from '../content/errors.ts'
import { forgetBytes } from '../content/stored-bytes.ts'
import { fixed, flag, internal, json, name, optionalId, optionalInteger, optionalText, type Column } from './column.ts'
import { defineEntity, type RecordOf } from './define.ts'

export const OTA_TYPES = ['FIRMWARE', 'SOFTWARE'] as const

/** Devices may have it already: what they were told stays true. In the words of messages. */
const FIXED_MEMBERS = [
  ['type', 'type'],
  ['title', 'otaPackage title'],
  ['packageVersion', 'otaPackage version'],
  ['tag', 'otaPackage tag'],
  ['deviceProfileId', 'otaPackage deviceProfile'],
  ['url', 'otaPackage URL'],
] as const

export const otaPackages = defineEntity({
  type: 'OTA_PACKAGE',
  label: 'OtaPackage',
  name: 'title',
  table: { name: 'ota_package', version: 1, indexes: [{ members: ['deviceProfileId', 'type'] }] },
  columns: {
    deviceProfileId: optionalId('DEVICE_PROFILE', {
      whenDeleted: 'keep',
      missing: () => ContentErrors.OTA_PROFILE_UNKNOWN(),
    }),
    type: optionalText(),
    title: name(),
    /** `version` of the JSON: what all entities have by that name counts changes. */
    packageVersion: hidden(name()),
    tag: optionalText({ search: true }),
    url: optionalText({ isFree: true }),
    hasData: fixed(flag(false)),
    fileName: fixed(optionalText()),
    contentType: fixed(optionalText()),
    checksumAlgorithm: fixed(optionalText()),
    checksum: fixed(optionalText()),
    dataSize: fixed(optionalInteger()),
    /** It has bytes or an address: devices can load it. */
    isLoadable: internal(flag(false)),
    additionalInfo: json(),
  },
  unique: [{ members: ['title', 'packageVersion'], otherwise: () => ContentErrors.OTA_TAKEN() }],
  lacks: ['version'],
  example: () => ({ type: 'FIRMWARE', title: 'Firmware', packageVersion: '1.0', url: 'https://example.com/firmware' }),
  permissions: { TENANT_ADMIN: 'all' },
  moreJson: ({ title, packageVersion }) => ({ name: title, version: packageVersion }),
  async prepare(record, { before }) {
    if (!OTA_TYPES.some((type) => type === record.type)) throw ContentErrors.OTA_TYPE_MISSING()
    const isLoadable = isAssignable(record)
    if (before === undefined) return { record: { ...record, isLoadable } }
    const changed = FIXED_MEMBERS.find(([member]) => record[member] !== before[member])
    if (changed !== undefined) throw ContentErrors.OTA_FIXED({ what: changed[1] })
    return { record }
  },
  beforeDelete: async ({ id }, { store }) => [forgetBytes(store, id)],
})

function hidden<Value>(column: Column<Value>): Column<Value> {
  return {
    ...column,
    isInternal: true,
    check: (value, entity) => column.check(value, entity, 'version'),
  }
}

export type OtaPackage = RecordOf<typeof otaPackages.columns>

/** Whether devices can load it: what they are told of it must be there. */
export function isAssignable({ hasData, url }: Pick<OtaPackage, 'hasData' | 'url'>): boolean {
  return hasData || (url !== null && url !== '')
}
