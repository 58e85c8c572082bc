/** What saves of devices' credentials refuse; the texts are the reference's (`rest-api.md` 5.3). */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const CredentialsErrors = defineErrors('credentials', {
  TYPE_MISSING: { ...BAD_REQUEST, text: 'Device credentials type should be specified' },
  ID_MISSING: { ...BAD_REQUEST, text: 'Device credentials id should be specified!' },
  VALUE_MISSING: { ...BAD_REQUEST, text: 'Device credentials value should be specified!' },
  TOO_LONG: { ...BAD_REQUEST, text: 'Device credentials value length must be equal or less than {limit}' },
  UNKNOWN: { ...BAD_REQUEST, text: 'Unable to update non-existent device credentials!' },
  MQTT_MALFORMED: { ...BAD_REQUEST, text: 'Invalid credentials body for simple mqtt credentials!' },
  MQTT_EMPTY: { ...BAD_REQUEST, text: 'Both mqtt client id and user name are empty!' },
  MQTT_PASSWORD: { ...BAD_REQUEST, text: 'Password cannot be specified along with client id' },
  LWM2M_MALFORMED: { ...BAD_REQUEST, text: 'Invalid credentials body for LwM2M credentials!' },
})
