/** Which second factors there are, and what a user says of the own (`rest-api.md` 1.9). */
import { z } from 'zod'
import { PHONE_NUMBER } from '../../engine/rulechain/capabilities/sms-provider.ts'

export const PROVIDER_TYPES = ['TOTP', 'SMS', 'EMAIL', 'BACKUP_CODE'] as const
export type ProviderType = (typeof PROVIDER_TYPES)[number]
/** Those whose codes are sent. */
export type SentType = Extract<ProviderType, 'SMS' | 'EMAIL'>

export const TWO_FACTOR_SETTINGS = 'twoFaSettings'
const MAX_BACKUP_CODES = 50

const LONGEST_CODE_SECONDS = 86_400
const codeLifetime = z.int().min(1).max(LONGEST_CODE_SECONDS).default(120)
/** Of two text messages. */
const LONGEST_TEXT = 320
const MAX_IDS = 1_000
const ids = z.array(z.uuid()).max(MAX_IDS).nullish().transform(orNone)

const enforcedUsersSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ALL_USERS') }),
  z.object({ type: z.literal('SYSTEM_ADMINISTRATORS') }),
  /** Of these tenants, else of tenants with these profiles; of all where neither is named. */
  z.object({ type: z.literal('TENANT_ADMINISTRATORS'), tenantsIds: ids, tenantProfilesIds: ids }),
])
export type EnforcedUsers = z.infer<typeof enforcedUsersSchema>

export const platformTwoFactorSchema = z.object({
  providers: z
    .array(
      z.discriminatedUnion('providerType', [
        z.object({ providerType: z.literal('TOTP'), issuerName: z.string().min(1).max(255) }),
        z.object({
          providerType: z.literal('SMS'),
          /** May hold `${userEmail}` too. */
          smsVerificationMessageTemplate: z
            .string()
            .max(LONGEST_TEXT)
            .includes('${code}', { message: 'must contain verification code' }),
          verificationCodeLifetime: codeLifetime,
        }),
        z.object({ providerType: z.literal('EMAIL'), verificationCodeLifetime: codeLifetime }),
        z.object({
          providerType: z.literal('BACKUP_CODE'),
          codesQuantity: z.int().min(1).max(MAX_BACKUP_CODES).default(10),
        }),
      ]),
    )
    .max(PROVIDER_TYPES.length)
    .refine((providers) => new Set(providers.map(({ providerType }) => providerType)).size === providers.length, {
      message: 'a provider is there twice',
    }),
  minVerificationCodeSendPeriod: z.int().min(5),
  verificationCodeCheckRateLimit: z
    .string()
    .regex(/^[1-9]\d*:[1-9]\d*$/)
    .nullable()
    .default(null),
  maxVerificationFailuresBeforeUserLockout: z.int().min(0).nullable().default(null),
  totalAllowedTimeForVerification: z.int().min(60).max(3600),
  enforceTwoFa: z.boolean().nullable().default(false),
  /** On whom; null for everybody. */
  enforcedUsersFilter: enforcedUsersSchema.nullable().default(null),
})
export type PlatformTwoFactor = z.infer<typeof platformTwoFactorSchema>

export const accountConfigSchema = z.discriminatedUnion('providerType', [
  z.object({
    providerType: z.literal('TOTP'),
    authUrl: z.string().max(1000),
    useByDefault: z.boolean().nullish(),
  }),
  z.object({
    providerType: z.literal('SMS'),
    phoneNumber: z.string().regex(PHONE_NUMBER, 'is not of E.164 format'),
    useByDefault: z.boolean().nullish(),
  }),
  z.object({
    providerType: z.literal('EMAIL'),
    email: z.email().max(255),
    useByDefault: z.boolean().nullish(),
  }),
  z.object({
    providerType: z.literal('BACKUP_CODE'),
    codes: z
      .array(z.string().regex(/^[0-9a-f]{10}$/))
      .min(1)
      .max(MAX_BACKUP_CODES),
    useByDefault: z.boolean().nullish(),
  }),
])
export type AccountConfig = z.infer<typeof accountConfigSchema>

function orNone(named: readonly string[] | null | undefined): string[] {
  return [...(named ?? [])]
}
