/** What the environment says of that a system administrator may set otherwise. */
import { configuredKey, formerSigningKeys } from '../api/auth/signing-key.ts'
import type { Config } from '../config/settings.ts'
import type { JwtDefaults } from '../services/admin/jwt-settings.ts'
import { mailSettingsOf, type MailSettings } from '../services/mail/mail-settings.ts'

export function jwtDefaults(config: Config): JwtDefaults {
  return {
    key: configuredKey(config.jwtSigningKey),
    formerKeys: formerSigningKeys(config.jwtFormerSigningKeys),
    issuer: config.jwtIssuer,
    accessLifetimeSeconds: config.jwtExpirationSeconds,
    refreshLifetimeSeconds: config.jwtRefreshExpirationSeconds,
  }
}

const SUBMISSION_PORT = 587
const SECURE_PORT = 465

/** Undefined where the environment names no mail server. */
export function mailDefaults({ mailUrl, mailFrom }: Pick<Config, 'mailUrl' | 'mailFrom'>): MailSettings | undefined {
  if (mailUrl === undefined) return undefined
  const url = new URL(mailUrl)
  const isSecure = url.protocol === 'smtps:'
  return mailSettingsOf({
    mailFrom,
    smtpProtocol: isSecure ? 'smtps' : 'smtp',
    smtpHost: url.hostname,
    smtpPort: url.port === '' ? (isSecure ? SECURE_PORT : SUBMISSION_PORT) : Number(url.port),
    enableTls: url.searchParams.get('tls') === 'true',
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
  })
}
