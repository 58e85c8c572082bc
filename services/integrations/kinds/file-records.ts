/** Records of a file, one after the other from any place: no more of it is held than one record and one read. */
import type { FileHandle } from 'node:fs/promises'
import type { FileConfiguration } from './file-configuration.ts'

export interface FileRecord {
  /** Undefined: it is too long, and so many bytes were passed over. */
  readonly bytes: Buffer | undefined
  readonly length: number
  /** Of the file, from 1: where it begins. */
  readonly line: number
  /** Where the next begins. */
  readonly end: number
  readonly nextLine: number
}

const READ_BYTES = 65_536
const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const QUOTE = 34
const BYTE_ORDER_MARK = Buffer.from('\uFEFF')

export class FileRecords {
  private readonly handle: FileHandle
  private readonly maxBytes: number
  /** Undefined where quotes mean nothing. */
  private readonly delimiter: number | undefined
  private readonly isWhole: boolean
  private buffer: Buffer = Buffer.alloc(0)
  private at = 0
  private position: number
  private line: number

  constructor(
    handle: FileHandle,
    { format, delimiter }: Pick<FileConfiguration, 'format' | 'delimiter'>,
    maxBytes: number,
    from = { position: 0, line: 1 },
  ) {
    this.handle = handle
    this.maxBytes = maxBytes
    this.delimiter = format === 'CSV' ? delimiter.charCodeAt(0) : undefined
    this.isWhole = format === 'JSON'
    this.position = from.position
    this.line = from.line
  }

  /** Undefined at the end of the file. Lines without anything are records of no length. */
  async next(): Promise<FileRecord | undefined> {
    const { line, position: start } = this
    const pieces: Buffer[] = []
    let length = 0
    const state = new CellState(this.delimiter)
    for (;;) {
      if (this.at === this.buffer.length && !(await this.read())) break
      const end = this.isWhole ? -1 : this.endOf(state)
      const piece = this.buffer.subarray(this.at, end < 0 ? this.buffer.length : end + 1)
      this.at += piece.length
      this.position += piece.length
      length += piece.length
      if (length <= this.maxBytes + BYTE_ORDER_MARK.length + 2) pieces.push(piece)
      else {
        pieces.length = 0
        // A quote that nothing closes takes no more than this record with it.
        state.ignoreQuotes()
      }
      if (end >= 0) break
    }
    if (length === 0) return undefined
    const bytes = trimmed(Buffer.concat(pieces), start === 0)
    const isTooLong = (pieces.length === 0 && length > 0) || bytes.length > this.maxBytes
    return { bytes: isTooLong ? undefined : bytes, length, line, end: this.position, nextLine: this.line }
  }

  private endOf(state: CellState): number {
    for (let index = this.at; index < this.buffer.length; index++) {
      const byte = this.buffer[index] ?? 0
      const isEnd = state.isEnd(byte)
      if (byte === LINE_FEED) this.line++
      if (isEnd) return index
    }
    return -1
  }

  private async read(): Promise<boolean> {
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
    const { bytesRead } = await this.handle.read(buffer, 0, READ_BYTES, this.position)
    this.buffer = buffer.subarray(0, bytesRead)
    this.at = 0
    return bytesRead > 0
  }
}

/** Where rows of comma-separated values end: quotes count where a cell begins with one, as in `services/import/csv.ts`. */
class CellState {
  private delimiter: number | undefined
  private isStart = true
  private isQuoted = false
  private wasQuote = false

  constructor(delimiter: number | undefined) {
    this.delimiter = delimiter
  }

  ignoreQuotes(): void {
    this.delimiter = undefined
  }

  isEnd(byte: number): boolean {
    if (this.delimiter === undefined) return byte === LINE_FEED
    if (this.isQuoted) {
      if (byte !== QUOTE) return false
      this.isQuoted = false
      this.wasQuote = true
      return false
    }
    if (byte === QUOTE && (this.isStart || this.wasQuote)) {
      this.isQuoted = true
      this.isStart = false
      this.wasQuote = false
      return false
    }
    this.wasQuote = false
    this.isStart = byte === this.delimiter
    return byte === LINE_FEED
  }
}

function trimmed(bytes: Buffer, isFirst: boolean): Buffer {
  let end = bytes.length
  if (bytes[end - 1] === LINE_FEED) end--
  if (bytes[end - 1] === CARRIAGE_RETURN) end--
  const start = isFirst && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
  return bytes.subarray(start, end)
}
