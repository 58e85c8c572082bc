/** A file of comma-separated lines in pieces that end with a line. Its text is not looked at beyond quotes and line ends. */
import { createReadStream } from 'node:fs'
import { nextState, quoteScan, type CsvState } from '../api/console/browser/csv-header.js'

export interface CsvPiece {
  /** Places in the file, in bytes. */
  readonly from: number
  readonly to: number
  /** The number of its first line in the file, from 1. */
  readonly firstLine: number
  readonly text: string
}

export interface PieceBounds {
  readonly lines: number
  readonly bytes: number
}

const LINE_END = 0x0a

export async function* csvPieces(
  file: string,
  delimiter: string,
  bounds: PieceBounds,
): AsyncGenerator<CsvPiece, undefined> {
  const separator = delimiter.charCodeAt(0)
  let state: CsvState = 'cell start'
  let [from, firstLine] = [0, 1]
  let breaks = 0
  let lines = 0
  let held: Buffer[] = []
  let heldBytes = 0
  const pieceWith = (last: Buffer): CsvPiece => {
    const bytes = Buffer.concat([...held, last])
    const piece = { from, to: from + bytes.length, firstLine, text: bytes.toString('utf8') }
    held = []
    heldBytes = 0
    from = piece.to
    firstLine += breaks
    breaks = 0
    lines = 0
    return piece
  }
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    let start = 0
    for (let place = 0; place < chunk.length; place++) {
      const byte = chunk[place] ?? 0
      if (byte === LINE_END) breaks++
      state = nextState(state, byte, separator)
      if (byte !== LINE_END || state !== 'cell start') continue
      lines++
      if (lines < bounds.lines && heldBytes + place + 1 - start < bounds.bytes) continue
      yield pieceWith(chunk.subarray(start, place + 1))
      start = place + 1
    }
    held.push(chunk.subarray(start))
    heldBytes += chunk.length - start
  }
  if (heldBytes > 0) yield pieceWith(Buffer.alloc(0))
  return undefined
}

/** The line whose quote nothing ends, from 1; undefined where each is ended. */
export async function unendedQuote(file: string, delimiter: string): Promise<number | undefined> {
  const scan = quoteScan(delimiter)
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>)
    scan.take(chunk)
  return scan.unended()
}
