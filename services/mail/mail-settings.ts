/** How mails go out, as the reference's admin settings `mail` have it (`rest-api.md` 13.1). */
import { z } from 'zod'
import type { EntityStore } from '../../storage/entities/entity-store.ts'

export const MAIL_SETTING = 'mail'

const wholeNumber = z.union([z.int(), z.string().regex(/^\d+$/)]).transform(Number)

export const mailSettingsSchema = z.object({
  mailFrom: z.string().min(1),
  smtpProtocol: z.enum(['smtp', 'smtps']).default('smtp'),
  smtpHost: z.string().min(1),
  smtpPort: wholeNumber.pipe(z.number().min(1).max(65_535)),
  timeout: wholeNumber.pipe(z.number().min(1).max(60_000)).default(10_000),
  enableTls: z.boolean().default(false),
  username: z.string().nullable().default(null),
  password: z.string().nullable().default(null),
})

export type MailSettings = z.infer<typeof mailSettingsSchema>

/** Undefined where nobody said how mails go out. */
export async function readMailSettings({ settings }: Pick<EntityStore, 'settings'>): Promise<MailSettings | undefined> {
  const kept = await settings.find(MAIL_SETTING)
  return kept === undefined ? undefined : mailSettingsSchema.parse(kept)
}
