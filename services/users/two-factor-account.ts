/** What is kept of a user's second factors, its secrets sealed, and how it is shown. */
import { z } from 'zod'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { Vault } from '../vault/vault.ts'
import type { ProviderType, SentType } from './two-factor-settings.ts'

const code = { code: z.string(), expires: z.number() }

/** `session`: the one that could do nothing but set it up; absent where a whole login did. */
const common = { useByDefault: z.boolean(), session: z.string().optional() }

const accountSchema = z.object({
  totp: z.object({ ...common, authUrl: z.string(), lastStep: z.number() }).optional(),
  sms: z.object({ ...common, phoneNumber: z.string() }).optional(),
  email: z.object({ ...common, email: z.string() }).optional(),
  /** The newest code that was mailed; it is good once. */
  sent: z.object({ email: z.string(), ...code }).optional(),
  /** Unix ms of the newest mail. */
  sentTime: z.number().optional(),
  /** The newest code that a phone got, as that of a mail. */
  texted: z.object({ phoneNumber: z.string(), ...code }).optional(),
  textedTime: z.number().optional(),
  /** Codes to addresses and phones that nobody confirmed, since (Unix ms). */
  unconfirmed: z.object({ since: z.number(), count: z.number() }).optional(),
  /** Hashes of those that are left, sealed: a code is short, and all there could be are soon tried against its hash. */
  backup: z.object({ ...common, hashes: z.array(z.string()) }).optional(),
  /** Wrong codes since the last good one. */
  failures: z.number().optional(),
})
export type TwoFactorAccount = z.output<typeof accountSchema>

/** Of those that stand alone: backup codes go with another. */
export function hasFactor({ totp, sms, email }: TwoFactorAccount): boolean {
  return totp !== undefined || sms !== undefined || email !== undefined
}

export interface SentCode {
  readonly to: string
  readonly code: string
  /** Unix ms. */
  readonly expires: number
}

/** The newest that is not used. */
export function sentCode({ sent, texted }: TwoFactorAccount, type: SentType): SentCode | undefined {
  if (type === 'SMS') return texted && { to: texted.phoneNumber, code: texted.code, expires: texted.expires }
  return sent && { to: sent.email, code: sent.code, expires: sent.expires }
}

/** Unix ms; undefined where none was. */
export function lastSent({ sentTime, textedTime }: TwoFactorAccount, type: SentType): number | undefined {
  return type === 'SMS' ? textedTime : sentTime
}

export function withSentCode(
  account: TwoFactorAccount,
  type: SentType,
  { to, code, expires }: SentCode,
  now: number,
): TwoFactorAccount {
  if (type === 'SMS') return { ...account, textedTime: now, texted: { phoneNumber: to, code, expires } }
  return { ...account, sentTime: now, sent: { email: to, code, expires } }
}

/** A code is good once. */
export function withoutSentCode(account: TwoFactorAccount, type: SentType): TwoFactorAccount {
  const { sent: _mailed, ...withoutMailed } = account
  const { texted: _texted, ...withoutTexted } = account
  return type === 'SMS' ? withoutTexted : withoutMailed
}

/** Where codes go; undefined where the user set none up. */
export function confirmedPlace({ sms, email }: TwoFactorAccount, type: SentType): string | undefined {
  return type === 'SMS' ? sms?.phoneNumber : email?.email
}

/** Of those that are offered: others do not keep the user from setting up another. */
export function isOfAnotherSession(
  { totp, sms, email, backup }: TwoFactorAccount,
  offered: readonly ProviderType[],
  session: string,
): boolean {
  const factors = { TOTP: totp, SMS: sms, EMAIL: email, BACKUP_CODE: backup }
  return offered.some((type) => factors[type] !== undefined && factors[type].session !== session)
}

export function configuredTypes(account: TwoFactorAccount): readonly { type: ProviderType; isDefault: boolean }[] {
  const { totp, sms, email, backup } = account
  return [
    ...(totp === undefined ? [] : [{ type: 'TOTP' as const, isDefault: totp.useByDefault }]),
    ...(sms === undefined ? [] : [{ type: 'SMS' as const, isDefault: sms.useByDefault }]),
    ...(email === undefined ? [] : [{ type: 'EMAIL' as const, isDefault: email.useByDefault }]),
    ...(!hasFactor(account) || backup === undefined || backup.hashes.length === 0
      ? []
      : [{ type: 'BACKUP_CODE' as const, isDefault: backup.useByDefault }]),
  ]
}

/**
 * One of those that are set up is asked for first: front ends show nothing where none is. `chosen` becomes it, else the one that was, else
 * the first.
 */
