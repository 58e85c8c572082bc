/** Hands a mail to a mail server: the one file that knows nodemailer, which is loaded with the first mail: most processes send none. */
import { isIP, type Socket } from 'node:net'
import { connectByProxy } from '../outbound/clients/connect-proxy.ts'
import { mailProxyOf, type MailSettings } from './mail-settings.ts'
import { requireAllReached } from './reached.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** In the place of the text, for those who can show it. */
  readonly html?: string
  /** In the place of the server's own. */
  readonly from?: string
  /** Who is answered to, where it is not the sender. */
  readonly replyTo?: string
  readonly cc?: string
  readonly bcc?: string
  /** Data URLs by content id: what the HTML shows. */
  readonly images?: Readonly<Record<string, string>>
}

/** Rejects where the server does not take it, and where it refuses some of the recipients. */
export async function sendBySmtp(settings: MailSettings, mail: Mail): Promise<void> {
  const { mailFrom, smtpProtocol, smtpHost, smtpPort, timeout, enableTls } = settings
  const { createTransport } = await import('nodemailer')
  const proxy = mailProxyOf(settings)
  const server = { host: smtpHost, port: smtpPort }
  const socket = proxy === undefined ? undefined : await connectByProxy(proxy, server, AbortSignal.timeout(timeout))
  try {
    const transport = createTransport({
      ...server,
      ...(socket === undefined ? {} : throughSocket(socket, smtpHost)),
      secure: smtpProtocol === 'smtps',
      requireTLS: enableTls && smtpProtocol === 'smtp',
      ignoreTLS: !enableTls && smtpProtocol === 'smtp',
      connectionTimeout: timeout,
      greetingTimeout: timeout,
      socketTimeout: timeout,
      // Nothing that a user may write is ever read as a file or fetched.
      disableFileAccess: true,
      disableUrlAccess: true,
      ...loginOf(settings),
    })
    try {
      const { images = {}, ...envelope } = mail
      const attachments = Object.entries(images).map(([cid, path]) => ({ cid, path }))
      requireAllReached(await transport.sendMail({ from: mailFrom, ...envelope, attachments }))
    } finally {
      transport.close()
    }
  } finally {
    socket?.destroy()
  }
}

/** Options of nodemailer: over a connection that is there, its certificate that of the server behind it. */
export function throughSocket(connection: Socket, host: string) {
  const getSocket = (_options: unknown, answer: (error: null, found: { readonly connection: Socket }) => void): void =>
    answer(null, { connection })
  return { getSocket, ...(isIP(host) === 0 ? { tls: { servername: host } } : {}) }
}

function loginOf(settings: MailSettings) {
  const { username, password, enableOauth2, clientId, clientSecret, tokenUri, refreshToken } = settings
  if (username === null || username === '') return {}
  if (!enableOauth2) return { auth: { user: username, pass: password ?? '' } }
  if (clientId === null || clientSecret === null || tokenUri === null || refreshToken === null)
    throw new Error('the mail provider gave no token yet: let it by GET /api/admin/mail/oauth2/authorize')
  return {
    auth: { type: 'OAuth2', user: username, clientId, clientSecret, refreshToken, accessUrl: tokenUri },
  } as const
}
