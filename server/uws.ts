/** The HTTP and WebSocket server over uWebSockets.js: the only file besides its two neighbours that knows it. */
import { BlockList } from 'node:net'
import { defineErrors } from '../model/errors.ts'
import { BodyIntake, type IntakePlan } from './body-intake.ts'
import { BodyRoom } from './body-room.ts'
import type { TlsFiles } from './certificate.ts'
import {
  COMMON_HEADERS,
  type HttpHandler,
  type HttpMethod,
  type HttpReply,
  type HttpRequest,
  type HttpServer,
  type Route,
  type RouteOptions,
  type WebSocketHandler,
  type WebSocketOptions,
} from './http-server.ts'
import { loadUws, type UwsApp, type UwsBinding, type UwsTls } from './uws-binding.ts'
import { UwsExchange, type ExchangeOwner } from './uws-exchange.ts'
import { webSocketBehavior } from './uws-websocket.ts'

export const ServerErrors = defineErrors('server', {
  LISTEN_FAILED: {
    kind: 'terminal',
    status: 500,
    text: 'cannot listen on {address}:{port}: the port is in use, or the address is not one of this machine; set another with {setting}',
  },
})

export interface HttpServerOptions {
  /** Bodies over it are refused with 413 unless a route says otherwise. */
  readonly maxBodyBytes: number
  /** How much of a body is read before its route was asked who sends it; default 64 KiB. */
  readonly maxUnknownBodyBytes?: number
  /** How much of all bodies together is kept before it is known who sends them; default 64 MiB. */
  readonly maxUnknownBodiesBytes?: number
  /** Proxies whose `X-Forwarded-For` is believed; default none. */
  readonly trustedProxies?: BlockList
  /** How long `close` waits for requests under way. */
  readonly drainTimeoutMs: number
  /** Serves HTTPS and secure WebSocket alone. */
  readonly tls?: TlsFiles | undefined
  /** A handler threw: answers (once) and logs. */
  readonly onHandlerError: (error: unknown, request: HttpRequest, reply: HttpReply) => void
}

const MAX_UNKNOWN_BODY_BYTES = 65_536
const MAX_UNKNOWN_BODIES_BYTES = 64 << 20
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

const UWS_METHODS = {
  GET: 'get',
  POST: 'post',
  PUT: 'put',
  DELETE: 'del',
  OPTIONS: 'options',
  PATCH: 'patch',
  HEAD: 'head',
  ANY: 'any',
} as const

export class UwsServer implements HttpServer, ExchangeOwner {
  readonly trustedProxies: BlockList
  private readonly declared: Route[] = []
  private readonly binding: UwsBinding
  /** The newest takes in new connections; with TLS those before it go on with what they have. */
  private readonly apps: UwsApp[] = []
  /**
   * With TLS: takes in all connections, and hands them on. It is one with TLS too, though it never shows its certificate: uWS makes
   * room for a connection by the kind of the app that takes it in, and TLS writes over the end of one made for plain HTTP.
   */
  private readonly acceptor: UwsApp | undefined
  /** What each app is told: routes, in their order. */
  private readonly registrations: ((app: UwsApp) => void)[] = []
  private readonly options: HttpServerOptions
  private readonly unknownBodies: BodyRoom
  private listenSocket: unknown
  private inFlight = 0
  private drained: (() => void) | undefined
  private closing: Promise<void> | undefined

  /** Throws BINDING_MISSING where the install step did not run. */
  constructor(options: HttpServerOptions) {
    this.options = options
    this.unknownBodies = new BodyRoom(options.maxUnknownBodiesBytes ?? MAX_UNKNOWN_BODIES_BYTES)
    this.trustedProxies = options.trustedProxies ?? new BlockList()
    this.binding = loadUws()
    this.acceptor = options.tls && this.binding.SSLApp(uwsTls(options.tls))
    this.addApp(options.tls)
  }

  /** New connections see this certificate; those that are there go on. Throws where the files are no good, and changes nothing then. */
  replaceCertificate(tls: TlsFiles): void {
    if (this.acceptor === undefined) throw new Error('the server was not started with a certificate')
    const before = this.apps.at(-1)
    this.addApp(tls)
    if (before !== undefined) this.acceptor.removeChildAppDescriptor(before.getDescriptor())
  }

  get routes(): readonly Route[] {
    return this.declared
  }

  /** Requests whose answer is not sent yet. */
  get requestsInFlight(): number {
    return this.inFlight
  }

