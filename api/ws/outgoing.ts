/**
 * Frames on their way to one client. A client that reads slowly has a bounded number of frames and of bytes kept for it; over a bound
 * it is closed, as the reference does, and loses nothing silently.
 */
import type { WebSocketConnection } from '../../server/http-server.ts'

/** Bytes in the socket's own buffer from which on frames wait here: one look at them tells how slow a client is. */
const SOCKET_BUFFER_BYTES = 256 * 1024

export interface OutgoingLimits {
  readonly pendingFrames: number
  /** Of frames that wait here, as UTF-8: what the socket has taken has a bound of its own. */
  readonly pendingBytes: number
}

export class Outgoing {
  private readonly connection: WebSocketConnection
  private limits: OutgoingLimits
  private readonly overflow: () => void
  private waiting: string[] = []
  private next = 0
  private waitingBytes = 0

  /** `overflow` is called once the bound is passed. */
  constructor(connection: WebSocketConnection, limits: OutgoingLimits, overflow: () => void) {
    this.connection = connection
    this.limits = limits
    this.overflow = overflow
  }

  /** 0 leaves the bound as it is. */
  keepAtMost(frames: number): void {
    const { pendingFrames } = this.limits
    if (frames > 0) this.limits = { ...this.limits, pendingFrames: Math.min(frames, pendingFrames) }
  }

  /** Whether frames wait for the client to read. */
  get isWaiting(): boolean {
    return this.next < this.waiting.length || this.connection.pendingBytes >= SOCKET_BUFFER_BYTES
  }

  send(frame: string): void {
    if (!this.connection.open) return
    if (this.waiting.length === 0 && this.connection.pendingBytes < SOCKET_BUFFER_BYTES) {
      if (!this.connection.send(frame)) this.overflow()
      return
    }
    const { pendingFrames, pendingBytes } = this.limits
    const bytes = this.waitingBytes + Buffer.byteLength(frame)
    if (this.waiting.length - this.next >= pendingFrames || bytes > pendingBytes) return this.overflow()
    this.waiting.push(frame)
    this.waitingBytes = bytes
  }

  /** The socket has room again. */
  drain(): void {
    while (this.next < this.waiting.length && this.connection.pendingBytes < SOCKET_BUFFER_BYTES) {
      const frame = this.waiting[this.next] ?? ''
      // Nothing keeps what was sent.
      this.waiting[this.next++] = ''
      this.waitingBytes -= Buffer.byteLength(frame)
      if (!this.connection.send(frame)) return this.overflow()
    }
    if (this.next < this.waiting.length) return
    this.waiting = []
    this.next = 0
  }
  /** Lets go of what waits. */
  clear(): void {
    this.waiting = []
    this.next = 0
    this.waitingBytes = 0
  }
}
