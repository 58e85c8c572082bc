/** Load of one device over CoAP: confirmable requests, one at a time, sent again until they are answered (RFC 7252, 4.2). */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { encodeMessage, OptionNumber, parseMessage, type CoapMessage } from '../../transports/coap-messages/codec.ts'

const ACK_TIMEOUT_MS = 2000
/** What a server that lives answers after its sender was told to stop is within it. */
const LAST_ANSWER_MS = 300
const CREATED = '2.01'
const EMPTY = Buffer.alloc(0)

export interface CoapTarget {
  readonly port: number
  readonly token: string
}

/**
 * Posts what `next` gives until `stop` and tells of each that was answered 2.01. What has no answer when the server dies is unknown: it is
 * not sent again to the next process, which could not know it.
 */
export async function sendOverCoap(
  { port, token }: CoapTarget,
  next: () => { readonly payload: string; readonly acknowledged: () => void },
  stop: AbortSignal,
): Promise<void> {
  const socket = await openTo(port)
  // Other ids than the round before: the port may be the same.
  let id = Math.floor(performance.now() * 1000) & 0xffff
  try {
    while (!stop.aborted) {
      const { payload, acknowledged } = next()
      id = (id + 1) & 0xffff
      const asked = request(token, id, payload)
      const answer = await exchanged(socket, asked, (message) => message.token.equals(asked.token), stop)
      if (answer === undefined) return
      if (answer.code !== CREATED) throw new Error(`${token}: answered ${answer.code}`)
      acknowledged()
    }
  } finally {
    socket.close()
  }
}

export async function openTo(port: number): Promise<Socket> {
  const socket = createSocket('udp4')
  // A port that nobody listens on any more answers a datagram with an error.
  socket.on('error', () => {})
  socket.connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

function request(token: string, id: number, payload: string): CoapMessage {
  const path = ['api', 'v1', token, 'telemetry'].map((segment) => ({
    number: OptionNumber.URI_PATH,
    value: Buffer.from(segment),
  }))
  return {
    ...{ type: 'CON', code: '0.02', id, token: Buffer.from([id >> 8, id & 0xff]) },
    ...{ options: path, payload: Buffer.from(payload) },
  }
}

/**
 * Sends again until what answers it comes, which is acknowledged where it asks for that; undefined where none came before the sender was told
 * to stop.
 */
export function exchanged(
  socket: Socket,
  asked: CoapMessage,
  isAnswer: (message: CoapMessage) => boolean,
  stop: AbortSignal,
): Promise<CoapMessage | undefined> {
  return new Promise((resolve) => {
    const send = (message: CoapMessage): void => socket.send(encodeMessage(message))
    const again = setInterval(() => send(asked), ACK_TIMEOUT_MS)
    let last: NodeJS.Timeout | undefined
    const giveUp = (): void => {
      last ??= setTimeout(() => end(undefined), LAST_ANSWER_MS)
    }
    const hear = (datagram: Buffer): void => {
      const answer = parseMessage(datagram)
      if (answer === undefined || !isAnswer(answer)) return
      if (answer.type === 'CON')
        send({ type: 'ACK', code: '0.00', id: answer.id, token: EMPTY, options: [], payload: EMPTY })
      end(answer)
    }
    const end = (answer: CoapMessage | undefined): void => {
      clearInterval(again)
      clearTimeout(last)
      socket.off('message', hear)
      stop.removeEventListener('abort', giveUp)
      resolve(answer)
    }
    socket.on('message', hear)
    stop.addEventListener('abort', giveUp)
    if (stop.aborted) giveUp()
    send(asked)
  })
}
