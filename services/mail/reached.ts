/** Whom a mail reached: nodemailer says it beside its success, and rejects only where the server refuses all. */
import { z } from 'zod'
import { MailErrors } from './errors.ts'

const sentSchema = z.object({ rejected: z.array(z.unknown()) })

/** Of what nodemailer says of a mail that it sent. Throws PARTLY_REFUSED. */
export function requireAllReached(sent: unknown): void {
  const { rejected } = sentSchema.parse(sent)
  if (rejected.length > 0) throw MailErrors.PARTLY_REFUSED({ recipients: rejected.map(String).join(', ') })
}
