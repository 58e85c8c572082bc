/** Mail to the server that a node names: nodemailer over a connection of ours, which is checked before and ends with the call. */
import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import { createTransport } from 'nodemailer'
import { requireAllReached } from '../../mail/reached.ts'
import type { OpenClient } from '../raw-client.ts'

export const openSmtp: OpenClient<'smtp'> = (target, { guard }) => ({
  call: async ({ from, to, cc, bcc, subject, body, isHtml, images = {} }, signal) => {
    const { host, port, secure, startTls, username, password } = target
    guard.checkLiteral(host)
    const socket = connect({ host, port, lookup: guard.lookup })
    // For good: whoever sends over it listens too, and what comes behind the end is nobody's.
    socket.on('error', () => undefined)
    const giveUp = (): void => void socket.destroy()
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      await connected(socket, signal)
      const transport = createTransport({
        ...{ host, port, secure },
        ...(isIP(host) === 0 ? { tls: { servername: host } } : {}),
        requireTLS: startTls && !secure,
        ignoreTLS: !startTls && !secure,
        ...(username === undefined ? {} : { auth: { user: username, pass: password ?? '' } }),
        getSocket: (_options, answer) => answer(null, { connection: socket }),
        // Nothing that a tenant may write is read as a file or fetched.
        disableFileAccess: true,
        disableUrlAccess: true,
      })
      const attachments = Object.entries(images).map(([cid, path]) => ({ cid, path }))
      const content = isHtml ? { html: body } : { text: body }
      requireAllReached(await transport.sendMail({ from, to, cc, bcc, subject, ...content, attachments }))
    } finally {
      signal.removeEventListener('abort', giveUp)
      socket.destroy()
    }
  },
  close: async () => undefined,
})

async function connected(socket: Socket, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await once(socket, 'connect', { signal })
}