export function withOneDefault(account: TwoFactorAccount, chosen?: ProviderType): TwoFactorAccount {
  const { totp, sms, email, backup } = account
  const there = [
    ...(totp === undefined ? [] : [{ type: 'TOTP', isDefault: totp.useByDefault }]),
    ...(sms === undefined ? [] : [{ type: 'SMS', isDefault: sms.useByDefault }]),
    ...(email === undefined ? [] : [{ type: 'EMAIL', isDefault: email.useByDefault }]),
    ...(backup === undefined ? [] : [{ type: 'BACKUP_CODE', isDefault: backup.useByDefault }]),
  ]
  const first = chosen ?? (there.find(({ isDefault }) => isDefault) ?? there[0])?.type
  return {
    ...account,
    ...(totp === undefined ? {} : { totp: { ...totp, useByDefault: first === 'TOTP' } }),
    ...(sms === undefined ? {} : { sms: { ...sms, useByDefault: first === 'SMS' } }),
    ...(email === undefined ? {} : { email: { ...email, useByDefault: first === 'EMAIL' } }),
    ...(backup === undefined ? {} : { backup: { ...backup, useByDefault: first === 'BACKUP_CODE' } }),
  }
}

/** Who has the secret of a code has the codes: it is kept sealed. */
export function sealedAccount(vault: Vault, userId: string, account: TwoFactorAccount): JsonObject {
  const { totp, sent, texted, backup } = account
  const place = placeOf(userId)
  return jsonOf({
    ...account,
    ...(backup === undefined
      ? {}
      : { backup: { ...backup, hashes: backup.hashes.map((hash) => vault.seal(hash, place)) } }),
    ...(totp === undefined ? {} : { totp: { ...totp, authUrl: vault.seal(totp.authUrl, place) } }),
    ...(sent === undefined ? {} : { sent: { ...sent, code: vault.seal(sent.code, place) } }),
    ...(texted === undefined ? {} : { texted: { ...texted, code: vault.seal(texted.code, place) } }),
  })
}

/** Throws `vault.KEY_UNKNOWN`, `vault.DAMAGED`. */
export function openedAccount(vault: Vault, userId: string, json: JsonObject): TwoFactorAccount {
  const account = accountSchema.parse(json)
  const { totp, sent, texted, backup } = account
  const place = placeOf(userId)
  return {
    ...account,
    ...(backup === undefined
      ? {}
      : { backup: { ...backup, hashes: backup.hashes.map((hash) => vault.open(hash, place)) } }),
    ...(totp === undefined ? {} : { totp: { ...totp, authUrl: vault.open(totp.authUrl, place) } }),
    ...(sent === undefined ? {} : { sent: { ...sent, code: vault.open(sent.code, place) } }),
    ...(texted === undefined ? {} : { texted: { ...texted, code: vault.open(texted.code, place) } }),
  }
}

export function isSealedAnew(vault: Vault, json: JsonObject): boolean {
  const { totp, sent, texted, backup } = accountSchema.parse(json)
  return [totp?.authUrl, sent?.code, texted?.code, ...(backup?.hashes ?? [])].every(
    (text) => text === undefined || vault.isCurrent(text),
  )
}

/** Without secrets: who took over a session learns none. Clients refuse an account without an address and a list of codes. */
export function shownAccount({ totp, sms, email, backup }: TwoFactorAccount): JsonObject {
  const configs: JsonObject = {}
  if (totp !== undefined) {
    const authUrl = totp.authUrl.replace(/([?&]secret=)[^&]*/, '$1hidden')
    configs['TOTP'] = { providerType: 'TOTP', useByDefault: totp.useByDefault, authUrl }
  }
  if (sms !== undefined)
    configs['SMS'] = { providerType: 'SMS', phoneNumber: sms.phoneNumber, useByDefault: sms.useByDefault }
  if (email !== undefined)
    configs['EMAIL'] = { providerType: 'EMAIL', email: email.email, useByDefault: email.useByDefault }
  if (backup !== undefined)
    configs['BACKUP_CODE'] = {
      providerType: 'BACKUP_CODE',
      useByDefault: backup.useByDefault,
      codes: [],
      codesLeft: backup.hashes.length,
    }
  return { configs }
}

function placeOf(userId: string): string {
  return `user_settings/${userId}/TWO_FACTOR`
}

/** Without members that are undefined: those are no JSON. */
function jsonOf(account: TwoFactorAccount): JsonObject {
  return Object.fromEntries(
    Object.entries(account).flatMap(([name, member]) =>
      member === undefined ? [] : [[name, typeof member === 'object' ? defined(member) : member]],
    ),
  )
}

function defined(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const kept: JsonObject = {}
  for (const [name, value] of Object.entries(members)) if (value !== undefined) kept[name] = value
  return kept
}
