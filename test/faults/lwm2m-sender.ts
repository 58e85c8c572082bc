/**
 * Load of one device over LwM2M: a client that registers, is observed for its object 3, and tells its values in confirmable notifications, one
 * at a time, each sent again until it is acknowledged (RFC 7641, 4.5).
 */
import type { Socket } from 'node:dgram'
import {
  encodeMessage,
  OptionNumber,
  parseMessage,
  uintBytes,
  type CoapMessage,
  type CoapOption,
} from '../../transports/coap-messages/codec.ts'
import { exchanged, openTo } from './coap-sender.ts'

/** What `sendOverLwm2m` tells is stored as `n` and `text`. */
export const LOADED_LWM2M_PROFILE = {
  observeAttr: {
    keyName: { '/3_1.0/0/9': 'n', '/3_1.0/0/14': 'text' },
    ...{ observe: ['/3_1.0/0'], telemetry: ['/3_1.0/0/9', '/3_1.0/0/14'], attribute: [] },
  },
}
const SENML_JSON = 110
const LINKS = Buffer.from(`</>;rt="oma.lwm2m";ct="${SENML_JSON}",</3/0>`)
const CREATED = '2.01'
const CONTENT = '2.05'
const NOT_FOUND = '4.04'

export interface Lwm2mTarget {
  readonly port: number
  readonly endpoint: string
}

/** A pack of SenML of `n` and its text; `ts`: Unix ms. */
export function packOf(n: number, ts: number | undefined): string {
  const time = ts === undefined ? {} : { bt: ts / 1000 }
  return JSON.stringify([
    { ...time, n: '/3/0/9', v: n },
    { n: '/3/0/14', vs: `value ${n}` },
  ])
}

/** Tells what `next` gives until `stop`, and of each that was acknowledged. As with CoAP what is not is unknown. */
export async function sendOverLwm2m(
  { port, endpoint }: Lwm2mTarget,
  next: () => { readonly payload: string; readonly acknowledged: () => void },
  stop: AbortSignal,
): Promise<void> {
  const socket = await openTo(port)
  let id = Math.floor(performance.now() * 1000) & 0xffff
  const nextId = (): number => (id = (id + 1) & 0xffff)
  const observed = observation(socket, stop)
  try {
    const asked = registration(endpoint, nextId())
    const answer = await exchanged(socket, asked, ({ token }) => token.equals(asked.token), stop)
    if (answer !== undefined && answer.code !== CREATED) throw new Error(`${endpoint}: answered ${answer.code}`)
    const token = await observed
    if (token === undefined) return
    for (let sequence = 2; !stop.aborted; sequence++) {
      const { payload, acknowledged } = next()
      const told = content({ type: 'CON', id: nextId(), token }, sequence, payload)
      const heard = await exchanged(socket, told, (message) => message.id === told.id && message.code === '0.00', stop)
      if (heard === undefined) return
      if (heard.type !== 'ACK') throw new Error(`${endpoint}: a notification was answered with ${heard.type}`)
      acknowledged()
    }
  } finally {
    socket.close()
  }
}

/** Answers what the server asks: to be observed with a pack of nothing yet. Resolves with the token of that; undefined where it did not come. */
function observation(socket: Socket, stop: AbortSignal): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    stop.addEventListener('abort', () => resolve(undefined))
    socket.on('message', (datagram) => {
      const asked = parseMessage(datagram)
      if (asked === undefined || asked.type !== 'CON' || !asked.code.startsWith('0.') || asked.code === '0.00') return
      const { id, token, options } = asked
      const isObserved = options.some(({ number }) => number === OptionNumber.OBSERVE)
      const nothing: CoapMessage = { type: 'ACK', code: NOT_FOUND, id, token, options: [], payload: Buffer.alloc(0) }
      socket.send(encodeMessage(isObserved ? content({ type: 'ACK', id, token }, 1, '[]') : nothing))
      if (isObserved) resolve(token)
    })
  })
}

function content(place: Pick<CoapMessage, 'type' | 'id' | 'token'>, sequence: number, payload: string): CoapMessage {
  const options = [
    { number: OptionNumber.OBSERVE, value: uintBytes(sequence) },
    { number: OptionNumber.CONTENT_FORMAT, value: uintBytes(SENML_JSON) },
  ]
  return { ...place, code: CONTENT, options, payload: Buffer.from(payload) }
}

function registration(endpoint: string, id: number): CoapMessage {
  const option =
    (number: number) =>
    (text: string): CoapOption => ({ number, value: Buffer.from(text) })
  const query = [`ep=${endpoint}`, 'lwm2m=1.1', 'lt=300'].map(option(OptionNumber.URI_QUERY))
  const options = [option(OptionNumber.URI_PATH)('rd'), ...query]
  return { type: 'CON', code: '0.02', id, token: Buffer.from([id >> 8, id & 0xff]), options, payload: LINKS }
}
