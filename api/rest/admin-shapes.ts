/** How settings of the platform look in answers (`rest-api.md` 13.1). */
import type { JsonObject } from '../../model/json.ts'

const text: JsonObject = { type: 'string' }
const flag: JsonObject = { type: 'boolean' }
const count: JsonObject = { type: 'integer' }
const optionalCount: JsonObject = { type: ['integer', 'null'] }
const idOf = (entityType: string): JsonObject => ({
  type: 'object',
  properties: { entityType: { const: entityType }, id: { type: 'string', format: 'uuid' } },
  required: ['entityType', 'id'],
})

function object(properties: Readonly<Record<string, JsonObject>>): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties) }
}

export const adminSettingsShape = object({
  id: idOf('ADMIN_SETTINGS'),
  createdTime: count,
  tenantId: idOf('TENANT'),
  key: text,
  jsonValue: { type: 'object' },
})

export const policyShape = object({
  minimumLength: count,
  maximumLength: optionalCount,
  minimumUppercaseLetters: optionalCount,
  minimumLowercaseLetters: optionalCount,
  minimumDigits: optionalCount,
  minimumSpecialCharacters: optionalCount,
  allowWhitespaces: flag,
  forceUserToResetPasswordIfNotValid: flag,
  passwordExpirationPeriodDays: optionalCount,
  passwordReuseFrequencyDays: optionalCount,
})

export const securityShape = object({
  passwordPolicy: policyShape,
  maxFailedLoginAttempts: optionalCount,
  userLockoutNotificationEmail: { type: ['string', 'null'] },
  mobileSecretKeyLength: optionalCount,
  userActivationTokenTtl: count,
  passwordResetTokenTtl: count,
})

export const jwtShape = object({
  tokenExpirationTime: count,
  refreshTokenExpTime: count,
  tokenIssuer: text,
  tokenSigningKey: text,
})

export const featuresShape = object({
  emailEnabled: flag,
  smsEnabled: flag,
  notificationEnabled: flag,
  oauthEnabled: flag,
  twoFaEnabled: flag,
})

export const systemInfoShape = object({
  monolith: flag,
  systemData: {
    type: 'array',
    items: object({
      serviceId: text,
      serviceType: text,
      cpuUsage: count,
      cpuCount: count,
      memoryUsage: count,
      totalMemory: count,
      discUsage: count,
      totalDiscSpace: count,
    }),
  },
})
