/** Requests and responses as the resources see them: what of the options they need, read once. */
import { OptionNumber, uintBytes, uintOf, type CoapMessage, type CoapOption } from './codec.ts'
import { MessageErrors } from './errors.ts'
import type { ProvenIdentity } from './proxy/frames.ts'

/** Who sent a datagram. */
export interface Peer {
  readonly address: string
  readonly port: number
  /** One text for all that comes from there. */
  readonly key: string
  /** Of a client that came by the proxy that ends DTLS; absent: by the plain port, and anybody. */
  readonly proven?: ProvenIdentity
  /** Of a client of DTLS: which handshake its connection began with. Absent where the proxy does not say it. */
  readonly handshake?: string
  /** Takes what is for it, in place of the plain port. It may be lost. */
  readonly reply?: (datagram: Buffer) => void
}

/** RFC 7959, 2.2. */
export interface BlockOption {
  readonly number: number
  readonly isMore: boolean
  /** Bytes. */
  readonly size: number
}

export interface CoapRequest {
  readonly peer: Peer
  readonly isConfirmable: boolean
  /** `0.01` is GET. */
  readonly code: string
  readonly token: Buffer
  readonly path: readonly string[]
  readonly query: ReadonlyMap<string, string>
  /** 0 registers, 1 ends (RFC 7641). */
  readonly observe: number | undefined
  readonly contentFormat: number | undefined
  readonly block1: BlockOption | undefined
  readonly block2: BlockOption | undefined
  readonly payload: Buffer
}

export interface CoapResponse {
  readonly code: string
  readonly payload?: Buffer | undefined
  readonly contentFormat?: number | undefined
  /** The number of the notification. */
  readonly observe?: number | undefined
  readonly block1?: BlockOption | undefined
  readonly block2?: BlockOption | undefined
  /** Seconds. */
  readonly maxAge?: number | undefined
  /** Bytes that a request may have. */
  readonly size1?: number | undefined
  /** Of what was created. */
  readonly location?: readonly string[] | undefined
}

/** Of a request that the server sends. */
export interface OutgoingRequest {
  readonly code: string
  readonly path: readonly string[]
  readonly query?: readonly string[] | undefined
  /** 0 registers, 1 ends (RFC 7641). */
  readonly observe?: 0 | 1 | undefined
  readonly accept?: number | undefined
  readonly contentFormat?: number | undefined
  readonly block1?: BlockOption | undefined
  readonly block2?: BlockOption | undefined
  readonly payload?: Buffer | undefined
}

/** What a client answers. */
export interface CoapAnswer {
  readonly code: string
  readonly payload: Buffer
  readonly contentFormat: number | undefined
  readonly observe: number | undefined
  readonly block1: BlockOption | undefined
  readonly block2: BlockOption | undefined
  readonly location: readonly string[]
  /** Of the representation, in hexadecimal digits. */
  readonly etag: string | undefined
}

export const GET = '0.01'
export const POST = '0.02'

export const ContentFormat = { TEXT: 0, OCTETS: 42, JSON: 50 } as const

const EMPTY = Buffer.alloc(0)
/** Options of requests that are understood, and how many bytes each has (RFC 7252, 5.10; RFC 7641, 2; RFC 7959, 2.1). */
const LENGTHS: ReadonlyMap<number, { readonly least: number; readonly most: number }> = new Map([
  [OptionNumber.URI_HOST, { least: 1, most: 255 }],
  [OptionNumber.OBSERVE, { least: 0, most: 3 }],
  [OptionNumber.URI_PORT, { least: 0, most: 2 }],
  [OptionNumber.URI_PATH, { least: 0, most: 255 }],
  [OptionNumber.CONTENT_FORMAT, { least: 0, most: 2 }],
  [OptionNumber.URI_QUERY, { least: 0, most: 255 }],
  [OptionNumber.ACCEPT, { least: 0, most: 2 }],
  [OptionNumber.BLOCK2, { least: 0, most: 3 }],
  [OptionNumber.BLOCK1, { least: 0, most: 3 }],
])
/** SZX 7 is kept for TCP. */
const LARGEST_EXPONENT = 6
/** The block number has 20 bits. */
export const MAX_BLOCK_NUMBER = 2 ** 20 - 1

/** Throws what the request is answered with: an option that must be understood and is not, a block that means nothing. */
export function requestOf({ type, code, token, options, payload }: CoapMessage, peer: Peer): CoapRequest {
  const path: string[] = []
  const query = new Map<string, string>()
  let observe: number | undefined
  let contentFormat: number | undefined
  let block1: BlockOption | undefined
  let block2: BlockOption | undefined
  /** Bits by number. */
  let seen = 0
  for (const { number, value } of options) {
    if (!isUnderstood(number, value, seen)) {
      if (number % 2 === 1) throw MessageErrors.CRITICAL_OPTION({ number })
      continue
    }
    seen |= 1 << number
    switch (number) {
      case OptionNumber.URI_PATH:
        // Some clients send the whole path as one segment.
        path.push(...value.toString('utf8').split('/'))
        break
      case OptionNumber.URI_QUERY:
        addParameter(query, value.toString('utf8'))
        break
      case OptionNumber.OBSERVE:
        observe = uintOf(value)
        break
      case OptionNumber.CONTENT_FORMAT:
        contentFormat = uintOf(value)
        break
      case OptionNumber.BLOCK1:
        block1 = blockOf(value)
        break
      case OptionNumber.BLOCK2:
        block2 = blockOf(value)
        break
      default:
      // Of the host, the port and what is accepted nothing depends.
    }
  }
  const isConfirmable = type === 'CON'
  return { peer, isConfirmable, code, token, path, query, observe, contentFormat, block1, block2, payload }
}