  /** What bodies hold whose senders are not known yet. */
  get unknownBodiesBytes(): number {
    return this.unknownBodies.bytes
  }

  /** Bodies that were given up to make room for others. Only grows. */
  get bodiesRefused(): number {
    return this.unknownBodies.evicted
  }

  get isClosing(): boolean {
    return this.closing !== undefined
  }

  ended(): void {
    this.inFlight--
    if (this.inFlight === 0) this.drained?.()
  }

  route(method: HttpMethod | 'ANY', pattern: string, handler: HttpHandler, options: RouteOptions = {}): void {
    this.declared.push({ method, pattern })
    const parameterCount = pattern.split('/').filter((segment) => segment.startsWith(':')).length
    const headerNames = options.headers ?? COMMON_HEADERS
    const withAddress = options.clientAddress ?? false
    const { admit } = options
    const plan: IntakePlan = {
      limit: options.maxBodyBytes ?? this.options.maxBodyBytes,
      freeBytes: this.options.maxUnknownBodyBytes ?? MAX_UNKNOWN_BODY_BYTES,
      admit: admit && ((exchange) => admit(exchange, exchange)),
      room: this.unknownBodies,
      whole: (exchange) => this.handle(handler, exchange),
      tooLarge: refuseBody,
      failed: (exchange, error) => this.options.onHandlerError(error, exchange, exchange),
    }
    const take: Parameters<UwsApp['any']>[1] = (response, request) => {
      const declaredLength = Number(request.getHeader('content-length'))
      const exchange = new UwsExchange(response, request, parameterCount, headerNames, this, withAddress)
      this.inFlight++
      if (!METHODS_WITH_BODY.has(exchange.method)) return this.handle(handler, exchange)
      new BodyIntake(response, exchange, plan).begin(declaredLength)
    }
    this.register(method, pattern, take)
    if (method === 'GET') this.register('HEAD', pattern, take)
  }

  webSocket(pattern: string, handler: WebSocketHandler, options: WebSocketOptions): void {
    this.tellApps((app) => app.ws(pattern, webSocketBehavior(handler, options)))
  }

  listen(address: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const app = this.acceptor ?? this.apps[0]
      app?.listen(address, port, this.binding.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
        if (socket === false || socket === null || socket === undefined) {
          reject(ServerErrors.LISTEN_FAILED({ address, port, setting: 'HTTP_BIND_PORT or HTTP_BIND_ADDRESS' }))
          return
        }
        this.listenSocket = socket
        resolve(this.binding.us_socket_local_port(socket))
      })
    })
  }

  close(): Promise<void> {
    return (this.closing ??= this.drainAndClose())
  }

  private async drainAndClose(): Promise<void> {
    if (this.listenSocket !== undefined) this.binding.us_listen_socket_close(this.listenSocket)
    if (this.inFlight > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, this.options.drainTimeoutMs)
        this.drained = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    // The last answer is written when the turn that sent it ends: closing in the same turn would cut it off.
    await new Promise((resolve) => setImmediate(resolve))
    for (const app of this.apps) app.close()
    this.acceptor?.close()
  }

  private addApp(tls: TlsFiles | undefined): void {
    const app = tls === undefined ? this.binding.App() : this.binding.SSLApp(uwsTls(tls))
    for (const register of this.registrations) register(app)
    this.apps.push(app)
    this.acceptor?.addChildAppDescriptor(app.getDescriptor())
  }

  private tellApps(register: (app: UwsApp) => void): void {
    this.registrations.push(register)
    for (const app of this.apps) register(app)
  }

  private register(method: HttpMethod | 'ANY', pattern: string, handler: Parameters<UwsApp['any']>[1]): void {
    if (method === 'TRACE' || method === 'CONNECT') throw new Error(`${method} is not served`)
    this.tellApps((app) => app[UWS_METHODS[method]](pattern, handler))
  }

  private handle(handler: HttpHandler, exchange: UwsExchange): void {
    try {
      handler(exchange, exchange)
    } catch (error) {
      this.options.onHandlerError(error, exchange, exchange)
    }
  }
}

function refuseBody(exchange: UwsExchange, limit: number): void {
  exchange.send(413, 'application/json', `"Payload size exceeds the limit of ${limit} bytes"`)
}

function uwsTls({ certFile, keyFile, keyPassword }: TlsFiles): UwsTls {
  const files = { cert_file_name: certFile, key_file_name: keyFile }
  return keyPassword === undefined ? files : { ...files, passphrase: keyPassword }
}
