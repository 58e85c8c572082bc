/** HTTP over the platform's own client: one pool of kept connections a node. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { connect as tlsConnect, createSecureContext, type ConnectionOptions, type SecureContext } from 'node:tls'
import type { Socket } from 'node:net'
import type { HttpAnswer, HttpCall, OutboundCertificates } from '../../../engine/rulechain/capabilities/outbound.ts'
import { OutboundErrors } from '../errors.ts'
import type { OpenClient, TakeAnswer } from '../raw-client.ts'
import { connectByProxy } from './connect-proxy.ts'

const IDLE_SOCKETS = 8

export const openHttp: OpenClient<'http'> = (target, { guard, answerLimit }) => {
  const limit = Math.min(target.maxAnswerBytes, answerLimit)
  const tls = tlsContext(target.certificates)
  const pool = { keepAlive: true, maxFreeSockets: IDLE_SOCKETS, lookup: guard.lookup }
  const [http, https] = [new HttpAgent(pool), new HttpsAgent({ ...pool, ...tls })]
  return {
    call: async (call, signal, takeAnswer) => {
      const url = urlOf(call.url)
      const options: RequestOptions = { method: call.method, headers: headersOf(call), signal }
      // With a proxy the address of the target is the proxy's to find: the proxy's own is checked here, and what is denied by its name.
      if (target.proxy !== undefined) {
        guard.checkDenied(url.hostname)
        guard.checkLiteral(target.proxy.host)
        const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
        const socket = await connectByProxy(target.proxy, { host: url.hostname, port }, signal, guard.lookup)
        const secured = url.protocol === 'https:' ? sealed(socket, { servername: url.hostname, ...tls }) : socket
        return send(url, { ...options, createConnection: () => secured }, call, limit, takeAnswer)
      }
      guard.checkLiteral(url.hostname)
      const agent = url.protocol === 'https:' ? https : http
      return send(url, { ...options, agent }, call, limit, takeAnswer)
    },
    close: async () => {
      http.destroy()
      https.destroy()
    },
  }
}

function urlOf(address: string): URL {
  const url = URL.parse(address)
  if (url === null) throw OutboundErrors.ADDRESS_INVALID({ address, reason: 'no URL' })
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw OutboundErrors.ADDRESS_INVALID({ address, reason: 'neither http nor https' })
  return url
}

function headersOf({ headers, body }: HttpCall): Record<string, string> {
  // Without a length the body goes in chunks, which not every service takes.
  return body === undefined ? { ...headers } : { ...headers, 'Content-Length': String(Buffer.byteLength(body)) }
}

function send(
  url: URL,
  options: RequestOptions,
  call: HttpCall,
  limit: number,
  takeAnswer: TakeAnswer,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' && options.createConnection === undefined ? httpsRequest : httpRequest
    let isAnswered = false
    const sent = request(url, { ...options, protocol: undefined }, (response) => {
      isAnswered = true
      const hasBody = call.method !== 'HEAD' && response.statusCode !== 204 && response.statusCode !== 304
      bodyOf(response, hasBody ? limit : 0, takeAnswer).then((body) => resolve(answerOf(response, body)), reject)
    })
    sent.on('error', (error) => {
      // The service ended the idle connection while the call was on its way: another one, at last a new one, takes it.
      if (sent.reusedSocket && !isAnswered && isReset(error)) resolve(send(url, options, call, limit, takeAnswer))
      else reject(error)
    })
    sent.end(call.body)
  })
}

function isReset(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

async function bodyOf(response: IncomingMessage, limit: number, takeAnswer: TakeAnswer): Promise<string> {
  // For good: until somebody reads it, and when nobody does, a reset is nobody's.
  response.on('error', () => undefined)
  try {
    // Of an answer without a body the length speaks of another.
    const said = limit === 0 ? 0 : Number(response.headers['content-length'] ?? limit)
    if (said > limit) throw OutboundErrors.ANSWER_TOO_BIG({ limit })
    await takeAnswer(Number.isSafeInteger(said) && said >= 0 ? said : limit)
  } catch (error) {
    response.destroy()
    throw error
  }
  // Its connection was reset while it waited.
  if (response.destroyed) throw response.errored ?? OutboundErrors.CLOSED()
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength
      if (bytes <= limit) chunks.push(chunk)
      else response.destroy(OutboundErrors.ANSWER_TOO_BIG({ limit }))
    })
    response.on('end', () => resolve(textOf(Buffer.concat(chunks), response.headers['content-type'])))
    response.on('error', reject)
  })
}

/** In the charset that the answer names; UTF-8 where that is none, or unknown. */
function textOf(bytes: Buffer, contentType = ''): string {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1]?.toLowerCase() ?? 'utf-8'
  if (charset === 'utf-8') return bytes.toString('utf8')
  // To a decoder of the web it is another one.
  if (charset === 'iso-8859-1') return bytes.toString('latin1')
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return bytes.toString('utf8')
  }
}

function answerOf({ statusCode = 0, statusMessage = '', rawHeaders }: IncomingMessage, body: string): HttpAnswer {
  const headers = new Map<string, { readonly name: string; readonly values: string[] }>()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2)
    const known = headers.get(name.toLowerCase())
    if (known === undefined) headers.set(name.toLowerCase(), { name, values: [value] })
    else known.values.push(value)
  }
  const pairs = [...headers.values()].map(({ name, values }) => [name, values] as const)
  return { status: statusCode, reason: statusMessage, headers: pairs, body }
}

function sealed(socket: Socket, options: ConnectionOptions): Socket {
  try {
    return tlsConnect({ socket, ...options })
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** Made once: certificates that cannot be read are told before the first connection. */
function tlsContext(certificates: OutboundCertificates | undefined): { secureContext?: SecureContext } {
  return certificates === undefined ? {} : { secureContext: createSecureContext(tlsOptions(certificates)) }
}

export function tlsOptions(certificates: OutboundCertificates | undefined) {
  const { ca, certificate, privateKey, password } = certificates ?? {}
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined ? {} : { cert: certificate }),
    ...(privateKey === undefined ? {} : { key: privateKey }),
    ...(password === undefined ? {} : { passphrase: password }),
  }
}
