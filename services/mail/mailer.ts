/** Sends mails with links in them. Where no mail server is set, or it takes none, the link is told to the system log. */
import { errorText } from '../../model/errors.ts'
import type { Report } from '../changes/outbox.ts'
import type { MailSettings } from './mail-settings.ts'
import type { Mail } from './smtp.ts'

export interface LinkMail {
  readonly to: string
  readonly subject: string
  /** What stands before the link. */
  readonly text: string
  readonly link: string
}

export interface MailerParts {
  readonly settings: () => Promise<MailSettings | undefined>
  readonly send: (settings: MailSettings, mail: Mail) => Promise<void>
  readonly report: Report
}

export class Mailer {
  private readonly parts: MailerParts

  constructor(parts: MailerParts) {
    this.parts = parts
  }

  async isSetUp(): Promise<boolean> {
    return (await this.parts.settings()) !== undefined
  }

  /** Throws where no mail server is set. Rejects where it does not take it. */
  async send(mail: Mail): Promise<void> {
    const found = await this.parts.settings()
    if (found === undefined) throw new Error('no mail server is set')
    await this.parts.send(found, mail)
  }

  /** Never rejects: where it can not be sent, the system log has it. */
  async tell(mail: Mail): Promise<void> {
    try {
      await this.send(mail)
    } catch (error) {
      this.parts.report(`${mail.subject}: the mail could not be sent`, { ...mail, error: errorText(error) })
    }
  }

  async sendLink({ to, subject, text, link }: LinkMail): Promise<void> {
    const { settings, send, report } = this.parts
    try {
      const found = await settings()
      if (found !== undefined) return await send(found, { to, subject, text: `${text}\n\n${link}\n` })
      report(`${subject}: no mail server is set, so hand the link over yourself`, { to, link })
    } catch (error) {
      report(`${subject}: the mail could not be sent, so hand the link over yourself`, {
        to,
        link,
        error: errorText(error),
      })
    }
  }
}
