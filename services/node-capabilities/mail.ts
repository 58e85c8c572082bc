/** Mail by the server that the administrator set. */
import type { NodeMail, NodeMailMessage } from '../../engine/rulechain/capabilities/mail.ts'
import type { Mail } from '../mail/smtp.ts'
import { sendBySmtp } from '../mail/smtp.ts'
import { MailErrors } from '../mail/errors.ts'
import type { Services } from '../services.ts'

export function nodeMail({ admin }: Pick<Services, 'admin'>, send = sendBySmtp): () => NodeMail {
  return () => ({
    send: async (mail) => {
      const settings = await admin.mailSettings()
      if (settings === undefined) throw MailErrors.NOT_SET_UP()
      await send(settings, mailOf(mail))
    },
  })
}

function mailOf({ from, to, cc, bcc, subject, body, isHtml, images }: NodeMailMessage): Mail {
  return {
    ...{ to, subject },
    ...(isHtml ? { text: '', html: body } : { text: body }),
    ...(from === undefined || from === '' ? {} : { from }),
    ...(cc === undefined || cc === '' ? {} : { cc }),
    ...(bcc === undefined || bcc === '' ? {} : { bcc }),
    ...(images === undefined ? {} : { images }),
  }
}
