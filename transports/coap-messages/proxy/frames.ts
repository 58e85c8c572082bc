/**
 * What the server and the proxy that ends DTLS tell each other, on a stream: 4 bytes of length, one of kind, and the rest. Control is JSON, so
 * that a later proxy may say more; datagrams are bytes behind the number of their channel.
 */
import { z } from 'zod'
import { GatheredBytes } from '../../../model/gathered-bytes.ts'
import { parseJson, stringifyJson, type JsonObject } from '../../../model/json.ts'
import type { PreSharedKey } from '../../../engine/device/gateway.ts'
import { ProxyErrors } from './errors.ts'

/** What a DTLS handshake has proven of a client. */
export type ProvenIdentity =
  | { readonly kind: 'PSK'; readonly identity: string; readonly keyId: string }
  /** SubjectPublicKeyInfo. */
  | { readonly kind: 'RPK'; readonly key: Buffer }
  | {
      readonly kind: 'X509'
      /** DER. */
      readonly certificate: Buffer
      /** The common name, where the proxy trusts who issued the certificate. */
      readonly trustedName: string | undefined
    }
  /** A client of CoAP that showed nothing. */
  | { readonly kind: 'ANONYMOUS' }

export type ProxyFrame =
  | {
      readonly kind: 'open'
      readonly channel: number
      readonly address: string
      readonly port: number
      readonly proven: ProvenIdentity
      /** Another one for a channel that is open: its client shook hands anew. */
      readonly handshake: string | undefined
    }
  | { readonly kind: 'close'; readonly channel: number }
  | { readonly kind: 'datagram'; readonly channel: number; readonly bytes: Buffer }
  | { readonly kind: 'key'; readonly request: number; readonly identity: string }

const Kind = { OPEN: 1, DATAGRAM: 2, CLOSE: 3, KEY: 4 } as const
const LENGTH_BYTES = 4
const CHANNEL_BYTES = 4
/** A chain of certificates, above what DTLS can carry. */
export const MAX_FRAME_BYTES = 65_536

const number = z
  .int()
  .min(0)
  .max(2 ** 32 - 1)
const bytes = z.base64().transform((text) => Buffer.from(text, 'base64'))
const proven = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('PSK'), identity: z.string().min(1), keyId: z.string().min(1) }),
  z.object({ kind: z.literal('RPK'), key: bytes }),
  z.object({ kind: z.literal('X509'), certificate: bytes, trustedName: z.string().optional() }),
  z.object({ kind: z.literal('ANONYMOUS') }),
])
const open = z.object({
  ...{ channel: number, address: z.string(), port: z.int().min(1).max(65_535), proven },
  handshake: z.string().min(1).optional(),
})
const close = z.object({ channel: number })
const key = z.object({ request: number, identity: z.string() })

/** Puts frames together from what comes of the stream. */
export class FrameReader {
  private held: GatheredBytes | undefined

  /** Throws BAD_FRAME: the stream is worth nothing from there. */
  read(chunk: Buffer): readonly ProxyFrame[] {
    const frames: ProxyFrame[] = []
    this.held?.add(chunk)
    let rest = this.held?.bytes ?? chunk
    while (rest.length > LENGTH_BYTES) {
      const length = rest.readUInt32BE(0)
      if (length === 0 || length > MAX_FRAME_BYTES)
        throw ProxyErrors.BAD_FRAME({ reason: `a length of ${length} bytes` })
      if (rest.length < LENGTH_BYTES + length) break
      const body = rest.subarray(LENGTH_BYTES, LENGTH_BYTES + length)
      rest = rest.subarray(LENGTH_BYTES + length)
      frames.push(frameOf(body))
    }
    if (rest.length === 0) this.held = undefined
    else if (this.held === undefined || frames.length > 0)
      this.held = new GatheredBytes(Buffer.from(rest), LENGTH_BYTES + MAX_FRAME_BYTES)
    return frames
  }
}

export function datagramFrame(channel: number, datagram: Buffer): Buffer {
  const head = Buffer.alloc(LENGTH_BYTES + 1 + CHANNEL_BYTES)
  head.writeUInt32BE(1 + CHANNEL_BYTES + datagram.length)
  head[LENGTH_BYTES] = Kind.DATAGRAM
  head.writeUInt32BE(channel, LENGTH_BYTES + 1)
  return Buffer.concat([head, datagram])
}

/** The answer to a `key`; undefined where nobody has the identity. `keyId` stands for the key in what is proven with it. */
export function keyFrame(request: number, found: PreSharedKey | undefined): Buffer {
  const answer: JsonObject =
    found === undefined ? { request } : { request, key: found.key.toString('hex'), keyId: found.keyId }
  const body = Buffer.from(stringifyJson(answer))
  const head = Buffer.alloc(LENGTH_BYTES + 1)
  head.writeUInt32BE(1 + body.length)
  head[LENGTH_BYTES] = Kind.KEY
  return Buffer.concat([head, body])
}

function frameOf(body: Buffer): ProxyFrame {
  const rest = body.subarray(1)
  switch (body[0]) {
    case Kind.DATAGRAM:
      if (rest.length < CHANNEL_BYTES) throw ProxyErrors.BAD_FRAME({ reason: 'a datagram without a channel' })
      return { kind: 'datagram', channel: rest.readUInt32BE(0), bytes: rest.subarray(CHANNEL_BYTES) }
    case Kind.OPEN: {
      const { channel, address, port, proven: told, handshake } = checked(open, rest)
      const kept = told.kind === 'X509' ? { ...told, trustedName: told.trustedName } : told
      return { kind: 'open', channel, address, port, proven: kept, handshake }
    }
    case Kind.CLOSE:
      return { kind: 'close', ...checked(close, rest) }
    case Kind.KEY:
      return { kind: 'key', ...checked(key, rest) }
    default:
      throw ProxyErrors.BAD_FRAME({ reason: `kind ${body[0] ?? 'none'}` })
  }
}

function checked<Output>(schema: z.ZodType<Output>, text: Buffer): Output {
  try {
    return schema.parse(parseJson(text.toString('utf8')))
  } catch (error) {
    throw ProxyErrors.BAD_FRAME({ reason: 'its JSON is not what it should be' }, error)
  }
}
