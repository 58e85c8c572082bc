/** What is refused about users and their logins; the texts are the reference's (`rest-api.md` 1.5, 1.6, 12). */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const UserErrors = defineErrors('users', {
  EMAIL_FORMAT: { ...BAD_REQUEST, text: "Invalid email address format '{email}'!" },
  EMAIL_TAKEN_MEANWHILE: { ...BAD_REQUEST, text: 'User with such email already present in database!' },
  AUTHORITY_MISSING: { ...BAD_REQUEST, text: "User authority isn't defined!" },
  CUSTOMER_MISSING: { ...BAD_REQUEST, text: 'Customer user should be assigned to customer!' },
  CUSTOMER_UNKNOWN: { ...BAD_REQUEST, text: 'User is referencing to non-existent customer!' },
  TENANT_MISSING: { ...BAD_REQUEST, text: 'Tenant administrator should be assigned to tenant!' },
  TENANT_ADMINISTRATOR_PLACE: { ...BAD_REQUEST, text: "Tenant administrator can't be assigned to customer!" },
  SYSTEM_ADMINISTRATOR_PLACE: {
    ...BAD_REQUEST,
    text: "System administrator can't be assigned neither to tenant nor to customer!",
  },
  LAST_TENANT_ADMINISTRATOR: { ...BAD_REQUEST, text: 'At least one tenant administrator must remain!' },
  LAST_SYSTEM_ADMINISTRATOR: { ...BAD_REQUEST, text: 'At least one system administrator must remain!' },
  NOT_ACTIVE: { kind: 'denied', status: 401, restCode: 10, text: 'User account is not active' },
  ALREADY_ACTIVE: { ...BAD_REQUEST, text: 'User is already activated!' },
  ACTIVATION_TOKEN: { ...BAD_REQUEST, text: 'Unable to find user credentials by activateToken [{token}]' },
  ACTIVATION_EXPIRED: { ...BAD_REQUEST, text: 'Activation token expired' },
  PASSWORD_CHARACTERS: { ...BAD_REQUEST, text: 'Password must contain {least} or more {kind} characters.' },
  PASSWORD_WHITESPACE: { ...BAD_REQUEST, text: 'Password contains a whitespace character.' },
  SETTINGS_TYPE: { ...BAD_REQUEST, text: 'Settings type "{type}" is not supported!' },
  SETTINGS_RESERVED: { ...BAD_REQUEST, text: 'Settings with type: {type} are reserved for internal use!' },
  SETTINGS_TOO_LONG: { ...BAD_REQUEST, text: 'Settings of one type may have at most {limit} characters' },
  API_KEY_USER_UNKNOWN: { ...BAD_REQUEST, text: 'API key is referencing to non-existent user!' },
  API_KEY_TAKEN: { ...BAD_REQUEST, text: 'API key with such value already exists!' },
  API_KEYS_TOO_MANY: { ...BAD_REQUEST, text: 'A user may have at most {limit} API keys' },
  API_KEY_EXPIRED: { kind: 'denied', status: 401, restCode: 10, text: 'API key is expired' },
  RESET_TOKEN: { ...BAD_REQUEST, text: 'Invalid reset token!' },
  TWO_FACTOR_PROVIDER: { ...BAD_REQUEST, text: '2FA provider is not available' },
  TWO_FACTOR_URL: { ...BAD_REQUEST, text: 'authUrl is not the address of a secret' },
  TWO_FACTOR_CODE: { ...BAD_REQUEST, text: 'Verification code is incorrect' },
  TWO_FACTOR_ABSENT: { ...BAD_REQUEST, text: '2FA provider is not configured' },
  TWO_FACTOR_MAIL: { ...BAD_REQUEST, text: 'Mail service is not set up' },
  TWO_FACTOR_NOBODYS: {
    ...BAD_REQUEST,
    text: 'At least one 2FA provider is required if two-factor authentication is enforced',
  },
  TWO_FACTOR_NOT_SET_UP: { ...BAD_REQUEST, text: 'Two-factor authentication is not set up yet' },
  TWO_FACTOR_TOO_OFTEN: { kind: 'retryable', status: 429, restCode: 33, text: 'Too many requests' },
  TWO_FACTOR_LOCKED: {
    kind: 'denied',
    status: 401,
    restCode: 10,
    text: 'User account was locked due to exceeded 2FA verification attempts',
  },
  TWO_FACTOR_FIRST: {
    ...BAD_REQUEST,
    text: 'To use 2FA backup codes you first need to configure at least one provider',
  },
  NOT_ACTIVATED_YET: { ...BAD_REQUEST, text: 'The user has not been activated yet' },
})
