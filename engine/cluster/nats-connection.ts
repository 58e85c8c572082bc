/**
 * The one connection of a process to NATS: link, membership and change feed share it. Once it stands it is renewed for ever;
 * what was asked while it was away fails and is tried again by who asked, and nothing is kept back in the client.
 */
import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node'
import type { Clock } from '../../model/clock.ts'
import { defineErrors, errorText } from '../../model/errors.ts'

export const NatsErrors = defineErrors('nats', {
  UNREACHABLE: {
    kind: 'retryable',
    status: 503,
    text: 'no NATS server answers at {servers} within {waitMs} ms: {reason}',
    isOutage: true,
  },
  REFUSED: { kind: 'terminal', status: 500, text: 'NATS at {servers} refuses the login: {reason}' },
})

/** One of the ways in which NATS knows a client; none where the servers ask for nothing. */
export interface NatsCredentials {
  readonly user?: string | undefined
  readonly password?: string | undefined
  readonly token?: string | undefined
}

export interface NatsOptions {
  /** `nats://host:port` or `nats://user:password@host:port`, more than one with commas between: all take the same login. */
  readonly servers: string
  readonly credentials?: NatsCredentials | undefined
  /** Paths of PEM files; undefined: as the server wants it. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string } | undefined
  /** What the servers' monitoring calls this process. */
  readonly name: string
  /** How long the first connection may take before {@link connectNats} gives up. Default 10 s. */
  readonly connectWaitMs?: number
  readonly clock: Clock
}

export interface NatsLine {
  readonly connection: NatsConnection
  readonly connected: boolean
  /** Calls back after each change of `connected`; returns the way to stop listening. */
  onConnection(listener: (connected: boolean) => void): () => void
  /** Sends what waits and closes. Idempotent. */
  close(): Promise<void>
}

const DEFAULT_CONNECT_WAIT_MS = 10_000
const RETRY_MS = 200
/** A server that answers no ping for two of these is gone, though its socket stands (a pulled cable, a stopped process). */
const PING_MS = 3000

/**
 * Connects, trying again for as long as `connectWaitMs` says. Throws `nats.UNREACHABLE` where no server answers in that time, and
 * `nats.REFUSED` at once where one does not know the login.
 */
export async function connectNats(options: NatsOptions): Promise<NatsLine> {
  const waitMs = options.connectWaitMs ?? DEFAULT_CONNECT_WAIT_MS
  const deadline = options.clock.monotonic() + waitMs
  for (;;) {
    try {
      return new Line(await connect(connectionOptions(options)))
    } catch (error) {
      const reason = errorText(error)
      const fields = { servers: withoutSecrets(options.servers), waitMs, reason }
      if (/authorization|authentication/i.test(reason)) throw NatsErrors.REFUSED(fields, error)
      if (options.clock.monotonic() >= deadline) throw NatsErrors.UNREACHABLE(fields, error)
    }
    await new Promise<void>((resolve) => void options.clock.after(RETRY_MS, resolve))
  }
}

function connectionOptions(options: NatsOptions): NodeConnectionOptions {
  const { tls } = options
  const credentials = options.credentials ?? loginOf(options.servers)
  return {
    // The client knows no login in an address: it would take a part of it for the port.
    servers: withoutSecrets(options.servers)
      .split(',')
      .map((server) => server.trim())
      .filter((server) => server !== ''),
    name: options.name,
    maxReconnectAttempts: -1,
    // A server that starts again may know its users a moment later.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: RETRY_MS,
    pingInterval: PING_MS,
    maxPingOut: 2,
    timeout: 5000,
    // A stack trace for each request costs more than the request.
    noAsyncTraces: true,
    ...(credentials?.user === undefined ? {} : { user: credentials.user, pass: credentials.password ?? '' }),
    ...(credentials?.token === undefined ? {} : { token: credentials.token }),
    ...(tls === undefined ? {} : { tls }),
  }
}

class Line implements NatsLine {
  readonly connection: NatsConnection
  private isConnected = true
  private readonly listeners = new Set<(connected: boolean) => void>()
  private closing: Promise<void> | undefined

  constructor(connection: NatsConnection) {
    this.connection = connection
    void this.watch()
  }

  get connected(): boolean {
    return this.isConnected
  }

  onConnection(listener: (connected: boolean) => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  close(): Promise<void> {
    return (this.closing ??= this.drain())
  }

  private async drain(): Promise<void> {
    // A drain waits for an answer that a server which is away does not give.
    if (this.isConnected && !this.connection.isClosed()) await this.connection.drain().catch(() => undefined)
    await this.connection.close()
  }

  private async watch(): Promise<void> {
    for await (const { type } of this.connection.status()) {
      if (type === 'disconnect' || type === 'close') this.turn(false)
      else if (type === 'reconnect') this.turn(true)
    }
    this.turn(false)
  }

  private turn(connected: boolean): void {
    if (this.isConnected === connected) return
    this.isConnected = connected
    for (const listener of [...this.listeners]) listener(connected)
  }
}

/** The servers as they may stand in a log: without user and password. */
function withoutSecrets(servers: string): string {
  return servers.replace(/\/\/[^@,/]*@/g, '//')
}

/** The login of the first address that has one. */
function loginOf(servers: string): NatsCredentials | undefined {
  const [, user, password] = /\/\/([^:@,/]*)(?::([^@,/]*))?@/.exec(servers) ?? []
  if (user === undefined) return undefined
  return { user: decodeURIComponent(user), password: decodeURIComponent(password ?? '') }
}
