/**
 * Removes settled frames from their stream, many at a time. A synced server writes and syncs a note for every message that leaves a stream by an
 * ack of its own, which doubles the syncs of a frame; one purge up to a position removes all below it. Only what is settled behind a frame that is
 * not for a while is acknowledged alone.
 */
import type { Clock, TimerHandle } from '../../../model/clock.ts'

export interface FrameRemovalOptions {
  readonly clock: Clock
  /** Removes every frame up to this position. Rejects where that is not known to be done. */
  readonly purge: (position: number) => Promise<void>
  /** Removes one frame. Rejects likewise. */
  readonly acknowledge: (reply: string) => Promise<void>
}

const SWEEP_MS = 50
/** How long a settled frame waits for those before it. */
const ALONE_AFTER_MS = 1000
const AT_ONCE = 256

interface Settled {
  readonly reply: string
  readonly sinceMs: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

export class FrameRemoval {
  private readonly options: FrameRemovalOptions
  /** Positions in the order in which they were handed out, rising: from `head` on they are still in the stream. */
  private handedOut: number[] = []
  private head = 0
  private readonly settled = new Map<number, Settled>()
  private timer: TimerHandle | undefined
  private isSweeping = false
  private isOver = false

  constructor(options: FrameRemovalOptions) {
    this.options = options
  }

  handOut(position: number): void {
    this.handedOut.push(position)
  }

  /** A position before the next frame's where something stands that was not handed out: no purge takes it away. */
  guard(position: number): void {
    this.handedOut.push(position)
  }

  /** Nothing stands there. */
  release(position: number): void {
    const index = this.handedOut.indexOf(position, this.head)
    if (index >= 0) this.handedOut.splice(index, 1)
    if (this.settled.size > 0) this.sweepLater()
  }

  /** Resolves when the frame has left the stream; rejects where the reader ended before. */
  settle(position: number, reply: string): Promise<void> {
    if (this.isOver) return Promise.reject(new Error('the reader is over'))
    return new Promise((resolve, reject) => {
      const sinceMs = this.options.clock.monotonic()
      this.settled.set(position, { reply, sinceMs, resolve, reject })
      this.sweepLater()
    })
  }

  /** Nothing more is removed; what waits is rejected. */
  end(): void {
    this.isOver = true
    this.timer?.cancel()
    for (const each of this.settled.values()) each.reject(new Error('the reader is over'))
    this.settled.clear()
  }

  private sweepLater(): void {
    if (this.timer !== undefined || this.isSweeping || this.isOver) return
    this.timer = this.options.clock.after(SWEEP_MS, () => {
      this.timer = undefined
      this.isSweeping = true
      // What could not be removed stays settled, and is for the next sweep.
      void this.sweep().finally(() => {
        this.isSweeping = false
        if (this.settled.size > 0) this.sweepLater()
      })
    })
  }

  private async sweep(): Promise<void> {
    let end = this.head
    while (end < this.handedOut.length && this.settled.has(this.handedOut[end] ?? 0)) end++
    const last = this.handedOut[end - 1]
    if (end > this.head && last !== undefined) {
      try {
        await this.options.purge(last)
      } catch {
        // The server is slow or away: the next sweep, or the next reader, removes them.
        return
      }
      this.removed(end)
    }
    await this.removeAlone()
  }

  /** Everything before `end` has left the stream. */
  private removed(end: number): void {
    for (; this.head < end; this.head++) this.forget(this.handedOut[this.head] ?? 0)
    if (this.head < 1024) return
    this.handedOut = this.handedOut.slice(this.head)
    this.head = 0
  }

  private forget(position: number): void {
    this.settled.get(position)?.resolve()
    this.settled.delete(position)
  }

  private async removeAlone(): Promise<void> {
    const before = this.options.clock.monotonic() - ALONE_AFTER_MS
    const due: [number, Settled][] = []
    for (const [position, each] of this.settled) {
      if (each.sinceMs <= before) due.push([position, each])
      if (due.length === AT_ONCE) break
    }
    if (due.length === 0) return
    const removed = new Set<number>()
    await Promise.allSettled(
      due.map(async ([position, { reply }]) => {
        await this.options.acknowledge(reply)
        removed.add(position)
        this.forget(position)
      }),
    )
    // The frame before them may stay for long: what has left must not be kept in mind that long.
    this.handedOut = this.handedOut.slice(this.head).filter((position) => !removed.has(position))
    this.head = 0
  }
}
