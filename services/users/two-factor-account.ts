/** What is kept of a user's second factors, its secrets sealed, and how it is shown. */
import { z } from 'zod'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { Vault } from '../vault/vault.ts'
import type { ProviderType } from './two-factor-settings.ts'

const sentSchema = z.object({ email: z.string(), code: z.string(), expires: z.number() })

/** `session`: the one that could do nothing but set it up; absent where a whole login did. */
const common = { useByDefault: z.boolean(), session: z.string().optional() }

const accountSchema = z.object({
  totp: z.object({ ...common, authUrl: z.string(), lastStep: z.number() }).optional(),
  email: z.object({ ...common, email: z.string() }).optional(),
  /** The newest code that was mailed; it is good once. */
  sent: sentSchema.optional(),
  /** Unix ms of the newest mail. */
  sentTime: z.number().optional(),
  /** Mails to addresses that nobody confirmed, since (Unix ms). */
  unconfirmed: z.object({ since: z.number(), count: z.number() }).optional(),
  /** Hashes of those that are left, sealed: a code is short, and all there could be are soon tried against its hash. */
  backup: z.object({ ...common, hashes: z.array(z.string()) }).optional(),
  /** Wrong codes since the last good one. */
  failures: z.number().optional(),
})
export type TwoFactorAccount = z.output<typeof accountSchema>

/** Of those that stand alone: backup codes go with another. */
export function hasFactor({ totp, email }: TwoFactorAccount): boolean {
  return totp !== undefined || email !== undefined
}

/** Of those that are offered: others do not keep the user from setting up another. */
export function isOfAnotherSession(
  { totp, email, backup }: TwoFactorAccount,
  offered: readonly ProviderType[],
  session: string,
): boolean {
  const factors = { TOTP: totp, EMAIL: email, BACKUP_CODE: backup }
  return offered.some((type) => factors[type] !== undefined && factors[type].session !== session)
}

export function configuredTypes(account: TwoFactorAccount): readonly { type: ProviderType; isDefault: boolean }[] {
  const { totp, email, backup } = account
  return [
    ...(totp === undefined ? [] : [{ type: 'TOTP' as const, isDefault: totp.useByDefault }]),
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
  const { totp, email, backup } = account
  const there = [
    ...(totp === undefined ? [] : [{ type: 'TOTP', isDefault: totp.useByDefault }]),
    ...(email === undefined ? [] : [{ type: 'EMAIL', isDefault: email.useByDefault }]),
    ...(backup === undefined ? [] : [{ type: 'BACKUP_CODE', isDefault: backup.useByDefault }]),
  ]
  const first = chosen ?? (there.find(({ isDefault }) => isDefault) ?? there[0])?.type
  return {
    ...account,
    ...(totp === undefined ? {} : { totp: { ...totp, useByDefault: first === 'TOTP' } }),
    ...(email === undefined ? {} : { email: { ...email, useByDefault: first === 'EMAIL' } }),
    ...(backup === undefined ? {} : { backup: { ...backup, useByDefault: first === 'BACKUP_CODE' } }),
  }
}

/** Who has the secret of a code has the codes: it is kept sealed. */
export function sealedAccount(vault: Vault, userId: string, account: TwoFactorAccount): JsonObject {
  const { totp, sent, backup } = account
  const place = placeOf(userId)
  return jsonOf({
    ...account,
    ...(backup === undefined
      ? {}
      : { backup: { ...backup, hashes: backup.hashes.map((hash) => vault.seal(hash, place)) } }),
    ...(totp === undefined ? {} : { totp: { ...totp, authUrl: vault.seal(totp.authUrl, place) } }),
    ...(sent === undefined ? {} : { sent: { ...sent, code: vault.seal(sent.code, place) } }),
  })
}

/** Throws `vault.KEY_UNKNOWN`, `vault.DAMAGED`. */
export function openedAccount(vault: Vault, userId: string, json: JsonObject): TwoFactorAccount {
  const account = accountSchema.parse(json)
  const { totp, sent, backup } = account
  const place = placeOf(userId)
  return {
    ...account,
    ...(backup === undefined
      ? {}
      : { backup: { ...backup, hashes: backup.hashes.map((hash) => vault.open(hash, place)) } }),
    ...(totp === undefined ? {} : { totp: { ...totp, authUrl: vault.open(totp.authUrl, place) } }),
    ...(sent === undefined ? {} : { sent: { ...sent, code: vault.open(sent.code, place) } }),
  }
}

export function isSealedAnew(vault: Vault, json: JsonObject): boolean {
  const { totp, sent, backup } = accountSchema.parse(json)
  return [totp?.authUrl, sent?.code, ...(backup?.hashes ?? [])].every(
    (text) => text === undefined || vault.isCurrent(text),
  )
}

/** Without secrets: who took over a session learns none. Clients refuse an account without an address and a list of codes. */
export function shownAccount({ totp, email, backup }: TwoFactorAccount): JsonObject {
  const configs: JsonObject = {}
  if (totp !== undefined) {
    const authUrl = totp.authUrl.replace(/([?&]secret=)[^&]*/, '$1hidden')
    configs['TOTP'] = { providerType: 'TOTP', useByDefault: totp.useByDefault, authUrl }
  }
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
