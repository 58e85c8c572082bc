/**
 * A second factor beside the password: one-time codes by the clock, and backup codes for who has lost the device (`rest-api.md` 1.9).
 * Which of them there are the system administrator says; each user sets up the own.
 */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '../../model/clock.ts'
import type { User } from '../../model/entities.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { hashOfToken } from './credentials.ts'
import { UserErrors } from './errors.ts'
import { matchingStep, newTotpSecret, totpSecretOf, totpUrl } from './totp.ts'
import type { UserSettings } from './user-settings.ts'

export const PROVIDER_TYPES = ['TOTP', 'BACKUP_CODE'] as const
export type ProviderType = (typeof PROVIDER_TYPES)[number]

const SETTING = 'twoFactor'
const CODE_BYTES = 5
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

const keptSchema = z.object({
  totp: z.object({ authUrl: z.string(), useByDefault: z.boolean(), lastStep: z.number() }).optional(),
  /** Hashes of those that are left. */
  backup: z.object({ hashes: z.array(z.string()), useByDefault: z.boolean() }).optional(),
})
type Kept = z.infer<typeof keptSchema>

export class TwoFactor {
  private readonly entities: EntityStore
  private readonly settings: UserSettings
  private readonly clock: Clock

  constructor(entities: EntityStore, settings: UserSettings, clock: Clock) {
    this.entities = entities
    this.settings = settings
    this.clock = clock
  }

  /** Undefined where there is none. */
  async platform(): Promise<PlatformTwoFactor | undefined> {
    const kept = await this.entities.settings.find(SETTING)
    return kept === undefined ? undefined : platformTwoFactorSchema.parse(kept)
  }

  async savePlatform(saved: PlatformTwoFactor): Promise<void> {
    const providers = saved.providers.map((provider) => ({ ...provider }))
    await this.entities.settings.put(SETTING, { ...saved, providers })
  }

  async providers(): Promise<readonly ProviderType[]> {
    return (await this.platform())?.providers.map(({ providerType }) => providerType) ?? []
  }

  /** Those that the user set up and the platform has: with any of them a password alone is not enough. */
  async providersOf(user: Pick<User, 'id'>): Promise<readonly { type: ProviderType; isDefault: boolean }[]> {
    const there = await this.providers()
    if (there.length === 0) return []
    const { totp, backup } = await this.kept(user.id)
    const own = [
      ...(totp === undefined ? [] : [{ type: 'TOTP' as const, isDefault: totp.useByDefault }]),
      ...(totp === undefined || backup === undefined || backup.hashes.length === 0
        ? []
        : [{ type: 'BACKUP_CODE' as const, isDefault: backup.useByDefault }]),
    ]
    return own.filter(({ type }) => there.includes(type))
  }

  /** For how long who gave the password may try; undefined where nothing more is asked of the user. */
  async secondsToVerify(user: Pick<User, 'id'>): Promise<number | undefined> {
    if ((await this.providersOf(user)).length === 0) return undefined
    return (await this.platform())?.totalAllowedTimeForVerification
  }

  /** What the user is to confirm with a code. Throws `TWO_FACTOR_PROVIDER`. */
  async generate(principal: Principal, type: ProviderType): Promise<JsonObject> {
    const platform = await this.platform()
    const provider = platform?.providers.find(({ providerType }) => providerType === type)
    if (provider === undefined) throw UserErrors.TWO_FACTOR_PROVIDER()
    if (provider.providerType === 'TOTP') {
      const authUrl = totpUrl(provider.issuerName, principal.email, newTotpSecret())
      return { providerType: 'TOTP', useByDefault: false, authUrl }
    }
    const codes = Array.from({ length: provider.codesQuantity }, () => randomBytes(CODE_BYTES).toString('hex'))
    return { providerType: 'BACKUP_CODE', useByDefault: false, codes, codesLeft: codes.length }
  }

  /** Throws `TWO_FACTOR_PROVIDER`, `TWO_FACTOR_URL`. */
  async checkConfig(config: AccountConfig): Promise<void> {
    if (!(await this.providers()).includes(config.providerType)) throw UserErrors.TWO_FACTOR_PROVIDER()
    if (config.providerType === 'TOTP' && totpSecretOf(config.authUrl) === undefined) throw UserErrors.TWO_FACTOR_URL()
  }

