/** What is refused about the system administrator's settings; the texts are the reference's (`rest-api.md` 13.1). */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const AdminErrors = defineErrors('admin', {
  NO_SETTINGS: {
    kind: 'invalid',
    status: 404,
    restCode: 32,
    text: 'No Administration settings found for key: {key}',
  },
  KEY_OF_ANOTHER_CALL: { ...BAD_REQUEST, text: "Settings '{key}' are saved by {call}" },
  BASE_URL: { ...BAD_REQUEST, text: 'baseUrl must be an address such as https://iot.example.org' },
  MAIL: { ...BAD_REQUEST, text: 'Invalid mail settings: {reason}' },
  MAIL_FAILED: { ...BAD_REQUEST, text: 'Unable to send mail: {reason}' },
  MAIL_STATE: { ...BAD_REQUEST, text: 'This way back from the mail provider is not known, or too old: begin again' },
  MAIL_CODE: { ...BAD_REQUEST, text: 'The mail provider gave no token: {reason}' },
  SMS: { ...BAD_REQUEST, text: 'Invalid SMS settings: {reason}' },
  SMS_FAILED: { ...BAD_REQUEST, text: 'Unable to send SMS: {reason}' },
  JWT_ISSUER: { ...BAD_REQUEST, text: 'JWT token issuer should be specified!' },
  JWT_REFRESH_TIME: { ...BAD_REQUEST, text: 'JWT refresh token expiration time should be at least 15 minutes!' },
  JWT_TIME: { ...BAD_REQUEST, text: 'JWT token expiration time should be at least 1 minute!' },
  JWT_ORDER: {
    ...BAD_REQUEST,
    text: 'JWT refresh token expiration time should be longer than JWT token expiration time!',
  },
  JWT_LONGEST: { ...BAD_REQUEST, text: 'JWT tokens may live for at most {limit} seconds!' },
  JWT_KEY_NOT_BASE64: { ...BAD_REQUEST, text: 'JWT token signing key should be a valid Base64 encoded string!' },
  JWT_KEY_SHORT: {
    ...BAD_REQUEST,
    text: 'JWT token signing key should be a Base64 encoded string representing at least 512 bits of data!',
  },
  JWT_TOO_MANY_KEYS: {
    ...BAD_REQUEST,
    text: 'Tokens of {limit} former JWT settings are still good: wait until the oldest have expired',
  },
})
