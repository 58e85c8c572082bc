/** What a system administrator sets: the settings by key, how tokens are signed, how mails go out. */
import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { errorText } from '../../model/errors.ts'
import {
  mailSettingsOf,
  MAIL_SETTINGS,
  readMailSettings,
  withKeptMailSecrets,
  type MailSettings,
} from '../mail/mail-settings.ts'
import { MailOAuth2 } from '../mail/mail-oauth2.ts'
import type { Mail } from '../mail/smtp.ts'
import { PHONE_NUMBER, type SmsTarget } from '../../engine/rulechain/capabilities/sms-provider.ts'
import { SMS_SETTINGS, smsSettingsOf, withKeptSmsSecrets } from '../sms/sms-settings.ts'
import { SECURITY_SETTINGS } from '../users/security-settings.ts'
import { TWO_FACTOR_SETTINGS } from '../users/two-factor-settings.ts'
import { AdminSettings, type AdminSetting, type AdminSettingsParts } from './admin-settings.ts'
import { AdminErrors } from './errors.ts'
import { JwtSettings, JWT_KEY, type JwtDefaults } from './jwt-settings.ts'

export const GENERAL_SETTINGS = 'general'

/** Have calls of their own, which check them. */
const OTHER_CALLS: ReadonlyMap<string, string> = new Map([
  [JWT_KEY, 'POST /api/admin/jwtSettings'],
  [SECURITY_SETTINGS, 'POST /api/admin/securitySettings'],
  [TWO_FACTOR_SETTINGS, 'POST /api/2fa/settings'],
])

/** Where versions before kept them, to where they are now. */
const MOVED: ReadonlyMap<string, string> = new Map([
  ['security', SECURITY_SETTINGS],
  ['twoFactor', TWO_FACTOR_SETTINGS],
  ['mail', MAIL_SETTINGS],
])
const OLD_SIGNING_KEY = 'jwt.signingKey'

export interface AdminParts extends AdminSettingsParts {
  readonly jwt: JwtDefaults
  /** Of the environment; undefined where it says none. */
  readonly mail: MailSettings | undefined
  readonly send: (settings: MailSettings, mail: Mail) => Promise<void>
  readonly sendSms: (target: SmsTarget, number: string, text: string) => Promise<void>
}

export class Admin {
  readonly settings: AdminSettings
  readonly jwt: JwtSettings
  readonly mailOAuth2: MailOAuth2
  private readonly parts: AdminParts

  constructor(parts: AdminParts) {
    this.parts = parts
    this.settings = new AdminSettings(parts)
    this.jwt = new JwtSettings(this.settings, parts.jwt, parts.clock)
    this.mailOAuth2 = new MailOAuth2({ settings: this.settings, vault: parts.vault, clock: parts.clock })
  }

  /** Takes over what versions before kept, seals what is not sealed under the key in force, makes a signing key where there is none. */
  async start(): Promise<void> {
    const { settings: old } = this.parts.entities
    for (const [name, key] of MOVED) {
      const value = await old.find(name)
      if (value === undefined) continue
      if (isJsonObject(value)) await this.settings.change(key, (before) => ({ ...value, ...before }))
      await old.remove(name)
    }
    await this.settings.sealAnew()
    await this.jwt.start(async () =>
      z
        .string()
        .optional()
        .parse(await old.find(OLD_SIGNING_KEY)),
    )
    await old.remove(OLD_SIGNING_KEY)
  }

  /** Of any key without a call of its own. Throws `admin.KEY_OF_ANOTHER_CALL`, `admin.MAIL`, `admin.SMS`. */
  async save(principal: Principal, key: string, value: JsonObject): Promise<AdminSetting> {
    const call = OTHER_CALLS.get(key)
    if (call !== undefined) throw AdminErrors.KEY_OF_ANOTHER_CALL({ key, call })
    if (key === GENERAL_SETTINGS) checkGeneral(value)
    if (key === MAIL_SETTINGS) {
      mailSettingsOf(value)
      return this.settings.change(key, (before) => withKeptMailSecrets(value, before), principal)
    }
    if (key === SMS_SETTINGS) {
      return this.settings.change(
        key,
        (before) => {
          const kept = withKeptSmsSecrets(value, before)
          smsSettingsOf(kept)
          return kept
        },
        principal,
      )
    }
    return this.settings.save(principal, key, value)
  }

  /** Where people reach the platform; undefined where nobody said it. */
  async baseUrl(): Promise<string | undefined> {
    const value = (await this.settings.find(GENERAL_SETTINGS))?.value['baseUrl']
    return typeof value === 'string' && value !== '' ? value.replace(/(?<!\/)\/+$/, '') : undefined
  }

  mailSettings(): Promise<MailSettings | undefined> {
    return readMailSettings(this.settings, this.parts.mail)
  }

  /** By the settings as they are given, with the saved secrets where they have none and name the same server. Throws `admin.MAIL`, `admin.MAIL_FAILED`. */
  async sendTestMail(principal: Principal, value: JsonObject): Promise<void> {
    const saved = (await this.settings.find(MAIL_SETTINGS))?.value ?? {}
    const settings = mailSettingsOf(withKeptMailSecrets(value, saved))
    const mail = { to: principal.email, subject: 'Test message', text: 'Test message from your IoT platform.\n' }
    try {
      await this.parts.send(settings, mail)
    } catch (error) {
      throw AdminErrors.MAIL_FAILED({ reason: errorText(error) }, error)
    }
  }

  /** By the settings as they are given, with the saved secrets where they have none and name the same account. Throws `admin.SMS`, `admin.SMS_FAILED`. */
  async sendTestSms(value: JsonObject, number: string, text: string): Promise<void> {
    const saved = (await this.settings.find(SMS_SETTINGS))?.value ?? {}
    const target = smsSettingsOf(withKeptSmsSecrets(value, saved))
    if (!PHONE_NUMBER.test(number))
      throw AdminErrors.SMS_FAILED({ reason: `'${number}' is no phone number in the international form` })
    try {
      await this.parts.sendSms(target, number, text)
    } catch (error) {
      throw AdminErrors.SMS_FAILED({ reason: errorText(error) }, error)
    }
  }

  close(): void {
    this.settings.close()
  }
}

/** It goes before the links of mails. Throws `admin.BASE_URL`. */
function checkGeneral({ baseUrl }: JsonObject): void {
  if (baseUrl === undefined || baseUrl === null || baseUrl === '') return
  const url = typeof baseUrl === 'string' ? URL.parse(baseUrl) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw AdminErrors.BASE_URL()
}
