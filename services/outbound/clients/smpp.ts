/**
 * Text messages by SMPP 3.3 and 3.4 over the client of the field: one session a node, made anew by the next call when it was lost. A text
 * counts as sent when the centre has answered `submit_sm`. Source: SMPP 3.4, 4.1, 4.4, 5.2.
 */
import smpp, { type Pdu, type Session } from 'smpp'
import type { ShortMessageCentre, TextMessage } from '../../../engine/rulechain/capabilities/outbound.ts'
import type { ClientParts, OpenClient } from '../raw-client.ts'

const BIND_MS = 30_000
/** A centre that does not answer to the end is not waited for any longer. */
const CLOSE_MS = 2000
/** 5.2.22: longer texts go as `message_payload`, which 3.4 brought. */
const SHORT_BYTES = 254
/** Of answers that a centre asks for and does not take: it is left. */
const MAX_UNREAD_BYTES = 65_536
const BINDS = { TX: 'bind_transmitter', RX: 'bind_receiver', TRX: 'bind_transceiver' } as const
const INTERNATIONAL = 1
const DEFAULT_ALPHABET = 0
const UCS2 = 8

export const openSmpp: OpenClient<'smpp'> = async (centre, parts) => {
  let opening: Promise<Session> | undefined
  const forget = (one: Promise<Session>): void => {
    if (opening === one) opening = undefined
  }
  const opened = (): Promise<Session> => {
    if (opening !== undefined) return opening
    const own = boundTo(centre, parts, () => forget(own))
    opening = own
    return own
  }
  await opened()
  return {
    call: async (message, signal) => {
      const submission = submissionOf(centre, message)
      const own = opened()
      const session = await own
      // Nobody waits for it any more.
      if (!signal.aborted) await submitted(session, submission, signal, () => forget(own))
    },
    close: async () => {
      // One that did not open told its caller, and leaves nothing to close.
      const session = await opening?.catch(() => undefined)
      if (session !== undefined) await unbound(session, parts)
    },
  }
}

/**
 * Throws where the centre is at an internal address, and where the client is closed already. Rejects where it is not there, refuses, or does not
 * answer in time. `forget` is told when the session is of no use any more, however that came.
 */
function boundTo(
  centre: ShortMessageCentre,
  { guard, clock, closing }: ClientParts,
  forget: () => void,
): Promise<Session> {
  const { host, port, systemId, password, systemType, bindType, protocolVersion, addressRange } = centre
  // While the library was being loaded: the signal does not come once more.
  if (closing.aborted) throw closedEarly()
  guard.checkLiteral(host)
  const session = smpp.connect({ host, port, lookup: guard.lookup, keepAlive: true })
  // A listener a call.
  session.setMaxListeners(0)
  return new Promise<Session>((resolve, reject) => {
    const closed = (): void => fail(closedEarly())
    const settled = (): void => {
      timer.cancel()
      closing.removeEventListener('abort', closed)
    }
    const fail = (error: Error): void => {
      settled()
      forget()
      session.destroy()
      reject(error)
    }
    const timer = clock.after(BIND_MS, () => fail(new Error(`the centre did not answer within ${BIND_MS} ms`)))
    closing.addEventListener('abort', closed, { once: true })
    session
      .on('error', fail)
      .on('close', () => fail(new Error('the centre ended the connection')))
      .on('pdu', (pdu: Pdu) => answer(session, pdu))
      .on('connect', () => {
        const login = { system_id: systemId, password, system_type: systemType, address_range: addressRange }
        const version = protocolVersion === '3.3' ? 0x33 : 0x34
        session[BINDS[bindType]]({ ...login, interface_version: version }, (pdu) => {
          if (pdu.command_status !== 0) return fail(new Error(`the centre refused the log-in: ${statusOf(pdu)}`))
          settled()
          resolve(session)
        })
      })
  })
}

function closedEarly(): Error {
  return new Error('it is closed')
}

