/** A short message centre for tests: takes every text, and notes who logged in with what. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

import smpp, { type Pdu, type Session } from 'smpp'

export interface TestCentre {
  readonly port: number
  /** By the password of each session, in the order they came. */
  readonly logins: readonly string[]
  /** Numbers of the texts that came. */
  readonly numbers: readonly string[]
  /** What they say. */
  readonly texts: readonly string[]
  close(): void
}

export async function startTestCentre(): Promise<TestCentre> {
  const logins: string[] = []
  const numbers: string[] = []
  const texts: string[] = []
  const sessions: Session[] = []
  const server = smpp.createServer((session) => {
    sessions.push(session)
    session
      .on('error', () => undefined)
      .on('pdu', (pdu: Pdu) => {
        if (pdu.command.endsWith('_resp')) return
        if (pdu.command.startsWith('bind_')) logins.push(String(pdu['password']))
        if (pdu.command === 'submit_sm') {
          numbers.push(String(pdu['destination_addr']))
          texts.push(textOf(pdu['short_message']))
        }
        session.send(pdu.response({ command_status: 0 }))
      })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A test that is over does not wait for it.
  server.unref()
  return {
    port: (server.address() as AddressInfo).port,
    ...{ logins, numbers, texts },
    close: () => {
      for (const session of sessions) session.destroy()
      server.close()
    },
  }
}

function textOf(message: unknown): string {
  return typeof message === 'object' && message !== null && 'message' in message ? String(message.message) : ''
}
