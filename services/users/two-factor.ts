/**
 * A second factor beside the password: one-time codes by the clock, by mail or to a phone, and backup codes for who has lost the device (`rest-api.md`
 * 1.9). Which of them there are, and who must have one, the system administrator says; each user sets up the own.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { lruMap } from '../../model/lru-map.ts'
import type { Clock } from '../../model/clock.ts'
import type { User } from '../../model/entities.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { AdminSettings } from '../admin/admin-settings.ts'
import type { Mailer } from '../mail/mailer.ts'
import { RateBuckets } from '../../model/rates.ts'
import type { Vault } from '../vault/vault.ts'
import { hashOfToken } from './credentials.ts'
import { UserErrors } from './errors.ts'
import { matchingStep, newTotpSecret, totpSecretOf, totpUrl } from './totp.ts'
import type { SendText } from '../sms/tenant-sms.ts'
import {
  configuredTypes,
  confirmedPlace,
  hasFactor,
  isOfAnotherSession,
  isSealedAnew,
  lastSent,
  openedAccount,
  sealedAccount,
  sentCode,
  shownAccount,
  withOneDefault,
  withoutSentCode,
  withSentCode,
  type TwoFactorAccount,
} from './two-factor-account.ts'
import {
  platformTwoFactorSchema,
  TWO_FACTOR_SETTINGS,
  type AccountConfig,
  type EnforcedUsers,
  type PlatformTwoFactor,
  type ProviderType,
  type SentType,
} from './two-factor-settings.ts'
import type { UserSettings } from './user-settings.ts'

const MEMBERS = { TOTP: 'totp', SMS: 'sms', EMAIL: 'email', BACKUP_CODE: 'backup' } as const
const CODE_BYTES = 5
const SENT_DIGITS = 6
/** Of codes of one user to addresses and phones that nobody confirmed, in a day: they reach who asked for nothing. */
const MAX_UNCONFIRMED = 20
const DAY_MS = 86_400_000
/** Users whose checks are counted at a time. */
const MAX_COUNTED = 10_000

export interface TwoFactorParts {
  readonly admin: Pick<AdminSettings, 'find' | 'save'>
  readonly settings: UserSettings
  readonly vault: Vault
  readonly mailer: Pick<Mailer, 'isSetUp' | 'send'>
  readonly texts: { readonly isSetUp: () => Promise<boolean>; readonly send: SendText }
  /** Of a tenant; undefined where it has none. */
  readonly profileOf: (tenantId: string) => Promise<string | undefined>
  /** Switches a user off who gave too many wrong codes. */
  readonly lock: (userId: string) => Promise<void>
  readonly clock: Clock
}

/** What is still asked of who gave the password, and for how many seconds it may be given. */
export interface SecondStep {
  readonly step: 'verify' | 'set up'
  readonly seconds: number
}

export interface OwnProvider {
  readonly type: ProviderType
  readonly isDefault: boolean
  /** The address or phone that codes go to, as far as it is told; null for others. */
  readonly contact: string | null
  readonly minVerificationCodeSendPeriod: number | null
}

type Whose = Pick<Principal, 'userId' | 'tenantId'>
type Recipient = Whose & Pick<Principal, 'email'>

export class TwoFactor {
  private readonly parts: TwoFactorParts
  private readonly checks = lruMap<{ readonly limit: string; readonly buckets: RateBuckets }>(MAX_COUNTED)

  constructor(parts: TwoFactorParts) {
    this.parts = parts
  }

  /** Undefined where there is none. */
  async platform(): Promise<PlatformTwoFactor | undefined> {
    const saved = await this.parts.admin.find(TWO_FACTOR_SETTINGS)
    return saved && platformTwoFactorSchema.parse(saved.value)
  }

  /** Throws `TWO_FACTOR_MAIL`, `TWO_FACTOR_SMS`, `TWO_FACTOR_NOBODYS`. */
  async savePlatform(principal: Principal, saved: PlatformTwoFactor): Promise<void> {
    const types = saved.providers.map(({ providerType }) => providerType)
    for (const type of types) if (isSentType(type)) await this.requireSender(type)
    const isEnough = types.some((type) => type !== 'BACKUP_CODE')
    if (saved.enforceTwoFa === true && !isEnough) throw UserErrors.TWO_FACTOR_NOBODYS()
    await this.parts.admin.save(principal, TWO_FACTOR_SETTINGS, platformJson(saved))
  }

