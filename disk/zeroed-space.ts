/**
 * Space ahead of the writer that holds zeros already. Filled in the background, an extent at a time, and only ever an
 * improvement: where the disk refuses it, blocks are appended to the end of the file.
 */
import type { DiskFile } from './disk.ts'
import { ZEROS } from './zeros.ts'

const EXTENT_BYTES = 4 << 20

export class ZeroedSpace {
  readonly file: DiskFile
  /** Filled up to here; 0 bytes as limit switch it off. */
  private end: number
  private limit: number
  private readonly extent: number
  private filling: Promise<void> | undefined

  constructor(file: DiskFile, end: number, limit: number) {
    this.file = file
    this.end = end
    this.limit = limit
    this.extent = Math.min(EXTENT_BYTES, limit)
  }

  /** Resolves when nothing is being filled below `position`: a block may be written up to there. */
  async reserve(position: number): Promise<void> {
    if (position > this.end - this.extent / 2 && this.end < this.limit) void this.grow()
    // The zeros must not land on the block.
    if (position > this.end) await this.filling
    this.end = Math.max(this.end, position)
  }

  /** Fills one more extent, unless that is under way. */
  grow(): Promise<void> {
    if (this.limit === 0) return Promise.resolve()
    return (this.filling ??= this.fill())
  }

  /** Resolves when nothing is being filled. */
  async idle(): Promise<void> {
    await this.filling
  }

  private async fill(): Promise<void> {
    try {
      for (let written = 0; written < this.extent; written += ZEROS.length)
        await this.file.write(ZEROS.subarray(0, this.extent - written), this.end + written)
      // Durable before blocks go there: else the first of them would wait for all of it.
      await this.file.sync()
      this.end += this.extent
    } catch {
      // A full disk: there may still be room for blocks, whose own writes tell. What was taken is given back to others.
      this.limit = 0
      await this.file.truncate(this.end).catch(() => undefined)
    } finally {
      this.filling = undefined
    }
  }
}
