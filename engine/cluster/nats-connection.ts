/**
 * The one connection of a process to NATS: link, membership and change feed share it. Once it stands it is renewed for ever;
 * what was asked while it was away fails and is tried again by who asked, and nothing is kept back in the client.
 */
import { readFileSync } from 'node:fs'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import {
  connect,
  credsAuthenticator,
  nkeyAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node'
import type { Clock } from '../../model/clock.ts'
import { defineErrors, errorText } from '../../model/errors.ts'
import { tlsFault } from '../../model/tls.ts'
import { parseNatsAddress, type NatsAddress } from './nats-address.ts'

export const NatsErrors = defineErrors('nats', {
  UNREACHABLE: {
    kind: 'retryable',
    status: 503,
    text: 'no NATS server answers at {servers} within {waitMs} ms: {reason}',
    isOutage: true,
  },
  REFUSED: {
    kind: 'terminal',
    status: 500,
    text: 'NATS at {servers} refuses the login: {reason}. Correct the login in NATS_URL, or NATS_CREDS_FILE',
  },
  UNTRUSTED: {
    kind: 'terminal',
    status: 500,
    text: 'there is no trusted TLS connection to NATS at {servers}: {reason}. Correct NATS_URL, NATS_TLS_CA_FILE or NATS_TLS_CERT_FILE',
  },
})

/** Paths of PEM files; undefined: as the system and the servers have it. */
export interface NatsTls {
  /** The authority that the servers' certificates are of. With it nothing but TLS will do. */
  readonly caFile?: string | undefined
  /** The client's own certificate and key, for servers that ask for one. Read again for each connection. */
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
}

export interface NatsOptions {
  /** As {@link parseNatsAddress} reads it: `tls://` refuses servers without TLS, `nats://` takes it where it is offered. */
  readonly servers: string
  /** A credentials file (JWT and nkey), or one with the nkey's seed alone; read again for each connection. */
  readonly credsFile?: string | undefined
  readonly tls?: NatsTls | undefined
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
 * Connects, trying again for as long as `connectWaitMs` says. Throws `nats.UNREACHABLE` where no server answers in that time; at once
 * `nats.REFUSED` where one does not know the login, and `nats.UNTRUSTED` where TLS is asked for and one does not have it, or its
 * certificate is not to be trusted.
 */
export async function connectNats(options: NatsOptions): Promise<NatsLine> {
  const waitMs = options.connectWaitMs ?? DEFAULT_CONNECT_WAIT_MS
  const deadline = options.clock.monotonic() + waitMs
  const address = parseNatsAddress(options.servers)
  for (;;) {
    try {
      return new Line(await connect(connectionOptions(options, address)))
    } catch (error) {
      const reason = errorText(error)
      const fields = { servers: address.servers.join(','), waitMs, reason }
      if (/authorization|authentication/i.test(reason)) throw NatsErrors.REFUSED(fields, error)
      const untrusted = reason === NO_TLS_THERE ? 'it does not offer TLS' : tlsFault(error)
      if (untrusted !== undefined) throw NatsErrors.UNTRUSTED({ ...fields, reason: untrusted }, error)
      if (options.clock.monotonic() >= deadline) {
        throw NatsErrors.UNREACHABLE({ ...fields, reason: reason === SILENT ? SILENT_REASON : reason }, error)
      }
    }
    await new Promise<void>((resolve) => void options.clock.after(RETRY_MS, resolve))
  }
}

const NO_TLS_THERE = "server does not support 'tls'"
const SILENT = 'timeout'
/** With TLS 1.3 a server refuses a client without a certificate after the handshake, and the client of NATS does not tell. */
const SILENT_REASON = `${SILENT} (servers that ask for a client certificate say no more than that: NATS_TLS_CERT_FILE)`

function connectionOptions(options: NatsOptions, address: NatsAddress): NodeConnectionOptions {
  const { credsFile } = options
  const { login } = address
  const tls = tlsOptions(options, address)
  return {
    // The client knows no login in an address: it would take a part of it for the port.
    servers: [...address.servers],
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
    ...(login === undefined
      ? {}
      : 'token' in login
        ? { token: login.token }
        : { user: login.user, pass: login.password }),
    ...(credsFile === undefined ? {} : { authenticator: authenticatorOf(credsFile) }),
    ...(tls === undefined ? {} : { tls }),
  }
}

/** Undefined where TLS is the servers' choice: any options would make it a must. */
function tlsOptions({ tls = {} }: NatsOptions, { needsTls, hosts }: NatsAddress) {
  const { caFile, certFile, keyFile } = tls
  if (!needsTls && caFile === undefined && certFile === undefined) return undefined
  return {
    ...(caFile === undefined ? {} : { caFile }),
    ...(certFile === undefined ? {} : { certFile }),
    ...(keyFile === undefined ? {} : { keyFile }),
    // The client gives `localhost` as the name of a server that it knows by its IP address: right ones would be refused, and any
    // certificate for localhost be taken. Here it must be for one of the hosts that are configured.
    checkServerIdentity: (_: string, certificate: PeerCertificate): Error | undefined => {
      const faults = hosts.map((host) => checkServerIdentity(host, certificate))
      return faults.includes(undefined) ? undefined : faults[0]
    },
  }
}

/** A file that was renewed counts from the next connection on. */
function authenticatorOf(file: string) {
  let text = readFileSync(file, 'utf8').trim()
  const isSeed = NKEY_SEED.test(text)
  const newest = (): Buffer => {
    try {
      text = readFileSync(file, 'utf8').trim()
    } catch {
      // Being renewed just now: an error here would end the connection for good, and what was read last may still do.
    }
    return Buffer.from(text)
  }
  return isSeed ? nkeyAuthenticator(newest) : credsAuthenticator(newest)
}

/** Of a user: https://docs.nats.io/running-a-nats-service/configuration/securing_nats/auth_intro/nkey_auth */
const NKEY_SEED = /^SU[A-Z2-7]{56}$/

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
