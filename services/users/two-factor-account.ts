/** What is kept of a user's second factors, its secrets sealed, and how it is shown. */
import { z } from 'zod'
import type { JsonObject } from '../../model/json.ts'
import type { Vault } from '../vault/vault.ts'
import type { ProviderType } from './two-factor-settings.ts'

const sentSchema = z.object({ email: z.string(), code: z.string(), expires: z.number() })

const accountSchema = z.object({
  totp: z.object({ authUrl: z.string(), useByDefault: z.boolean(), lastStep: z.number() }).optional(),
  email: z.object({ email: z.string(), useByDefault: z.boolean() }).optional(),
  /** The newest code that was mailed; it is good once. */
  sent: sentSchema.optional(),
  /** Unix ms of the newest mail. */
  sentTime: z.number().optional(),
  /** Hashes of those that are left. */
  backup: z.object({ hashes: z.array(z.string()), useByDefault: z.boolean() }).optional(),
  /** Wrong codes since the last good one. */
  failures: z.number().optional(),
})
export type TwoFactorAccount = z.output<typeof accountSchema>

/** Of those that stand alone: backup codes go with another. */
export function hasFactor({ totp, email }: TwoFactorAccount): boolean {
  return totp !== undefined || email !== undefined
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

/** Who has the secret of a code has the codes: it is kept sealed. */
export function sealedAccount(vault: Vault, userId: string, account: TwoFactorAccount): JsonObject {
  const { totp, sent } = account
  const place = placeOf(userId)
  return jsonOf({
    ...account,
    ...(totp === undefined ? {} : { totp: { ...totp, authUrl: vault.seal(totp.authUrl, place) } }),
    ...(sent === undefined ? {} : { sent: { ...sent, code: vault.seal(sent.code, place) } }),
  })
}

/** Throws `vault.KEY_UNKNOWN`, `vault.DAMAGED`. */
export function openedAccount(vault: Vault, userId: string, json: JsonObject): TwoFactorAccount {
  const account = accountSchema.parse(json)
  const { totp, sent } = account
  const place = placeOf(userId)
  return {
    ...account,
    ...(totp === undefined ? {} : { totp: { ...totp, authUrl: vault.open(totp.authUrl, place) } }),
    ...(sent === undefined ? {} : { sent: { ...sent, code: vault.open(sent.code, place) } }),
  }
}

export function isSealedAnew(vault: Vault, json: JsonObject): boolean {
  const { totp, sent } = accountSchema.parse(json)
  return [totp?.authUrl, sent?.code].every((text) => text === undefined || vault.isCurrent(text))
}

/** Without secrets: who took over a session learns none. */
export function shownAccount({ totp, email, backup }: TwoFactorAccount): JsonObject {
  const configs: JsonObject = {}
  if (totp !== undefined) configs['TOTP'] = { providerType: 'TOTP', useByDefault: totp.useByDefault }
  if (email !== undefined) configs['EMAIL'] = { providerType: 'EMAIL', ...email }
  if (backup !== undefined)
    configs['BACKUP_CODE'] = {
      providerType: 'BACKUP_CODE',
      useByDefault: backup.useByDefault,
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
      member === undefined ? [] : [[name, typeof member === 'object' ? { ...member } : member]],
    ),
  )
}
