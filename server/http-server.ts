/**
 * The HTTP and WebSocket server as the rest of the project sees it: uWebSockets.js stays behind `uws.ts`.
 * Routes are declared before `listen`; the table of them is what the tests walk.
 */

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS' | 'TRACE' | 'CONNECT'

export interface HttpRequest {
  readonly method: HttpMethod
  /** Without the query, as sent (not decoded). */
  readonly path: string
  /** The raw text behind `?`, '' when there is none. */
  readonly query: string
  /** Decoded parameters of the route's pattern, in the order of the pattern. Undecodable ones are kept as they came. */
  readonly parameters: readonly string[]
  /** Lower-case name, one of the route's `headers`; '' when absent. Another name is a programming error and throws. */
  header(name: string): string
  readonly body: Buffer
  /**
   * The address the request comes from; behind a trusted proxy, the one it names. Where the route's options do not ask for it, reading it is a
   * programming error and throws.
   */
  readonly clientAddress: string
  /** Whether the client is on this machine, and nobody says that the request was forwarded; to be asked for like `clientAddress`. */
  readonly isLocal: boolean
}

export interface HttpReply {
  /** False once the client went away or the answer was sent. Sending to a client that went away is a no-op. */
  readonly open: boolean
  /** Calls back if the client goes away before the answer is sent: for answers that wait (long polls). */
  onClosed(listener: () => void): void
  /**
   * Sends the whole answer; a second call is a programming error and throws. `left` is for large answers: they go at the pace of the client, without
   * a copy, and it is called once when all was handed to the system or the client went away.
   */
  send(
    status: number,
    contentType: string | undefined,
    body: string | Uint8Array,
    headers?: Readonly<Record<string, string>>,
    left?: () => void,
  ): void
}

/** The headers a handler may read unless its route names others: reading each one costs. */
export const COMMON_HEADERS: readonly string[] = [
  'x-authorization',
  'authorization',
  'content-type',
  'accept',
  'origin',
  'if-none-match',
]

export interface RouteOptions {
  /** Lower-case names of the headers the handler reads; default {@link COMMON_HEADERS}. */
  readonly headers?: readonly string[]
  /** Largest body in bytes; over it the answer is 413 and the connection closes. Default: the server's. */
  readonly maxBodyBytes?: number
  /**
   * Whether the sender of this request may send a body of more than the server's `maxUnknownBodyBytes`, asked before more than those are read.
   * False: it has answered the request. Never rejects. Absent: anybody may.
   */
  readonly admit?: (request: HttpRequest, reply: HttpReply) => Promise<boolean>
  /** Whether the handler reads `clientAddress` or `isLocal`. */
  readonly clientAddress?: boolean
}

export type HttpHandler = (request: HttpRequest, reply: HttpReply) => void

export interface Route {
  readonly method: HttpMethod | 'ANY'
  /** Segments, `:name` for parameters, `/*` at the end for the rest. */
  readonly pattern: string
}

export interface WebSocketConnection {
  /** Bytes waiting to be sent. */
  readonly pendingBytes: number
  /** False when the message was dropped because the connection is over its bound. */
  send(text: string): boolean
  ping(): void
  close(code: number, reason: string): void
  readonly open: boolean
}

export interface WebSocketHandler {
  opened(connection: WebSocketConnection, path: string, query: string): void
  /** A text message, or undefined for a binary one. */
  message(connection: WebSocketConnection, text: string | undefined): void
  pong(connection: WebSocketConnection): void
  /** There is room again after `send` filled the buffer. */
  drained(connection: WebSocketConnection): void
  closed(connection: WebSocketConnection, code: number): void
}

export interface WebSocketOptions {
  readonly maxMessageBytes: number
  readonly maxPendingBytes: number
}

export interface HttpServer {
  /** What is served for `GET` answers `HEAD` too. */
  route(method: HttpMethod | 'ANY', pattern: string, handler: HttpHandler, options?: RouteOptions): void
  webSocket(pattern: string, handler: WebSocketHandler, options: WebSocketOptions): void
  /** Every route declared so far. */
  readonly routes: readonly Route[]
  /** Resolves with the real port; rejects LISTEN_FAILED (address in use, not allowed). */
  listen(address: string, port: number): Promise<number>
  /** Stops accepting, lets requests under way end (bounded), closes sockets. Idempotent. */
  close(): Promise<void>
}
