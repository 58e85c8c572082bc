/**
 * What bodies hold together whose senders are not known yet: one bound in bytes for all connections, because each small bound alone does not
 * hold back somebody with many connections. Who holds longest makes room: a body takes milliseconds to come, or somebody keeps it back.
 */

export interface BodyHolder {
  /** Gives up its body at once, without calling back. */
  evict(): void
}

/** From this part of the room on senders are asked for before their bodies are whole, so that known ones do not count. */
const CROWDED = 0.5

export class BodyRoom {
  private readonly maxBytes: number
  /** The oldest first. */
  private readonly holders = new Map<BodyHolder, number>()
  private held = 0
  private evictions = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  get bytes(): number {
    return this.held
  }

  /** Bodies that made room. Only grows. */
  get evicted(): number {
    return this.evictions
  }

  get isCrowded(): boolean {
    return this.held > this.maxBytes * CROWDED
  }

  /** What this one holds now, in all; may evict any, this one too. */
  hold(holder: BodyHolder, bytes: number): void {
    this.held += bytes - (this.holders.get(holder) ?? 0)
    this.holders.set(holder, bytes)
    for (const oldest of this.holders.keys()) {
      if (this.held <= this.maxBytes) return
      this.release(oldest)
      this.evictions++
      oldest.evict()
    }
  }

  release(holder: BodyHolder): void {
    this.held -= this.holders.get(holder) ?? 0
    this.holders.delete(holder)
  }
}
