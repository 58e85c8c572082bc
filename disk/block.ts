/**
 * A block: what one write of the log holds, with the checksum by which a torn or damaged one is known.
 *
 *     bytes  0–3   the mark `MLB1`, by which the next block is found behind damage
 *            4–7   CRC-32 of all that follows
 *            8–11  length of the body
 *           12–    the body
 *
 * Numbers are little-endian. A write is exactly one block, so that a power cut tears the last block or nothing.
 */
import { crc32 } from 'node:zlib'
import type { DiskFile } from './disk.ts'
import type { DamagedRange } from './events.ts'

export const BLOCK_HEADER_BYTES = 12
const MARK = Buffer.from('MLB1')
const MARK_NUMBER = MARK.readUInt32LE(0)
const WINDOW_BYTES = 1 << 20

/** Fills in the header of a block whose body stands behind it. */
export function sealBlock(block: Buffer): void {
  block.writeUInt32LE(MARK_NUMBER, 0)
  block.writeUInt32LE(block.length - BLOCK_HEADER_BYTES, 8)
  block.writeUInt32LE(crc32(block.subarray(8)), 4)
}

/** By which a block is known again. At least a header long. */
export function checksumOf(block: Uint8Array): number {
  return new DataView(block.buffer, block.byteOffset).getUint32(4, true)
}

/** The body of what is exactly one block; undefined where it is torn or damaged. */
export function openBlock(block: Buffer): Buffer | undefined {
  return validBlockEnd(block, 0) === block.length ? block.subarray(BLOCK_HEADER_BYTES) : undefined
}

export interface Block {
  readonly offset: number
  readonly end: number
  readonly body: Buffer
}

export interface BlockRead {
  readonly blocks: readonly Block[]
  readonly damage: readonly DamagedRange[]
}

/** Reads the blocks of one file in their order, some at a time, and steps over damage. */
export class BlockReader {
  private readonly file: DiskFile
  private position: number

  constructor(file: DiskFile, position: number) {
    this.file = file
    this.position = position
  }

  /** Where the next block begins. */
  get offset(): number {
    return this.position
  }

  /**
   * The next blocks before `limit`. Nothing at all means the end: `offset` is then where the last valid block ends, and bytes
   * from there to `limit` hold none.
   */
  async read(limit: number): Promise<BlockRead> {
    const blocks: Block[] = []
    const damage: DamagedRange[] = []
    if (this.position >= limit) return { blocks, damage }
    let buffer = await this.file.read(this.position, Math.min(WINDOW_BYTES, limit - this.position))
    const wanted = blockSize(buffer, 0)
    if (wanted !== undefined && wanted > buffer.length && this.position + wanted <= limit) {
      buffer = await this.file.read(this.position, wanted)
    }
    const start = this.position
    for (let at = 0; ; at = this.position - start) {
      const end = validBlockEnd(buffer, at)
      if (end === undefined) break
      blocks.push({ offset: start + at, end: start + end, body: buffer.subarray(at + BLOCK_HEADER_BYTES, end) })
      this.position = start + end
    }
    if (blocks.length > 0) return { blocks, damage }
    const found = await this.findBlock(this.position + 1, limit)
    if (found === undefined) return { blocks, damage }
    damage.push({ from: this.position, to: found })
    this.position = found
    const further = await this.read(limit)
    return { blocks: further.blocks, damage: [...damage, ...further.damage] }
  }

  /** Where the next valid block at or behind `from` begins. */
  private async findBlock(from: number, limit: number): Promise<number | undefined> {
    for (let position = from; position < limit;) {
      const window = await this.file.read(position, Math.min(WINDOW_BYTES, limit - position))
      if (window.length < BLOCK_HEADER_BYTES) return undefined
      for (let at = window.indexOf(MARK); at >= 0; at = window.indexOf(MARK, at + 1)) {
        const header = await this.file.read(position + at, BLOCK_HEADER_BYTES)
        const size = blockSize(header, 0)
        if (size === undefined || position + at + size > limit) continue
        const whole = await this.file.read(position + at, size)
        if (validBlockEnd(whole, 0) !== undefined) return position + at
      }
      position += window.length - (MARK.length - 1)
      if (window.length <= MARK.length - 1) return undefined
    }
    return undefined
  }
}

/** The whole size of the block that begins at `at`, as its header says; undefined where none begins. */
function blockSize(buffer: Buffer, at: number): number | undefined {
  if (at + BLOCK_HEADER_BYTES > buffer.length || buffer.readUInt32LE(at) !== MARK_NUMBER) return undefined
  return BLOCK_HEADER_BYTES + buffer.readUInt32LE(at + 8)
}

function validBlockEnd(buffer: Buffer, at: number): number | undefined {
  const size = blockSize(buffer, at)
  if (size === undefined || at + size > buffer.length) return undefined
  return crc32(buffer.subarray(at + 8, at + size)) === buffer.readUInt32LE(at + 4) ? at + size : undefined
}
