/** How mails go out, as the reference's admin settings `mail` have it (`rest-api.md` 13.1). */
import { z } from 'zod'
import type { HttpProxy } from '../../engine/rulechain/capabilities/outbound.ts'
import type { JsonObject } from '../../model/json.ts'
import type { AdminSettings } from '../admin/admin-settings.ts'
import { AdminErrors } from '../admin/errors.ts'
import { withKeptSecrets } from '../vault/sealed-members.ts'

export const MAIL_SETTINGS = 'mail'

const wholeNumber = z.union([z.int(), z.string().regex(/^\d+$/)]).transform(Number)

const port = wholeNumber.pipe(z.number().min(1).max(65_535))

export const mailSettingsSchema = z
  .object({
    mailFrom: z.string().min(1),
    smtpProtocol: z.enum(['smtp', 'smtps']).default('smtp'),
    smtpHost: z.string().min(1),
    smtpPort: port,
    timeout: wholeNumber.pipe(z.number().min(1).max(60_000)).default(10_000),
    enableTls: z.boolean().nullish().transform(Boolean),
    username: z.string().nullish().transform(orNull),
    password: z.string().nullish().transform(orNull),
    enableOauth2: z.boolean().nullish().transform(Boolean),
    clientId: z.string().nullish().transform(orNull),
    clientSecret: z.string().nullish().transform(orNull),
    tokenUri: z.string().nullish().transform(orNull),
    /** What the provider gave for the administrator's code (`mail-oauth2.ts`). */
    refreshToken: z.string().nullish().transform(orNull),
    enableProxy: z.boolean().nullish().transform(Boolean),
    proxyHost: z.string().nullish().transform(orNull),
    /** Where there is no proxy anything may have been left in it. */
    proxyPort: port.nullable().catch(null),
    proxyUser: z.string().nullish().transform(orNull),
    proxyPassword: z.string().nullish().transform(orNull),
  })
  .refine(({ enableProxy, proxyHost }) => !enableProxy || Boolean(proxyHost), {
    path: ['proxyHost'],
    message: 'is missing',
  })
  .refine(({ enableProxy, proxyPort }) => !enableProxy || proxyPort !== null, {
    path: ['proxyPort'],
    message: 'is no port',
  })

export type MailSettings = z.infer<typeof mailSettingsSchema>

/** Throws `admin.MAIL` with the member that is wrong. */
export function mailSettingsOf(value: JsonObject): MailSettings {
  const result = mailSettingsSchema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw AdminErrors.MAIL({ reason: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}` })
}

const AUTHORIZATION_SECRETS = ['clientSecret', 'refreshToken']

/**
 * Secrets that `value` leaves out stay where they would go where they went before. Who may save settings was never shown them, and a
 * changed address, port or way of sealing would show them to whoever listens there. Throws `admin.MAIL` where one is to be given again.
 */
export function withKeptMailSecrets(value: JsonObject, before: JsonObject): JsonObject {
  const kept = withKeptSecrets(value, before)
  const [after, was] = [mailSettingsOf(value), mailSettingsSchema.safeParse(before).data]
  const isGone = (name: string): boolean => {
    if (Object.hasOwn(value, name)) return false
    const isOfProvider = AUTHORIZATION_SECRETS.includes(name)
    if (isSameServer(after, was) && (!isOfProvider || after.tokenUri === was?.tokenUri)) return false
    if (
      name === 'proxyPassword'
        ? after.enableProxy && after.proxyUser
        : isOfProvider
          ? after.enableOauth2
          : after.username
    )
      throw AdminErrors.MAIL({ reason: `${name}: give it again, it would go to another server or another way` })
    return true
  }
  return Object.fromEntries(Object.entries(kept).filter(([name]) => !isGone(name)))
}

function isSameServer(a: MailSettings, b: MailSettings | undefined): boolean {
  return (
    a.smtpHost === b?.smtpHost &&
    a.smtpPort === b.smtpPort &&
    a.smtpProtocol === b.smtpProtocol &&
    a.enableTls === b.enableTls &&
    isSameProxy(a, b)
  )
}

/** It sees what is not sealed, and its password goes to it. */
function isSameProxy(a: MailSettings, b: MailSettings): boolean {
  if (!a.enableProxy || !b.enableProxy) return a.enableProxy === b.enableProxy
  return a.proxyHost === b.proxyHost && a.proxyPort === b.proxyPort
}

export function mailProxyOf({
  enableProxy,
  proxyHost,
  proxyPort,
  proxyUser,
  proxyPassword,
}: MailSettings): HttpProxy | undefined {
  if (!enableProxy || proxyHost === null || proxyPort === null) return undefined
  return { host: proxyHost, port: proxyPort, ...(proxyUser ? { user: proxyUser, password: proxyPassword ?? '' } : {}) }
}

/** What is saved, else what the environment says; undefined where nobody said how mails go out. */
export async function readMailSettings(
  settings: Pick<AdminSettings, 'find'>,
  ofEnvironment: MailSettings | undefined,
): Promise<MailSettings | undefined> {
  const saved = await settings.find(MAIL_SETTINGS)
  return saved === undefined ? ofEnvironment : mailSettingsOf(saved.value)
}

function orNull(text: string | null | undefined): string | null {
  return text ?? null
}
