/** What saves of devices, their profiles and credentials refuse; the texts are the reference's (`rest-api.md` 2.4, 5). */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const DeviceErrors = defineErrors('device', {
  PROFILE_UNKNOWN: { ...BAD_REQUEST, text: 'Device is referencing non existing device profile!' },
  PROFILE_FOREIGN: { ...BAD_REQUEST, text: 'Device can`t be referencing to device profile from different tenant!' },
  PROFILE_IN_USE: { ...BAD_REQUEST, text: 'The device profile referenced by the devices cannot be deleted!' },
  PROFILE_PROPERTY_MISSING: { ...BAD_REQUEST, text: 'Device profile {property} should be specified!' },
  PROFILE_QUEUE_UNKNOWN: { ...BAD_REQUEST, text: 'Device profile is referencing to non-existent queue!' },
  PROFILE_CHAIN_IN_USE: { ...BAD_REQUEST, text: 'The rule chain referenced by the device profiles cannot be deleted!' },
  PROFILE_DASHBOARD_IN_USE: {
    ...BAD_REQUEST,
    text: 'The dashboard is referenced by a device profile',
  },
  PROFILE_TRANSPORT_FIXED: {
    ...BAD_REQUEST,
    text: "Can't change device profile transport type because devices referenced it!",
  },
  PROFILE_SCHEMA: { ...BAD_REQUEST, text: '[Transport Configuration] failed to parse {property} due to: {reason}' },
  PROFILE_SPARKPLUG: { ...BAD_REQUEST, text: '[Transport Configuration] {member} has to be {allowed}' },
  DEFAULT_PROFILE_EXISTS: {
    ...BAD_REQUEST,
    text: 'Another default device profile is present in scope of current tenant!',
  },
  DEFAULT_PROFILE_DELETE: { ...BAD_REQUEST, text: 'Deletion of Default Device Profile is prohibited!' },
  PROFILE_CERTIFICATE: {
    ...BAD_REQUEST,
    text: 'The provisioning certificate must be the PEM text of a certificate authority!',
  },
  PROFILE_CERTIFICATE_PATTERN: {
    ...BAD_REQUEST,
    text: 'The provisioning pattern must be a regular expression with one group, such as (.*)!',
  },
  PROVISION_KEY_TAKEN: { ...BAD_REQUEST, text: 'Device profile with such provision device key already exists!' },
  PACKAGE_UNKNOWN: { ...BAD_REQUEST, text: "Can't assign non-existent {kind}!" },
  PACKAGE_FOREIGN: { ...BAD_REQUEST, text: "Can't assign {kind} from different tenant!" },
  PACKAGE_TYPE: { ...BAD_REQUEST, text: "Can't assign {kind} with type: {type}" },
  PACKAGE_EMPTY: { ...BAD_REQUEST, text: "Can't assign {kind} with empty data!" },
  PACKAGE_OF_OTHER_PROFILE: { ...BAD_REQUEST, text: "Can't assign {kind} with different deviceProfile!" },
  PACKAGE_IN_USE: { ...BAD_REQUEST, text: 'The {what} referenced by the {owners} cannot be deleted!' },
})