  async providers(): Promise<readonly ProviderType[]> {
    return (await this.platform())?.providers.map(({ providerType }) => providerType) ?? []
  }

  /** Seals every user's secret that is not sealed under the key in force. Throws `vault.KEY_UNKNOWN`. */
  async sealAnew(): Promise<void> {
    const { settings, vault } = this.parts
    for (const user of await settings.usersOf('TWO_FACTOR')) {
      if (!isSealedAnew(vault, await settings.find(user, 'TWO_FACTOR'))) await this.change(user, (before) => before)
    }
  }

  /** Those that the user set up and the platform has: with any of them a password alone is not enough. */
  async providersOf(user: Pick<User, 'id'>): Promise<readonly OwnProvider[]> {
    const platform = await this.platform()
    if (platform === undefined) return []
    const there = new Set(platform.providers.map(({ providerType }) => providerType))
    const account = await this.accountOf(user.id)
    const own = configuredTypes(account).filter(({ type }) => there.has(type))
    const first = own.find(({ isDefault }) => isDefault) ?? own[0]
    return own.map((provider) => {
      const { type } = provider
      const place = isSentType(type) ? (confirmedPlace(account, type) ?? '') : null
      return {
        type,
        isDefault: provider === first,
        contact: place === null ? null : type === 'SMS' ? hiddenNumber(place) : hiddenAddress(place),
        minVerificationCodeSendPeriod: place === null ? null : platform.minVerificationCodeSendPeriod,
      }
    })
  }

  /** Undefined where the password is enough. */
  async secondStep(user: User): Promise<SecondStep | undefined> {
    const platform = await this.platform()
    if (platform === undefined) return undefined
    const seconds = platform.totalAllowedTimeForVerification
    if ((await this.providersOf(user)).length > 0) return { step: 'verify', seconds }
    if (platform.enforceTwoFa !== true) return undefined
    return (await this.isMeant(platform.enforcedUsersFilter, user)) ? { step: 'set up', seconds } : undefined
  }

  /**
   * Who has the password alone may set up a first factor, and nothing once the user has one: else a session of before the user set one up
   * would be as good as a code. Throws `TWO_FACTOR_OF_ANOTHER_SESSION`.
   */
  async checkSetUp(user: Pick<User, 'id'>, session: string): Promise<void> {
    if (isOfAnotherSession(await this.accountOf(user.id), await this.providers(), session))
      throw UserErrors.TWO_FACTOR_OF_ANOTHER_SESSION()
  }

  /** What the user is to confirm with a code. Throws `TWO_FACTOR_PROVIDER`. */
  async generate(principal: Principal, type: ProviderType): Promise<JsonObject> {
    const provider = await this.provider(type)
    switch (provider.providerType) {
      case 'TOTP': {
        const authUrl = totpUrl(provider.issuerName, principal.email, newTotpSecret())
        return { providerType: 'TOTP', useByDefault: false, authUrl }
      }
      case 'SMS':
        return { providerType: 'SMS', useByDefault: false, phoneNumber: null }
      case 'EMAIL':
        return { providerType: 'EMAIL', useByDefault: false, email: principal.email }
      case 'BACKUP_CODE': {
        const { codesQuantity } = provider
        const codes = Array.from({ length: codesQuantity }, () => randomBytes(CODE_BYTES).toString('hex'))
        return { providerType: 'BACKUP_CODE', useByDefault: false, codes, codesLeft: codes.length }
      }
    }
  }

  /** Whether it could be confirmed; a code is sent where one is needed. Throws `TWO_FACTOR_PROVIDER`, `TWO_FACTOR_URL`. */
  async submit(principal: Principal, config: AccountConfig): Promise<void> {
    await this.checkConfig(config)
    const place = placeIn(config)
    if (place !== undefined) await this.send(principal, place.type, place.to)
  }

