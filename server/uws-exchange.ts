/** One HTTP request and its answer over uWebSockets.js, whose own objects are only valid inside its callbacks. */
import type { BlockList } from 'node:net'
import { clientOf, type Client } from './client-address.ts'
import type { HttpMethod, HttpReply, HttpRequest } from './http-server.ts'
import type { UwsRequest, UwsResponse } from './uws-binding.ts'

export const NO_BODY = Buffer.alloc(0)

const REASONS: Readonly<Record<number, string>> = {
  200: '200 OK',
  201: '201 Created',
  204: '204 No Content',
  302: '302 Found',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  408: '408 Request Timeout',
  409: '409 Conflict',
  413: '413 Payload Too Large',
  415: '415 Unsupported Media Type',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
  507: '507 Insufficient Storage',
}

/** The server as an exchange sees it. */
export interface ExchangeOwner {
  /** Answers end their connections: who sends one request after the other would hold up the close. */
  readonly isClosing: boolean
  readonly trustedProxies: BlockList
  /** Called once, at the answer or the abort. */
  ended(): void
}

export class UwsExchange implements HttpRequest, HttpReply {
  readonly method: HttpMethod
  readonly path: string
  readonly query: string
  readonly parameters: readonly string[]
  body: Buffer = NO_BODY
  /** Its body did not come whole: the answer ends the connection, or what is left would be read as the next request. */
  endsConnection = false
  /** Nothing is read from its connection until it is answered. */
  isPaused = false
  /** Called when the client goes away before its body was handed over; apart from `onClosed`, which is the handler's. */
  bodyLost: (() => void) | undefined
  private readonly response: UwsResponse
  private readonly headerNames: readonly string[]
  private readonly headerValues: string[]
  private readonly owner: ExchangeOwner
  private state: 'waiting' | 'sent' | 'aborted' = 'waiting'
  private closedListener: (() => void) | undefined
  /** Of an answer that is on its way. */
  private leftListener: (() => void) | undefined
  private readonly client: Client | undefined

  /** Reads all it needs at once, since `request` dies with the callback. */
  constructor(
    response: UwsResponse,
    request: UwsRequest,
    parameterCount: number,
    headerNames: readonly string[],
    owner: ExchangeOwner,
    withAddress: boolean,
  ) {
    this.response = response
    this.headerNames = headerNames
    this.owner = owner
    this.method = request.getCaseSensitiveMethod() as HttpMethod
    this.path = request.getUrl()
    this.query = request.getQuery() ?? ''
    this.parameters = parameterCount === 0 ? [] : readParameters(request, parameterCount)
    this.headerValues = headerNames.map((name) => request.getHeader(name))
    if (withAddress) {
      const remote = Buffer.from(response.getRemoteAddressAsText()).toString('latin1')
      this.client = clientOf(remote, forwardedFor(request), owner.trustedProxies)
    }
    response.onAborted(() => this.abort())
  }

  get open(): boolean {
    return this.state === 'waiting'
  }

  get clientAddress(): string {
    return this.knownClient().address
  }

  get isLocal(): boolean {
    return this.knownClient().isLocal
  }

  header(name: string): string {
    const index = this.headerNames.indexOf(name)
    if (index < 0) throw new Error(`this route does not read the header '${name}': name it in its options`)
    return this.headerValues[index] ?? ''
  }

  onClosed(listener: () => void): void {
    if (this.state === 'aborted') listener()
    else this.closedListener = listener
  }

  send(
    status: number,
    contentType: string | undefined,
    body: string | Uint8Array,
    headers?: Readonly<Record<string, string>>,
    left?: () => void,
  ): void {
    if (this.state === 'sent') throw new Error(`a second answer to ${this.method} ${this.path}`)
    if (this.state === 'aborted') return left?.()
    this.state = 'sent'
    const endsConnection = this.endsConnection || this.owner.isClosing
    if (this.isPaused) this.response.resume()
    this.isPaused = false
    const isHead = this.method === 'HEAD'
    const inParts = left !== undefined && typeof body !== 'string' && body.length > 0 && !endsConnection && !isHead
    this.response.cork(() => {
      this.response.writeStatus(REASONS[status] ?? String(status))
      if (contentType !== undefined) this.response.writeHeader('Content-Type', contentType)
      if (headers !== undefined) {
        for (const name of Object.keys(headers)) this.response.writeHeader(name, headers[name] ?? '')
      }
      if (inParts) this.sendInParts(body, left)
      else if (isHead) this.endWithoutBody(Buffer.byteLength(body))
      else this.response.end(body, endsConnection)
    })
    if (inParts) return
    left?.()
    this.owner.ended()
  }

  /**
   * A body would be read as the next answer (RFC 9110 9.3.2). A length that uWS is told it waits for, and refuses the next request;
   * nor can it then be told to end the connection, which the close of the server ends soon after.
   */
  private endWithoutBody(length: number): void {
    this.response.writeHeader('Content-Length', String(length)).endWithoutBody()
  }

  private sendInParts(body: Uint8Array, left: () => void): void {
    this.leftListener = left
    const sendFrom = (offset: number): boolean => {
      const [isTaken, isDone] = this.response.tryEnd(body.subarray(offset), body.length)
      if (isDone) this.leave()
      return isTaken
    }
    this.response.onWritable(sendFrom)
    sendFrom(0)
  }

  private leave(): void {
    const left = this.leftListener
    if (left === undefined) return
    this.leftListener = undefined
    this.owner.ended()
    left()
  }

  /** Answers in the place of the route, which may still be about to: what it sends then is for nobody. */
  giveUp(status: number, contentType: string, body: string): void {
    this.send(status, contentType, body)
    this.state = 'aborted'
  }

  private knownClient(): Client {
    if (this.client === undefined)
      throw new Error('this route does not read the client address: name it in its options')
    return this.client
  }

  private abort(): void {
    this.leave()
    if (this.state !== 'waiting') return
    this.state = 'aborted'
    this.owner.ended()
    this.bodyLost?.()
    this.closedListener?.()
  }
}

/** Of all headers of this name, in their order: some proxies add one of their own behind what the client wrote. */
function forwardedFor(request: UwsRequest): string {
  if (request.getHeader('x-forwarded-for') === '') return ''
  const values: string[] = []
  request.forEach((name, value) => {
    if (name === 'x-forwarded-for') values.push(value)
  })
  return values.join(',')
}

function readParameters(request: UwsRequest, count: number): string[] {
  const parameters: string[] = []
  for (let index = 0; index < count; index++) parameters.push(decode(request.getParameter(index) ?? ''))
  return parameters
}

function decode(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text // Malformed escapes reach the handler as they came; it answers that nothing has such a name.
  }
}
