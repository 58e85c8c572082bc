/** Listens at a TCP port. What was not answered may not be stored: the sender sends it again. */
import { createServer, type Server, type Socket } from 'node:net'
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

export function openTcpSource(parts: Parts): Promise<Source> {
  return Promise.resolve(listenAlways(parts, (listens, failed) => new TcpPort(parts, listens, failed)))
}

class TcpPort implements Listening {
  private readonly parts: Parts
  private readonly server: Server
  private readonly connections = new Set<TcpConnection>()
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
    const connection: TcpConnection = new TcpConnection(this.parts, socket, () => {
      this.connections.delete(connection)
      shares.connections.leave(tenantId, 1)
      if (this.connections.size === 0) this.emptied()
    })
    this.connections.add(connection)
    socket.resume()
    this.checking ??= this.parts.clock.after(CHECK_MS, () => this.check())
  }

  private check(): void {
    this.checking = undefined
    const now = this.parts.clock.monotonic()
    for (const connection of this.connections) connection.check(now)
    if (this.connections.size > 0 && !this.isClosing)
      this.checking = this.parts.clock.after(CHECK_MS, () => this.check())
  }
}
