/** Listens at a TCP port. What was not answered may not be stored: the sender sends it again. */
import { createServer, type Server, type Socket } from 'node:net'
import { TLSSocket, type SecureContext } from 'node:tls'
import type { TimerHandle } from '../../../model/clock.ts'
import { networkTest } from '../../outbound/address-guard.ts'
import type { Source, SourceParts } from '../define-integration.ts'
import { IntegrationErrors } from '../errors.ts'
import { listenAlways, type Listening } from './listener.ts'
import type { TcpConfiguration } from './tcp-configuration.ts'
import { TcpConnection } from './tcp-connection.ts'

type Parts = SourceParts<TcpConfiguration>

const CHECK_MS = 1000
const DRAIN_MS = 3000
/** What a sender may take to shake hands. */
const HANDSHAKE_MS = 10_000

export function openTcpSource(parts: Parts): Promise<Source> {
  return Promise.resolve(listenAlways(parts, (listens, failed) => new TcpPort(parts, listens, failed)))
}

class TcpPort implements Listening {
  private readonly parts: Parts
  private readonly server: Server
  private readonly connections = new Set<TcpConnection>()
  /** Those that shake hands, with when they began, monotonic ms. */
  private readonly handshakes = new Map<Socket, number>()
  private readonly maySend: (address: string) => boolean
  private checking: TimerHandle | undefined
  private isClosing = false
  private emptied: () => void = () => undefined

  constructor(parts: Parts, listens: () => void, failed: (reason: Error) => void) {
    const { address: host, port, senders } = parts.configuration
    this.parts = parts
    this.maySend = senders.length === 0 ? () => true : networkTest(senders)
    // A sender that says that it has sent all still hears the answers.
    this.server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => this.came(socket))
      .on('error', failed)
      .listen({ host, port }, listens)
  }

  /** Resolves when what was taken is answered, or could not be within three seconds. */
  async close(): Promise<void> {
    this.isClosing = true
    const closed = new Promise<void>((resolve) => {
      this.server.close(() => resolve())
    })
    for (const socket of this.handshakes.keys()) socket.destroy()
    for (const connection of this.connections) connection.drain()
    if (this.connections.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = this.parts.clock.after(DRAIN_MS, resolve)
        this.emptied = () => {
          timer.cancel()
          resolve()
        }
      })
    }
    for (const connection of this.connections) connection.end()
    this.checking?.cancel()
    await closed
  }

  private came(socket: Socket): void {
    const { shares, tenantId, connected } = this.parts
    if (this.isClosing || !this.maySend(socket.remoteAddress ?? '')) return void socket.destroy()
    if (shares.connections.enter(tenantId, 1) !== undefined) {
      connected(true, IntegrationErrors.TOO_MANY_CONNECTIONS())
      return void socket.destroy()
    }
    const { secureContext, configuration } = this.parts
    if (!configuration.tls) this.begin(socket)
    else if (secureContext !== undefined) this.shakeHands(socket, secureContext())
    this.checking ??= this.parts.clock.after(CHECK_MS, () => this.check())
  }

  /** Whose place among the connections is taken. */
  private begin(socket: Socket): void {
    const connection: TcpConnection = new TcpConnection(this.parts, socket, () => {
      this.connections.delete(connection)
      this.leave()
      if (this.connections.size === 0) this.emptied()
    })
    this.connections.add(connection)
    socket.resume()
  }

  private leave(): void {
    this.parts.shares.connections.leave(this.parts.tenantId, 1)
  }

  private shakeHands(raw: Socket, secureContext: SecureContext): void {
    const socket = new TLSSocket(raw, { isServer: true, secureContext })
    this.handshakes.set(raw, this.parts.clock.monotonic())
    // Whatever happens to it below is told by the one above.
    raw.on('error', () => undefined)
    const failed = (): void => {
      if (!this.handshakes.delete(raw)) return
      socket.destroy()
      raw.destroy()
      this.leave()
    }
    socket.on('error', failed).once('close', failed)
    raw.once('close', failed)
    socket.once('secure', () => {
      if (!this.handshakes.delete(raw)) return
      if (!this.isClosing) return this.begin(socket)
      socket.destroy()
      this.leave()
    })
    raw.resume()
  }

  private check(): void {
    this.checking = undefined
    const now = this.parts.clock.monotonic()
    for (const connection of this.connections) connection.check(now)
    for (const [socket, began] of this.handshakes) if (now - began > HANDSHAKE_MS) socket.destroy()
    if (this.connections.size + this.handshakes.size > 0 && !this.isClosing)
      this.checking = this.parts.clock.after(CHECK_MS, () => this.check())
  }
}
