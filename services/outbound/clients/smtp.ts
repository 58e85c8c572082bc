/** Mail to the server that a node names: nodemailer over a connection of ours, which is checked before and ends with the call. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createTransport } from 'nodemailer'
import type { SmtpTarget } from '../../../engine/rulechain/capabilities/outbound.ts'
import { requireAllReached } from '../../mail/reached.ts'
import { throughSocket } from '../../mail/smtp.ts'
import type { AddressGuard } from '../address-guard.ts'
import type { OpenClient } from '../raw-client.ts'
import { connectByProxy } from './connect-proxy.ts'

export const openSmtp: OpenClient<'smtp'> = (target, { guard }) => ({
  call: async ({ from, to, cc, bcc, subject, body, isHtml, images = {} }, signal) => {
    const { host, port, secure, startTls, username, password } = target
    const socket = await connectedTo(target, guard, signal)
    const giveUp = (): void => void socket.destroy()
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      // While nobody listened.
      signal.throwIfAborted()
      const transport = createTransport({
        ...{ host, port, secure },
        ...throughSocket(socket, host),
        requireTLS: startTls && !secure,
        ignoreTLS: !startTls && !secure,
        ...(username === undefined ? {} : { auth: { user: username, pass: password ?? '' } }),
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

/** With a proxy the address of the server is the proxy's to find: the proxy's own is checked here, and what is denied by its name. */
async function connectedTo(
  { host, port, proxy }: SmtpTarget,
  guard: AddressGuard,
  signal: AbortSignal,
): Promise<Socket> {
  if (proxy !== undefined) {
    guard.checkDenied(host)
    guard.checkLiteral(proxy.host)
    return connectByProxy(proxy, { host, port }, signal, guard.lookup)
  }
  guard.checkLiteral(host)
  const socket = connect({ host, port, lookup: guard.lookup })
  // For good: whoever sends over it listens too, and what comes behind the end is nobody's.
  socket.on('error', () => undefined)
  try {
    signal.throwIfAborted()
    await once(socket, 'connect', { signal })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}
