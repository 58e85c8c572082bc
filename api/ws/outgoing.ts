/**
 * Frames on their way to one client. A client that reads slowly has a bounded number of frames kept for it; over the bound
 * it is closed, as the reference does, and loses nothing silently.
 */
import type { WebSocketConnection } from '../../server/http-server.ts'

/** Bytes in the socket's own buffer from which on frames wait here: one look at them tells how slow a client is. */
const SOCKET_BUFFER_BYTES = 256 * 1024

export class Outgoing {
  private readonly connection: WebSocketConnection
  private readonly frameLimit: number
  private readonly overflow: () => void
  private waiting: string[] = []
  private next = 0

  /** `overflow` is called once the bound is passed. */
  constructor(connection: WebSocketConnection, frameLimit: number, overflow: () => void) {
    this.connection = connection
    this.frameLimit = frameLimit
    this.overflow = overflow
  }

  send(frame: string): void {
    if (!this.connection.open) return
    if (this.waiting.length === 0 && this.connection.pendingBytes < SOCKET_BUFFER_BYTES) {
      if (!this.connection.send(frame)) this.overflow()
      return
    }
    if (this.waiting.length - this.next >= this.frameLimit) this.overflow()
    else this.waiting.push(frame)
  }

  /** The socket has room again. */
  drain(): void {
    while (this.next < this.waiting.length && this.connection.pendingBytes < SOCKET_BUFFER_BYTES) {
      const frame = this.waiting[this.next++]
      if (frame !== undefined && !this.connection.send(frame)) return this.overflow()
    }
    if (this.next < this.waiting.length) return
    this.waiting = []
    this.next = 0
  }
}
