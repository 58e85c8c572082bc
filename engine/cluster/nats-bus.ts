/** The bus over core NATS. */
import type { NatsLine } from './nats-connection.ts'
import type { ClusterBus } from './bus.ts'

/** Bytes said since the server last answered a flush; beyond it the server is too slow for us, and what we say is lost. */
const MAX_UNCONFIRMED_BYTES = 16 * 2 ** 20
const FLUSH_AFTER_BYTES = 2 ** 20

/** The connection stays its owner's to close; `report` hears of what a listener threw, and of what could not be said. */
export function natsBus(line: NatsLine, report: (error: unknown) => void): ClusterBus {
  return new NatsBus(line, report)
}

class NatsBus implements ClusterBus {
  private readonly line: NatsLine
  private readonly report: (error: unknown) => void
  private unconfirmed = 0
  private isFlushing = false

  constructor(line: NatsLine, report: (error: unknown) => void) {
    this.line = line
    this.report = report
  }

  get connected(): boolean {
    return this.line.connected
  }

  onConnection(listener: (connected: boolean) => void): () => void {
    return this.line.onConnection(listener)
  }

  publish(subject: string, body: string): boolean {
    const { connection } = this.line
    if (!this.line.connected || connection.isClosed() || connection.isDraining()) return false
    const bytes = Buffer.from(body)
    if (this.unconfirmed + bytes.length > MAX_UNCONFIRMED_BYTES) return false
    if (bytes.length > (connection.info?.max_payload ?? 0)) return false
    try {
      connection.publish(subject, bytes)
    } catch (error) {
      // No subject, or closed just now.
      this.report(error)
      return false
    }
    this.unconfirmed += bytes.length
    if (this.unconfirmed >= FLUSH_AFTER_BYTES) void this.confirm()
    return true
  }

  subscribe(subject: string, onMessage: (body: string) => void): () => void {
    const subscription = this.line.connection.subscribe(subject, {
      callback: (error, message) => {
        if (error !== null) return this.report(error)
        try {
          onMessage(Buffer.from(message.data).toString())
        } catch (thrown) {
          this.report(thrown)
        }
      },
    })
    return () => {
      if (!subscription.isClosed()) subscription.unsubscribe()
    }
  }

  async flush(): Promise<void> {
    await this.line.connection.flush()
  }

  private async confirm(): Promise<void> {
    if (this.isFlushing) return
    this.isFlushing = true
    const bytes = this.unconfirmed
    try {
      await this.line.connection.flush()
      this.unconfirmed -= bytes
    } catch {
      // The connection was lost, and with it all that was on its way.
      this.unconfirmed = 0
    } finally {
      this.isFlushing = false
    }
    if (this.unconfirmed >= FLUSH_AFTER_BYTES) void this.confirm()
  }
}
