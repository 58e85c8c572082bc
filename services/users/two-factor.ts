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
import type { AdminSettings } from '../admin/admin-settings.ts'
import type { Vault } from '../vault/vault.ts'
import { hashOfToken } from './credentials.ts'
import { UserErrors } from './errors.ts'
import { matchingStep, newTotpSecret, totpSecretOf, totpUrl } from './totp.ts'
import {
  platformTwoFactorSchema,
  TWO_FACTOR_SETTINGS,
  type AccountConfig,
  type PlatformTwoFactor,
  type ProviderType,
} from './two-factor-settings.ts'
import type { UserSettings } from './user-settings.ts'

const CODE_BYTES = 5

const keptSchema = z.object({
  totp: z.object({ authUrl: z.string(), useByDefault: z.boolean(), lastStep: z.number() }).optional(),
  /** Hashes of those that are left. */
  backup: z.object({ hashes: z.array(z.string()), useByDefault: z.boolean() }).optional(),
})
type Kept = z.infer<typeof keptSchema>

export interface TwoFactorParts {
  readonly admin: Pick<AdminSettings, 'find' | 'save'>
  readonly settings: UserSettings
  readonly vault: Vault
  readonly clock: Clock
}

export class TwoFactor {
  private readonly parts: TwoFactorParts

  constructor(parts: TwoFactorParts) {
    this.parts = parts
  }

  /** Undefined where there is none. */
  async platform(): Promise<PlatformTwoFactor | undefined> {
    const saved = await this.parts.admin.find(TWO_FACTOR_SETTINGS)
    return saved && platformTwoFactorSchema.parse(saved.value)
  }

  async savePlatform(principal: Principal, saved: PlatformTwoFactor): Promise<void> {
    const providers = saved.providers.map((provider) => ({ ...provider }))
    await this.parts.admin.save(principal, TWO_FACTOR_SETTINGS, { ...saved, providers })
  }

  async providers(): Promise<readonly ProviderType[]> {
    return (await this.platform())?.providers.map(({ providerType }) => providerType) ?? []
  }

  /** Seals every user's secret that is not sealed under the key in force. Throws `vault.KEY_UNKNOWN`. */
  async sealAnew(): Promise<void> {
    for (const user of await this.parts.settings.usersOf('TWO_FACTOR')) {
      const { totp } = keptSchema.parse(await this.parts.settings.find(user, 'TWO_FACTOR'))
      if (totp !== undefined && !this.parts.vault.isCurrent(totp.authUrl)) await this.change(user, (before) => before)
    }
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
      const lastStep = matchingStep(secret, code ?? '', this.parts.clock.now(), 0)
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
        const step = matchingStep(totpSecretOf(totp.authUrl) ?? '', code, this.parts.clock.now(), totp.lastStep)
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
    return this.opened(userId, await this.parts.settings.find({ userId }, 'TWO_FACTOR'))
  }

  private async change(
    principal: Pick<Principal, 'userId' | 'tenantId'>,
    changed: (before: Kept) => Kept,
  ): Promise<JsonObject> {
    const { userId } = principal
    const after = await this.parts.settings.change(principal, 'TWO_FACTOR', (before) =>
      this.sealed(userId, changed(this.opened(userId, before))),
    )
    return shown(this.opened(userId, after))
  }

  /** Who has the secret of a code has the codes: it is kept sealed. */
  private sealed(userId: string, { totp, backup }: Kept): JsonObject {
    return {
      ...(totp === undefined ? {} : { totp: { ...totp, authUrl: this.parts.vault.seal(totp.authUrl, place(userId)) } }),
      ...(backup === undefined ? {} : { backup: { ...backup, hashes: [...backup.hashes] } }),
    }
  }

  private opened(userId: string, json: JsonObject): Kept {
    const { totp, ...kept } = keptSchema.parse(json)
    if (totp === undefined) return kept
    return { ...kept, totp: { ...totp, authUrl: this.parts.vault.open(totp.authUrl, place(userId)) } }
  }
}

function place(userId: string): string {
  return `user_settings/${userId}/TWO_FACTOR`
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
