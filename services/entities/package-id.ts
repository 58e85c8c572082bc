/** Firmware or software that a device or a profile has; the package may not go meanwhile. Source: `rest-api.md` 14.3. */
import { optionalId } from './column.ts'
import { DeviceErrors } from './device-errors.ts'

export function packageId(kind: 'firmware' | 'software', owners: 'devices' | 'device profile') {
  return optionalId(
    'OTA_PACKAGE',
    {
      whenDeleted: 'refuse',
      ofKind: { type: kind.toUpperCase() },
      // Packages name the profile that they are for.
      isUnenforced: true,
      missing: () => DeviceErrors.PACKAGE_UNKNOWN({ kind }),
      foreign: () => DeviceErrors.PACKAGE_FOREIGN({ kind }),
      inUse: () => DeviceErrors.PACKAGE_IN_USE({ what: kind === 'firmware' ? 'otaPackage' : kind, owners }),
    },
    { since: 2 },
  )
}