  /**
   * The code shows that the user has what it takes. What is set up is taken away before another of its kind takes its place. Throws
   * `TWO_FACTOR_THERE`, `TWO_FACTOR_CODE`, `TWO_FACTOR_OF_ANOTHER_SESSION` too.
   */
  async save(principal: Principal, config: AccountConfig, code: string | undefined): Promise<JsonObject> {
    await this.checkConfig(config)
    const { setUpSession } = principal
    const common = {
      useByDefault: config.useByDefault ?? false,
      ...(setUpSession === undefined ? {} : { session: setUpSession }),
    }
    const offered = await this.providers()
    const confirmed = (before: TwoFactorAccount): TwoFactorAccount => {
      // Again, for both may have been under way.
      if (setUpSession !== undefined && isOfAnotherSession(before, offered, setUpSession))
        throw UserErrors.TWO_FACTOR_OF_ANOTHER_SESSION()
      if (before[MEMBERS[config.providerType]] !== undefined) throw UserErrors.TWO_FACTOR_THERE()
      switch (config.providerType) {
        case 'BACKUP_CODE':
          if (!hasFactor(before)) throw UserErrors.TWO_FACTOR_FIRST()
          return { ...before, backup: { hashes: config.codes.map(hashOfToken), ...common } }
        case 'SMS': {
          if (!this.isSent(before, 'SMS', config.phoneNumber, code ?? '')) throw UserErrors.TWO_FACTOR_CODE()
          return { ...withoutSentCode(before, 'SMS'), sms: { phoneNumber: config.phoneNumber, ...common } }
        }
        case 'EMAIL': {
          if (!this.isSent(before, 'EMAIL', config.email, code ?? '')) throw UserErrors.TWO_FACTOR_CODE()
          return { ...withoutSentCode(before, 'EMAIL'), email: { email: config.email, ...common } }
        }
        case 'TOTP': {
          const secret = totpSecretOf(config.authUrl) ?? ''
          const lastStep = matchingStep(secret, code ?? '', this.parts.clock.now(), 0)
          if (lastStep === undefined) throw UserErrors.TWO_FACTOR_CODE()
          return { ...before, totp: { authUrl: config.authUrl, ...common, lastStep } }
        }
      }
    }
    const chosen = common.useByDefault ? config.providerType : undefined
    return this.change(principal, (before) => withOneDefault(confirmed(before), chosen))
  }

  /** One of them is asked for first, always. Throws `TWO_FACTOR_UNKNOWN`. */
  setDefault(principal: Principal, type: ProviderType, useByDefault: boolean): Promise<JsonObject> {
    return this.change(principal, (before) => {
      const member = MEMBERS[type]
      const config = before[member]
      if (config === undefined) throw UserErrors.TWO_FACTOR_UNKNOWN({ type })
      if (useByDefault) return withOneDefault(before, type)
      return withOneDefault({ ...before, [member]: { ...config, useByDefault: false } })
    })
  }

  /** Backup codes alone are no second factor: they go with the last other one. */
  remove(principal: Principal, type: ProviderType): Promise<JsonObject> {
    return this.change(principal, (before) => {
      const after: TwoFactorAccount = { ...before, [MEMBERS[type]]: undefined }
      return hasFactor(after) ? withOneDefault(after) : { ...after, backup: undefined }
    })
  }

  async account(principal: Principal): Promise<JsonObject | undefined> {
    const account = await this.accountOf(principal.userId)
    return hasFactor(account) ? shownAccount(account) : undefined
  }

  /** For who gave the password; codes of other kinds are in the user's hands already. Throws `TWO_FACTOR_ABSENT`, `TWO_FACTOR_TOO_OFTEN`. */
  async sendCode(user: Pick<User, 'id' | 'tenantId' | 'email'>, type: ProviderType): Promise<void> {
    if (!(await this.providersOf(user)).some((provider) => provider.type === type)) throw UserErrors.TWO_FACTOR_ABSENT()
    if (!isSentType(type)) return
    const { id: userId, tenantId, email } = user
    const place = confirmedPlace(await this.accountOf(userId), type)
    if (place !== undefined) await this.send({ userId, tenantId, email }, type, place)
  }

