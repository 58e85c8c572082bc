/** Mail by the server that the administrator set: all tenants share it, and it speaks for the administrator alone. */
import type { NodeMail, NodeMailMessage } from '../../engine/rulechain/capabilities/mail.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import { USAGE } from '../../engine/usage/usage.ts'
import type { Mail } from '../mail/smtp.ts'
import { sendBySmtp } from '../mail/smtp.ts'
import { MailErrors } from '../mail/errors.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Services } from '../services.ts'
import { UsageErrors } from '../usage/errors.ts'

export function nodeMail(
  { admin, meter }: { readonly admin: Pick<Services['admin'], 'mailSettings'> } & Pick<Services, 'meter'>,
  outbound: Pick<Outbound, 'inTurn'>,
  send = sendBySmtp,
): (node: Pick<NodeIdentity, 'tenantId'>) => NodeMail {
  return ({ tenantId }) => ({
    send: async (mail) => {
      const usage = meter.of(tenantId)
      if (usage.isDisabled('EMAIL')) throw UsageErrors.EMAIL()
      const settings = await admin.mailSettings()
      if (settings === undefined) throw MailErrors.NOT_SET_UP()
      const outgoing = mailOf(mail, settings.mailFrom)
      await outbound.inTurn('mail', tenantId, Buffer.byteLength(JSON.stringify(outgoing)), () =>
        send(settings, outgoing),
      )
      usage.add(USAGE.emails, 1)
    },
  })
}

function mailOf({ from, to, cc, bcc, subject, body, isHtml, images }: NodeMailMessage, mailFrom: string): Mail {
  return {
    ...{ to, subject },
    ...(isHtml ? { text: '', html: body } : { text: body }),
    ...senderOf(from, mailFrom),
    ...(cc === undefined || cc === '' ? {} : { cc }),
    ...(bcc === undefined || bcc === '' ? {} : { bcc }),
    ...(images === undefined ? {} : { images }),
  }
}

/** Of another domain than the server's own a tenant is answered to, and is not the sender: nobody writes in the name of whom they like. */
function senderOf(from: string | undefined, mailFrom: string): Pick<Mail, 'from' | 'replyTo'> {
  if (from === undefined || from === '') return {}
  const domain = domainOf(from)
  return domain !== undefined && domain === domainOf(mailFrom) ? { from } : { replyTo: from }
}

/** Undefined where it is not one address, with a name or without. */
function domainOf(sender: string): string | undefined {
  const [, behindName, alone] =
    /^[^<>,;:@\r\n]*<[^<>,;:@\s]+@([^<>,;:@\s]+)>$|^[^<>,;:@\s]+@([^<>,;:@\s]+)$/.exec(sender.trim()) ?? []
  return (behindName ?? alone)?.toLowerCase()
}