/** A value of another length, and one too many, are as an option that is not known (RFC 7252, 5.4.3 and 5.4.5). */
function isUnderstood(number: number, value: Buffer, seen: number): boolean {
  const lengths = LENGTHS.get(number)
  if (lengths === undefined || value.length < lengths.least || value.length > lengths.most) return false
  const isRepeatable = number === OptionNumber.URI_PATH || number === OptionNumber.URI_QUERY
  return isRepeatable || (seen & (1 << number)) === 0
}

export function responseMessage(
  { code, payload = EMPTY, contentFormat, observe, block1, block2, maxAge, size1, location }: CoapResponse,
  place: Pick<CoapMessage, 'type' | 'id' | 'token'>,
): CoapMessage {
  const options: CoapOption[] = []
  const add = (number: number, value: Buffer | undefined): void => {
    if (value !== undefined) options.push({ number, value })
  }
  add(OptionNumber.OBSERVE, observe === undefined ? undefined : uintBytes(observe))
  if (payload.length > 0)
    add(OptionNumber.CONTENT_FORMAT, contentFormat === undefined ? undefined : uintBytes(contentFormat))
  add(OptionNumber.MAX_AGE, maxAge === undefined ? undefined : uintBytes(maxAge))
  add(OptionNumber.BLOCK2, block2 === undefined ? undefined : blockBytes(block2))
  add(OptionNumber.BLOCK1, block1 === undefined ? undefined : blockBytes(block1))
  add(OptionNumber.SIZE1, size1 === undefined ? undefined : uintBytes(size1))
  for (const segment of location ?? []) add(OptionNumber.LOCATION_PATH, Buffer.from(segment))
  return { ...place, code, options, payload }
}

export function outgoingMessage(
  { code, path, query = [], observe, accept, contentFormat, block1, block2, payload = EMPTY }: OutgoingRequest,
  place: Pick<CoapMessage, 'id' | 'token'>,
): CoapMessage {
  const options: CoapOption[] = []
  const add = (number: number, value: number | undefined): void => {
    if (value !== undefined) options.push({ number, value: uintBytes(value) })
  }
  add(OptionNumber.OBSERVE, observe)
  for (const segment of path) options.push({ number: OptionNumber.URI_PATH, value: Buffer.from(segment) })
  add(OptionNumber.CONTENT_FORMAT, contentFormat)
  for (const each of query) options.push({ number: OptionNumber.URI_QUERY, value: Buffer.from(each) })
  add(OptionNumber.ACCEPT, accept)
  if (block2 !== undefined) options.push({ number: OptionNumber.BLOCK2, value: blockBytes(block2) })
  if (block1 !== undefined) options.push({ number: OptionNumber.BLOCK1, value: blockBytes(block1) })
  return { ...place, type: 'CON', code, options, payload }
}

/** Throws BAD_BLOCK. What of its options is not known counts for nothing. */
export function answerOf({ code, options, payload }: CoapMessage): CoapAnswer {
  const first = (number: number): Buffer | undefined => options.find((each) => each.number === number)?.value
  const uint = (number: number): number | undefined => {
    const value = first(number)
    return value === undefined ? undefined : uintOf(value)
  }
  const block = (number: number): BlockOption | undefined => {
    const value = first(number)
    return value === undefined ? undefined : blockOf(value)
  }
  return {
    code,
    payload,
    contentFormat: uint(OptionNumber.CONTENT_FORMAT),
    observe: uint(OptionNumber.OBSERVE),
    block1: block(OptionNumber.BLOCK1),
    block2: block(OptionNumber.BLOCK2),
    etag: first(OptionNumber.ETAG)?.toString('hex'),
    location: options.flatMap(({ number, value }) => (number === OptionNumber.LOCATION_PATH ? [value.toString()] : [])),
  }
}

export function blockBytes({ number, isMore, size }: BlockOption): Buffer {
  return uintBytes(number * 16 + (isMore ? 8 : 0) + (Math.log2(size) - 4))
}

function blockOf(value: Buffer): BlockOption {
  const packed = value.length > 3 ? Number.NaN : uintOf(value)
  const exponent = packed & 7
  if (Number.isNaN(packed) || exponent > LARGEST_EXPONENT) throw MessageErrors.BAD_BLOCK()
  return { number: packed >>> 4, isMore: (packed & 8) !== 0, size: 2 ** (exponent + 4) }
}

function addParameter(query: Map<string, string>, text: string): void {
  const equals = text.indexOf('=')
  if (equals < 0) query.set(text, '')
  else query.set(text.slice(0, equals), text.slice(equals + 1))
}
