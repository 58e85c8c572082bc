/** CoAP datagrams (RFC 7252, section 3), by `coap-packet`. The only file that knows the library. */
import { generate, parse } from 'coap-packet'

export type MessageType = 'CON' | 'NON' | 'ACK' | 'RST'

/** By number, so that an unknown one can be told critical from elective (RFC 7252, 5.4.1). */
export interface CoapOption {
  readonly number: number
  readonly value: Buffer
}

export interface CoapMessage {
  readonly type: MessageType
  /** `class.detail`: `0.02` is POST, `2.05` Content. */
  readonly code: string
  readonly id: number
  readonly token: Buffer
  readonly options: readonly CoapOption[]
  readonly payload: Buffer
}

export const OptionNumber = {
  IF_MATCH: 1,
  URI_HOST: 3,
  ETAG: 4,
  IF_NONE_MATCH: 5,
  OBSERVE: 6,
  URI_PORT: 7,
  LOCATION_PATH: 8,
  URI_PATH: 11,
  CONTENT_FORMAT: 12,
  MAX_AGE: 14,
  URI_QUERY: 15,
  ACCEPT: 17,
  BLOCK2: 23,
  BLOCK1: 27,
  SIZE2: 28,
  SIZE1: 60,
} as const

/** Those of the library's names whose numbers it does not tell. */
const NUMBERS: ReadonlyMap<string, number> = new Map([
  ['If-Match', 1],
  ['Uri-Host', 3],
  ['ETag', 4],
  ['If-None-Match', 5],
  ['Observe', 6],
  ['Uri-Port', 7],
  ['Location-Path', 8],
  ['OSCORE', 9],
  ['Uri-Path', 11],
  ['Content-Format', 12],
  ['Max-Age', 14],
  ['Uri-Query', 15],
  ['Hop-Limit', 16],
  ['Accept', 17],
  ['Q-Block1', 19],
  ['Location-Query', 20],
  ['Block2', 23],
  ['Block1', 27],
  ['Size2', 28],
  ['Q-Block2', 31],
  ['Proxy-Uri', 35],
  ['Proxy-Scheme', 39],
  ['Size1', 60],
  ['No-Response', 258],
  ['OCF-Accept-Content-Format-Version', 2049],
  ['OCF-Content-Format-Version', 2053],
])

const EMPTY = Buffer.alloc(0)
const EMPTY_CODE = '0.00'
/** Over what a datagram may be. */
const NO_LIMIT = 65_535
const MAX_TOKEN_BYTES = 8
const VERSION_1 = 0b01
const CONFIRMABLE = 0b00

/** Undefined where it is no message of version 1. */
export function parseMessage(datagram: Buffer): CoapMessage | undefined {
  try {
    const { code, confirmable, ack, reset, messageId, token, options, payload } = parse(datagram)
    if (token.length > MAX_TOKEN_BYTES) return undefined
    return {
      type: reset ? 'RST' : ack ? 'ACK' : confirmable ? 'CON' : 'NON',
      code,
      id: messageId,
      token,
      options: options.map(({ name, value }) => ({ number: NUMBERS.get(String(name)) ?? Number(name), value })),
      payload,
    }
  } catch {
    return undefined
  }
}

/** Type, id and token, without a look at the rest. */
export function headOf(datagram: Buffer): CoapMessage | undefined {
  const tokenBytes = datagram.length < 4 ? Infinity : datagram.readUInt8(0) & 0b1111
  return tokenBytes > MAX_TOKEN_BYTES ? undefined : parseMessage(datagram.subarray(0, 4 + tokenBytes))
}

/** The id of a confirmable message that can not be read otherwise: it is answered with RST (RFC 7252, 4.2). */
export function unreadableId(datagram: Buffer): number | undefined {
  if (datagram.length < 4) return undefined
  const first = datagram.readUInt8(0)
  return first >> 6 === VERSION_1 && ((first >> 4) & 0b11) === CONFIRMABLE ? datagram.readUInt16BE(2) : undefined
}

export function encodeMessage({ type, code, id, token, options, payload }: CoapMessage): Buffer {
  return generate(
    {
      code,
      messageId: id,
      token,
      confirmable: type === 'CON',
      ack: type === 'ACK',
      reset: type === 'RST',
      options: options.map(({ number, value }) => ({ name: String(number), value })),
      payload,
    },
    NO_LIMIT,
  )
}

export function emptyMessage(type: 'ACK' | 'RST', id: number): Buffer {
  return encodeMessage({ type, code: EMPTY_CODE, id, token: EMPTY, options: [], payload: EMPTY })
}

/** As many bytes as it needs, none for 0 (RFC 7252, 3.2). */
export function uintBytes(value: number): Buffer {
  if (value === 0) return EMPTY
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes.subarray(bytes.findIndex((byte) => byte !== 0))
}

export function uintOf(value: Buffer): number {
  return value.length === 0 ? 0 : value.length > 4 ? Number.NaN : value.readUIntBE(0, value.length)
}
