/** How passwords must be, and how long links to choose one are good (`rest-api.md` 13.1). Kept among the platform's settings. */
import { z } from 'zod'
import type { JsonObject } from '../../model/json.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { readAdminSetting } from '../admin/table.ts'

export const SECURITY_SETTINGS = 'securitySettings'
export const LONGEST_PASSWORD = 72
const count = z.int().min(0).max(LONGEST_PASSWORD).nullable().default(null)
const days = z.int().min(0).max(3_650).nullable().default(null)

export const passwordPolicySchema = z.object({
  minimumLength: z.int().min(5).max(50).default(6),
  maximumLength: z.int().min(5).max(LONGEST_PASSWORD).nullable().default(LONGEST_PASSWORD),
  minimumUppercaseLetters: count,
  minimumLowercaseLetters: count,
  minimumDigits: count,
  minimumSpecialCharacters: count,
  allowWhitespaces: z.boolean().default(true),
  forceUserToResetPasswordIfNotValid: z.boolean().default(false),
  passwordExpirationPeriodDays: days,
  passwordReuseFrequencyDays: days,
})

export const securitySettingsSchema = z.object({
  passwordPolicy: passwordPolicySchema.prefault({}),
  maxFailedLoginAttempts: z.int().min(0).nullable().default(null),
  userLockoutNotificationEmail: z.string().max(255).nullable().default(null),
  mobileSecretKeyLength: z.int().min(1).max(1_024).nullable().default(64),
  userActivationTokenTtl: z.int().min(1).max(24).default(24),
  passwordResetTokenTtl: z.int().min(1).max(24).default(24),
})

export type PasswordPolicy = z.infer<typeof passwordPolicySchema>
export type SecuritySettings = z.infer<typeof securitySettingsSchema>

export async function readSecuritySettings(entities: Pick<EntityStore, 'rows'>): Promise<SecuritySettings> {
  return securitySettingsSchema.parse((await readAdminSetting(entities, SECURITY_SETTINGS)) ?? {})
}

export function securityJson(settings: SecuritySettings): JsonObject {
  return { ...settings, passwordPolicy: { ...settings.passwordPolicy } }
}
