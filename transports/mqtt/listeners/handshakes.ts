/**
 * Connections that shake hands before they say anything of MQTT. So many may be under way. Whoever says nothing gives way first; where all of
 * them speak, the newest of the address with most of them is closed: cutting off the oldest in a wave of reconnects would let nobody finish.
 */
import type { Socket } from 'node:net'
import type { Door } from './listener.ts'

export class Handshakes {
  private readonly door: Door
  /** By the client's address and port: the oldest first. */
  private readonly underWay = new Map<string, Socket>()

  constructor(door: Door) {
    this.door = door
  }

  get size(): number {
    return this.underWay.size
  }

  /** False: there is no room, and the socket is destroyed. One that closes before its end is counted as failed. */
  begin(socket: Socket): boolean {
    const isFull = this.underWay.size >= this.door.limits.maxHandshakes
    const hasPlace = (): boolean => !isFull || this.dropSilent() || this.dropOfHeaviest(socket)
    if (!this.door.hasRoom(this.underWay.size, socket.remoteAddress) || !hasPlace()) {
      socket.destroy()
      return false
    }
    const key = keyOf(socket)
    this.underWay.set(key, socket)
    socket.once('close', () => {
      if (this.underWay.get(key) !== socket) return
      this.underWay.delete(key)
      this.door.counts.failedHandshakes++
    })
    return true
  }

  /** The socket below this one, whose handshake is over; undefined where it lost its place meanwhile. */
  complete(socket: Socket): Socket | undefined {
    const key = keyOf(socket)
    const own = this.underWay.get(key)
    this.underWay.delete(key)
    return own
  }

  close(): void {
    const sockets = [...this.underWay.values()]
    this.underWay.clear()
    for (const socket of sockets) socket.destroy()
  }

  /** False where everybody has said something. */
  private dropSilent(): boolean {
    for (const [key, socket] of this.underWay) {
      if (socket.bytesRead > 0) continue
      this.door.counts.silentDropped++
      this.drop(key, socket)
      return true
    }
    return false
  }

  /**
   * The newest of the address that has most under way; false where that is this one's own. As long as one address sends a byte on each of its
   * connections, it stands in nobody's way but its own.
   */
  private dropOfHeaviest({ remoteAddress }: Socket): boolean {
    this.door.counts.overConnectionLimit++
    const counts = new Map<string | undefined, number>([[remoteAddress, 1]])
    const newest = new Map<string | undefined, readonly [key: string, socket: Socket]>()
    for (const [key, socket] of this.underWay) {
      counts.set(socket.remoteAddress, (counts.get(socket.remoteAddress) ?? 0) + 1)
      newest.set(socket.remoteAddress, [key, socket])
    }
    const [heaviest, most] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one))
    const last = newest.get(heaviest)
    if (heaviest === remoteAddress || last === undefined || most === 1) return false
    this.drop(...last)
    return true
  }

  private drop(key: string, socket: Socket): void {
    this.underWay.delete(key)
    socket.destroy()
  }
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