  /** The code shows that the user's app has the secret. Throws `TWO_FACTOR_CODE` too. */
  async save(principal: Principal, config: AccountConfig, code: string | undefined): Promise<JsonObject> {
    await this.checkConfig(config)
    const useByDefault = config.useByDefault ?? false
    return this.change(principal, (before) => {
      if (config.providerType === 'BACKUP_CODE') {
        if (before.totp === undefined) throw UserErrors.TWO_FACTOR_FIRST()
        return { ...before, backup: { hashes: config.codes.map(hashOfToken), useByDefault } }
      }
      const secret = totpSecretOf(config.authUrl) ?? ''
      const lastStep = matchingStep(secret, code ?? '', this.clock.now(), 0)
      if (lastStep === undefined) throw UserErrors.TWO_FACTOR_CODE()
      return { ...before, totp: { authUrl: config.authUrl, useByDefault, lastStep } }
    })
  }

  setDefault(principal: Principal, type: ProviderType, useByDefault: boolean): Promise<JsonObject> {
    return this.change(principal, ({ totp, backup }) => {
      if ((type === 'TOTP' ? totp : backup) === undefined) throw UserErrors.TWO_FACTOR_ABSENT()
      return {
        ...(totp === undefined ? {} : { totp: { ...totp, useByDefault: (type === 'TOTP') === useByDefault } }),
        ...(backup === undefined ? {} : { backup: { ...backup, useByDefault: (type !== 'TOTP') === useByDefault } }),
      }
    })
  }

  /** Backup codes alone are no second factor: they go with the other. */
  remove(principal: Principal, type: ProviderType): Promise<JsonObject> {
    return this.change(principal, ({ totp }) => (type === 'TOTP' || totp === undefined ? {} : { totp }))
  }

  async account(principal: Principal): Promise<JsonObject | undefined> {
    const kept = await this.kept(principal.userId)
    return kept.totp === undefined ? undefined : shown(kept)
  }

  /** A code is good once. Throws `TWO_FACTOR_CODE`. */
  async check(user: Pick<User, 'id' | 'tenantId'>, type: ProviderType, code: string): Promise<void> {
    if (!(await this.providersOf(user)).some((provider) => provider.type === type)) throw UserErrors.TWO_FACTOR_ABSENT()
    await this.change({ userId: user.id, tenantId: user.tenantId }, (before) => {
      const { totp, backup } = before
      if (type === 'TOTP' && totp !== undefined) {
        const step = matchingStep(totpSecretOf(totp.authUrl) ?? '', code, this.clock.now(), totp.lastStep)
        if (step !== undefined) return { ...before, totp: { ...totp, lastStep: step } }
      }
      if (type === 'BACKUP_CODE' && backup !== undefined) {
        const hashes = backup.hashes.filter((hash) => hash !== hashOfToken(code))
        if (hashes.length < backup.hashes.length) return { ...before, backup: { ...backup, hashes } }
      }
      throw UserErrors.TWO_FACTOR_CODE()
    })
  }

  private async kept(userId: string): Promise<Kept> {
    return keptSchema.parse(await this.settings.find({ userId }, 'TWO_FACTOR'))
  }

  private async change(
    principal: Pick<Principal, 'userId' | 'tenantId'>,
    changed: (before: Kept) => Kept,
  ): Promise<JsonObject> {
    const after = await this.settings.change(principal, 'TWO_FACTOR', (before) =>
      jsonOf(changed(keptSchema.parse(before))),
    )
    return shown(keptSchema.parse(after))
  }
}

function jsonOf({ totp, backup }: Kept): JsonObject {
  return {
    ...(totp === undefined ? {} : { totp: { ...totp } }),
    ...(backup === undefined ? {} : { backup: { ...backup, hashes: [...backup.hashes] } }),
  }
}

function shown({ totp, backup }: Kept): JsonObject {
  const configs: JsonObject = {}
  if (totp !== undefined)
    configs['TOTP'] = { providerType: 'TOTP', useByDefault: totp.useByDefault, authUrl: totp.authUrl }
  if (backup !== undefined)
    configs['BACKUP_CODE'] = {
      providerType: 'BACKUP_CODE',
      useByDefault: backup.useByDefault,
      codesLeft: backup.hashes.length,
    }
  return { configs }
}