  /** A code is good once. Throws `TWO_FACTOR_CODE`, `TWO_FACTOR_ABSENT`, `TWO_FACTOR_TOO_OFTEN`, `TWO_FACTOR_LOCKED`. */
  async check(user: Pick<User, 'id' | 'tenantId'>, type: ProviderType, code: string): Promise<void> {
    const platform = await this.platform()
    if (platform === undefined || !(await this.providersOf(user)).some((provider) => provider.type === type))
      throw UserErrors.TWO_FACTOR_ABSENT()
    this.countCheck(user.id, platform.verificationCodeCheckRateLimit)
    let failures: number | undefined
    await this.change({ userId: user.id, tenantId: user.tenantId }, (before) => {
      const { failures: former = 0, ...rest } = before
      const after = this.withCodeUsed(rest, type, code)
      failures = after === undefined ? former + 1 : undefined
      return after ?? { ...rest, failures: former + 1 }
    })
    if (failures === undefined) return
    const most = platform.maxVerificationFailuresBeforeUserLockout ?? 0
    if (most === 0 || failures < most) throw UserErrors.TWO_FACTOR_CODE()
    await this.parts.lock(user.id)
    await this.change({ userId: user.id, tenantId: user.tenantId }, ({ failures: _counted, ...rest }) => rest)
    throw UserErrors.TWO_FACTOR_LOCKED()
  }

  /** Undefined where the code is wrong. */
  private withCodeUsed(account: TwoFactorAccount, type: ProviderType, code: string): TwoFactorAccount | undefined {
    const { totp, backup } = account
    if (type === 'TOTP' && totp !== undefined) {
      const step = matchingStep(totpSecretOf(totp.authUrl) ?? '', code, this.parts.clock.now(), totp.lastStep)
      return step === undefined ? undefined : { ...account, totp: { ...totp, lastStep: step } }
    }
    if (isSentType(type)) {
      const place = confirmedPlace(account, type)
      return place !== undefined && this.isSent(account, type, place, code) ? withoutSentCode(account, type) : undefined
    }
    if (type !== 'BACKUP_CODE' || backup === undefined) return undefined
    const hashes = backup.hashes.filter((hash) => hash !== hashOfToken(code))
    return hashes.length === backup.hashes.length ? undefined : { ...account, backup: { ...backup, hashes } }
  }

  private isSent(account: TwoFactorAccount, type: SentType, to: string, code: string): boolean {
    const sent = sentCode(account, type)
    if (sent === undefined || sent.to !== to || sent.expires <= this.parts.clock.now()) return false
    // Hashes are compared, so that the time it takes says nothing of the code.
    return hashOfToken(code) === hashOfToken(sent.code)
  }

  /** The newest of its kind alone is good. Throws `TWO_FACTOR_TOO_OFTEN`, `TWO_FACTOR_MAIL`, `TWO_FACTOR_SMS`, and why it could not be sent. */
  private async send(whose: Recipient, type: SentType, to: string): Promise<void> {
    const { mailer, texts, clock } = this.parts
    const provider = await this.provider(type)
    const seconds = 'verificationCodeLifetime' in provider ? provider.verificationCodeLifetime : 0
    const pauseMs = ((await this.platform())?.minVerificationCodeSendPeriod ?? 0) * 1000
    const code = String(randomInt(10 ** SENT_DIGITS)).padStart(SENT_DIGITS, '0')
    const now = clock.now()
    await this.requireSender(type)
    await this.change(whose, (before) => {
      const last = lastSent(before, type)
      if (last !== undefined && now < last + pauseMs) throw UserErrors.TWO_FACTOR_TOO_OFTEN()
      const counted = confirmedPlace(before, type) === to ? {} : countedUnconfirmed(before, now)
      return { ...withSentCode(before, type, { to, code, expires: now + seconds * 1000 }, now), ...counted }
    })
    if (provider.providerType === 'SMS') {
      const words = provider.smsVerificationMessageTemplate
      const text = words.replaceAll('${code}', code).replaceAll('${userEmail}', () => whose.email)
      await texts.send(whose.tenantId, to, text)
    } else {
      const text = `Your verification code is ${code}. It is good for ${seconds} seconds.\n`
      await mailer.send({ to, subject: 'Verification code', text })
    }
  }

  /** Throws `TWO_FACTOR_MAIL`, `TWO_FACTOR_SMS`. */
  private async requireSender(type: SentType): Promise<void> {
    const { mailer, texts } = this.parts
    if (type === 'EMAIL' && !(await mailer.isSetUp())) throw UserErrors.TWO_FACTOR_MAIL()
    if (type === 'SMS' && !(await texts.isSetUp())) throw UserErrors.TWO_FACTOR_SMS()
  }

