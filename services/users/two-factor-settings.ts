/** Which second factors there are, and what a user says of the own (`rest-api.md` 1.9). */
import { z } from 'zod'

export const PROVIDER_TYPES = ['TOTP', 'BACKUP_CODE'] as const
export type ProviderType = (typeof PROVIDER_TYPES)[number]

export const TWO_FACTOR_SETTINGS = 'twoFaSettings'
const MOST_BACKUP_CODES = 50

export const platformTwoFactorSchema = z.object({
  providers: z
    .array(
      z.discriminatedUnion('providerType', [
        z.object({ providerType: z.literal('TOTP'), issuerName: z.string().min(1).max(255) }),
        z.object({
          providerType: z.literal('BACKUP_CODE'),
          codesQuantity: z.int().min(1).max(MOST_BACKUP_CODES).default(10),
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
  // To force it upon users needs a log-in that can do nothing but set it up.
  enforceTwoFa: z.literal(false).nullable().default(false),
})
export type PlatformTwoFactor = z.infer<typeof platformTwoFactorSchema>

export const accountConfigSchema = z.discriminatedUnion('providerType', [
  z.object({
    providerType: z.literal('TOTP'),
    authUrl: z.string().max(1000),
    useByDefault: z.boolean().nullish(),
  }),
  z.object({
    providerType: z.literal('BACKUP_CODE'),
    codes: z
      .array(z.string().regex(/^[0-9a-f]{10}$/))
      .min(1)
      .max(MOST_BACKUP_CODES),
    useByDefault: z.boolean().nullish(),
  }),
])
export type AccountConfig = z.infer<typeof accountConfigSchema>