/** What a centre asks by itself: else it takes the session for dead, or keeps what it has for us. */
function answer(session: Session, pdu: Pdu): void {
  if (session.socket.writableLength > MAX_UNREAD_BYTES) return session.destroy()
  switch (pdu.command) {
    case 'enquire_link':
    case 'deliver_sm':
    case 'data_sm':
      session.send(pdu.response())
      return
    case 'unbind':
      session.send(pdu.response())
      session.close()
  }
}

/** The members of `submit_sm`. Throws where the text can not be said in the node's coding. */
function submissionOf(centre: ShortMessageCentre, { numberTo, text }: TextMessage): Readonly<Record<string, unknown>> {
  const { dataCoding, bytes } = codedText(centre.codingScheme, text)
  const isShort = bytes.length <= SHORT_BYTES
  if (!isShort && centre.protocolVersion === '3.3')
    throw new Error(`the text takes ${bytes.length} octets, SMPP 3.3 has room for ${SHORT_BYTES}`)
  const { serviceType, sourceAddress, sourceTon, sourceNpi, destinationTon, destinationNpi } = centre
  return {
    ...{ service_type: serviceType, data_coding: dataCoding },
    ...(sourceAddress === ''
      ? {}
      : { source_addr_ton: sourceTon, source_addr_npi: sourceNpi, source_addr: sourceAddress }),
    ...{ dest_addr_ton: destinationTon, dest_addr_npi: destinationNpi },
    // An international number has no sign in front: its type says so.
    destination_addr: destinationTon === INTERNATIONAL ? numberTo.replace(/^\+/, '') : numberTo,
    ...(isShort ? { short_message: bytes } : { short_message: Buffer.alloc(0), message_payload: bytes }),
  }
}

/** In the default alphabet what it has, else in UCS-2: a text of another script would arrive as blanks. */
function codedText(scheme: number, text: string): { readonly dataCoding: number; readonly bytes: Buffer } {
  const { ASCII: gsm } = smpp.encodings
  if (scheme === DEFAULT_ALPHABET && gsm.match(text)) return { dataCoding: scheme, bytes: gsm.encode(text) }
  if (scheme === DEFAULT_ALPHABET || scheme === UCS2)
    return { dataCoding: UCS2, bytes: Buffer.from(text, 'utf16le').swap16() }
  // 1 is ASCII, 3 is Latin 1.
  const highest = scheme === 1 ? 0x7f : 0xff
  for (const character of text)
    if ((character.codePointAt(0) ?? 0) > highest)
      throw new Error(`'${character}' can not be said in coding scheme ${scheme}`)
  return { dataCoding: scheme, bytes: Buffer.from(text, 'latin1') }
}

/** What a centre owes an answer to is kept as long as the session: where the time is over both go. `forget` has the next call make another one. */
function submitted(
  session: Session,
  submission: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  forget: () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error: Error | undefined): void => {
      session.off('close', closed)
      signal.removeEventListener('abort', aborted)
      if (error === undefined) resolve()
      else reject(error)
    }
    const closed = (): void => end(new Error('the connection ended before the centre answered'))
    const aborted = (): void => {
      forget()
      session.destroy()
    }
    session.on('close', closed)
    signal.addEventListener('abort', aborted, { once: true })
    const isSent = session.submit_sm(submission, (pdu) =>
      end(pdu.command_status === 0 ? undefined : new Error(`the centre refused the text: ${statusOf(pdu)}`)),
    )
    if (!isSent) closed()
  })
}

function unbound(session: Session, { clock }: ClientParts): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(CLOSE_MS, () => session.destroy())
    session.once('close', () => {
      timer.cancel()
      resolve()
    })
    if (session.socket.destroyed) {
      timer.cancel()
      resolve()
    } else if (!session.unbind(() => session.close())) session.destroy()
  })
}

/** Its name, as `ESME_RINVPASWD`, where it has one. */
function statusOf({ command_status: status }: Pdu): string {
  const name = Object.entries(smpp.errors).find(([, code]) => code === status)?.[0]
  return name ?? `status 0x${status.toString(16)}`
}