  private countCheck(userId: string, limit: string | null): void {
    if (limit === null) return
    const now = this.parts.clock.monotonic()
    const known = this.checks.get(userId)
    const counted = known?.limit === limit ? known : { limit, buckets: new RateBuckets(limit, now) }
    this.checks.set(userId, counted)
    if (!counted.buckets.admit(now)) throw UserErrors.TWO_FACTOR_TOO_OFTEN()
  }

  private async provider(type: ProviderType) {
    const provider = (await this.platform())?.providers.find(({ providerType }) => providerType === type)
    if (provider === undefined) throw UserErrors.TWO_FACTOR_PROVIDER()
    return provider
  }

  private async checkConfig(config: AccountConfig): Promise<void> {
    await this.provider(config.providerType)
    if (config.providerType === 'TOTP' && totpSecretOf(config.authUrl) === undefined) throw UserErrors.TWO_FACTOR_URL()
  }

  private async isMeant(filter: EnforcedUsers | null, user: User): Promise<boolean> {
    switch (filter?.type) {
      case undefined:
      case 'ALL_USERS':
        return true
      case 'SYSTEM_ADMINISTRATORS':
        return user.authority === 'SYS_ADMIN'
      case 'TENANT_ADMINISTRATORS': {
        if (user.authority !== 'TENANT_ADMIN' || user.tenantId === null) return false
        const { tenantsIds, tenantProfilesIds } = filter
        if (tenantsIds.length > 0) return tenantsIds.includes(user.tenantId)
        if (tenantProfilesIds.length === 0) return true
        return tenantProfilesIds.includes((await this.parts.profileOf(user.tenantId)) ?? '')
      }
    }
  }

  private async accountOf(userId: string): Promise<TwoFactorAccount> {
    return openedAccount(this.parts.vault, userId, await this.parts.settings.find({ userId }, 'TWO_FACTOR'))
  }

  private async change(whose: Whose, changed: (before: TwoFactorAccount) => TwoFactorAccount): Promise<JsonObject> {
    const { vault, settings } = this.parts
    const { userId } = whose
    const after = await settings.change(whose, 'TWO_FACTOR', (before) =>
      sealedAccount(vault, userId, changed(openedAccount(vault, userId, before))),
    )
    return shownAccount(openedAccount(vault, userId, after))
  }
}

/** Throws `TWO_FACTOR_TOO_OFTEN`. */
function countedUnconfirmed(before: TwoFactorAccount, now: number): Pick<TwoFactorAccount, 'unconfirmed'> {
  const { since, count } = before.unconfirmed ?? { since: now, count: 0 }
  if (now >= since + DAY_MS) return { unconfirmed: { since: now, count: 1 } }
  if (count >= MAX_UNCONFIRMED) throw UserErrors.TWO_FACTOR_TOO_OFTEN()
  return { unconfirmed: { since, count: count + 1 } }
}

export function platformJson({ providers, enforcedUsersFilter, ...members }: PlatformTwoFactor): JsonObject {
  return {
    ...members,
    providers: providers.map((provider) => ({ ...provider })),
    enforcedUsersFilter: enforcedUsersFilter && { ...enforcedUsersFilter },
  }
}

function isSentType(type: ProviderType): type is SentType {
  return type === 'SMS' || type === 'EMAIL'
}

/** Where the codes of a configuration go; undefined of one whose codes are not sent. */
function placeIn(config: AccountConfig): { readonly type: SentType; readonly to: string } | undefined {
  if (config.providerType === 'SMS') return { type: 'SMS', to: config.phoneNumber }
  return config.providerType === 'EMAIL' ? { type: 'EMAIL', to: config.email } : undefined
}

/** `+38********12`. */
function hiddenNumber(phoneNumber: string): string {
  return `+${hidden(phoneNumber.slice(1))}`
}

/** `an***nn@example.org`: whoever has the password learns no address by it. */
function hiddenAddress(email: string): string {
  const at = email.lastIndexOf('@')
  return `${hidden(email.slice(0, at))}${email.slice(at)}`
}

function hidden(text: string): string {
  return text.length > 4
    ? `${text.slice(0, 2)}${'*'.repeat(text.length - 4)}${text.slice(-2)}`
    : '*'.repeat(text.length)
}
