/**
 * The bytes of a body as they come in. Each byte is copied at most three times in all, however small the chunks: room doubles when it is
 * full. A sender may announce much and send little, so no room is made for what has not come.
 */
const FIRST_ROOM = 4096

export class RequestBody {
  private room: Buffer | undefined
  private used = 0

  get size(): number {
    return this.used
  }

  /** The memory it takes. */
  get capacity(): number {
    return this.room?.length ?? 0
  }

  /** Copies: the chunk's memory is the server's own. */
  add(chunk: ArrayBuffer): void {
    const { byteLength } = chunk
    if (byteLength === 0) return
    const needed = this.used + byteLength
    if (this.room === undefined || needed > this.room.length) this.grow(needed)
    this.room?.set(new Uint8Array(chunk), this.used)
    this.used = needed
  }

  /** What came, without a copy. */
  whole(): Buffer {
    return this.room?.subarray(0, this.used) ?? Buffer.alloc(0)
  }

  drop(): void {
    this.room = undefined
    this.used = 0
  }

  private grow(needed: number): void {
    // A body in one chunk, as nearly all are, gets exactly its size.
    const capacity = this.room === undefined ? needed : Math.max(FIRST_ROOM, needed, this.room.length * 2)
    const larger = Buffer.allocUnsafeSlow(capacity)
    if (this.room !== undefined) larger.set(this.room.subarray(0, this.used))
    this.room = larger
  }
}
