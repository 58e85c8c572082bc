/** Which settled frames of a stream stay to be read again: so many bytes of them, and none for longer than so long. */
import type { Clock } from '../../model/clock.ts'

/** Frames are counted in pieces: this many fit into the bound. */
const PIECES = 64

interface Piece {
  /** Frames below it are settled. */
  end: number
  bytes: number
  readonly sinceMs: number
}

export class Retention {
  private readonly clock: Clock
  private readonly maxMs: number
  private readonly maxBytes: number
  private pieces: Piece[] = []
  private bytes = 0
  private removable = 0

  constructor(clock: Clock, maxMs: number, maxBytes: number) {
    this.clock = clock
    this.maxMs = maxMs
    this.maxBytes = maxBytes
  }

  /** Everything below `end` is settled, `bytes` of it since the last time. */
  passed(end: number, bytes: number): void {
    const last = this.pieces.at(-1)
    if (last !== undefined && end <= last.end) return
    this.bytes += bytes
    const now = this.clock.monotonic()
    const isOpen = last !== undefined && last.bytes < this.maxBytes / PIECES && now - last.sinceMs < this.maxMs / PIECES
    if (isOpen) {
      last.end = end
      last.bytes += bytes
    } else this.pieces.push({ end, bytes, sinceMs: now })
  }

  /** In how long the oldest of what stays is too old; undefined where nothing stays. */
  get dueInMs(): number | undefined {
    const first = this.pieces[0]
    return first === undefined ? undefined : Math.max(0, first.sinceMs + this.maxMs - this.clock.monotonic())
  }

  /** Frames below this position need not stay. */
  get floor(): number {
    const now = this.clock.monotonic()
    for (;;) {
      const first = this.pieces[0]
      if (first === undefined || (this.bytes <= this.maxBytes && now - first.sinceMs < this.maxMs)) break
      this.pieces.shift()
      this.bytes -= first.bytes
      this.removable = first.end
    }
    return this.removable
  }
}
