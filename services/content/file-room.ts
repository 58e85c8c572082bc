/**
 * What files in memory hold together, from before they are read until their answers have left or have nobody to go to: one bound for the process,
 * and a part of it for callers whom nobody knows, so that these can not keep out the others.
 */
import { ContentErrors } from './errors.ts'

export interface HeldBytes {
  readonly bytes: Buffer
  /** Gives the room back; to be called once the bytes are in no one's hands any more. */
  readonly release: () => void
}

const MAX_BYTES = 256 << 20
/** Of all of it, for callers without a login. */
const UNKNOWN_PART = 1 / 8

export class FileRoom {
  private readonly maxBytes: number
  private readonly held = { known: 0, unknown: 0 }

  constructor(maxBytes = MAX_BYTES) {
    this.maxBytes = maxBytes
  }

  get bytes(): number {
    return this.held.known + this.held.unknown
  }

  /** A file larger than the share of unknown callers goes to them alone. Throws `FILES_BUSY`. */
  async hold(bytes: number, who: 'known' | 'unknown', read: () => Promise<Buffer>): Promise<HeldBytes> {
    const hasShare =
      who === 'known' || this.held.unknown === 0 || this.held.unknown + bytes <= this.maxBytes * UNKNOWN_PART
    if (!hasShare || (this.bytes > 0 && this.bytes + bytes > this.maxBytes)) throw ContentErrors.FILES_BUSY()
    this.held[who] += bytes
    let isHeld = true
    const release = (): void => {
      if (isHeld) this.held[who] -= bytes
      isHeld = false
    }
    try {
      return { bytes: await read(), release }
    } catch (error) {
      release()
      throw error
    }
  }
}
