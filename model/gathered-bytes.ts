/**
 * The beginning of something that comes in pieces. The room for it doubles as it fills, so that each byte is copied twice in the mean, also where
 * they come one by one.
 */
export class GatheredBytes {
  private readonly mostBytes: number
  private room: Buffer
  private length: number

  /** Keeps the first piece itself. `mostBytes`: as long as this is enough the room is not larger. */
  constructor(first: Buffer, mostBytes: number) {
    this.room = first
    this.length = first.length
    this.mostBytes = mostBytes
  }

  /** All that came so far; stays as it is when more comes. */
  get bytes(): Buffer {
    return this.room.subarray(0, this.length)
  }

  /** What it takes, which is more than what came. */
  get roomBytes(): number {
    return this.room.length
  }

  /** Copies the piece. */
  add(piece: Buffer): void {
    const length = this.length + piece.length
    if (length > this.room.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, Math.min(this.mostBytes, this.room.length * 2)))
      this.room.copy(larger, 0, 0, this.length)
      this.room = larger
    }
    piece.copy(this.room, this.length)
    this.length = length
  }
}
