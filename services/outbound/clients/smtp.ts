/** Mail to the server that a node names: nodemailer, told the address that was checked in the place of the name. */
import { isIP } from 'node:net'
import { createTransport } from 'nodemailer'
import type { OpenClient } from '../raw-client.ts'

export const openSmtp: OpenClient<'smtp'> = (target, { guard }) => ({
  call: async ({ from, to, cc, bcc, subject, body, isHtml, images = {} }, signal) => {
    const { host, port, secure, startTls, username, password } = target
    const transport = createTransport({
      ...{ host: await guard.addressOf(host), port, secure },
      // The certificate is the name's, not the address's.
      ...(isIP(host) === 0 ? { tls: { servername: host } } : {}),
      requireTLS: startTls && !secure,
      ignoreTLS: !startTls && !secure,
      ...(username === undefined ? {} : { auth: { user: username, pass: password ?? '' } }),
      // Nothing that a tenant may write is read as a file or fetched.
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    const giveUp = (): void => transport.close()
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      const attachments = Object.entries(images).map(([cid, path]) => ({ cid, path }))
      const content = isHtml ? { html: body } : { text: body }
      await transport.sendMail({ from, to, cc, bcc, subject, ...content, attachments })
    } finally {
      signal.removeEventListener('abort', giveUp)
      transport.close()
    }
  },
  close: async () => undefined,
})
