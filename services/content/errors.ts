/** What content services refuse; the texts are the reference's (`rest-api.md` 2.4, 14). */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const ContentErrors = defineErrors('content', {
  FIXED: { ...BAD_REQUEST, text: 'Update of {what} is prohibited!' },
  DESCRIPTOR_MISSING: { ...BAD_REQUEST, text: "Widgets type descriptor can't be empty!" },
  WIDGET_TYPE_UNKNOWN: { ...BAD_REQUEST, text: 'There is no widget type {name} that the bundle could hold' },
  TAKEN: { ...BAD_REQUEST, text: '{name} already exists!' },
  OTA_PROFILE_UNKNOWN: { ...BAD_REQUEST, text: 'OtaPackage is referencing to non-existent device profile!' },
  OTA_TAKEN: { ...BAD_REQUEST, text: 'OtaPackage with such title and version already exists!' },
  OTA_TYPE_MISSING: { ...BAD_REQUEST, text: 'Type should be specified!' },
  OTA_URL_MISSING: { ...BAD_REQUEST, text: 'Ota package URL should be specified!' },
  OTA_FIXED: { ...BAD_REQUEST, text: 'Updating {what} is prohibited!' },
  OTA_CHECKSUM: { ...BAD_REQUEST, text: 'Wrong otaPackage file!' },
  OTA_OTHER: { ...BAD_REQUEST, text: 'The device is to have {title} {version}' },
  FILES_BUSY: { kind: 'retryable', status: 503, text: 'Too many files are sent at once, try again later' },
  FILE_EMPTY: { ...BAD_REQUEST, text: 'The file is empty' },
  SHARE_USED_UP: { ...BAD_REQUEST, text: '{what} total size exceeds the maximum of {limit}' },
  NOT_FOUND: { kind: 'invalid', status: 404, text: "Requested item wasn't found!", restCode: 32 },
})
