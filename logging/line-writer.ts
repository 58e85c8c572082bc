/**
 * Lines to a file descriptor, off the event loop: those of one turn, and all that come while a write is under way, are one write.
 * It never throws and its memory is bounded: where nobody reads, or the disk is full, lines wait up to the bound, and further ones
 * are let go of.
 */
import { write, writeSync } from 'node:fs'

const NOTHING = Buffer.alloc(0)
const RETRY_MS = 100
/** How often the last lines are tried at the end of the process, when the descriptor says "not now". */
const LAST_TRIES = 100

export class LineWriter {
  private readonly descriptor: number
  private readonly maxBytes: number
  private lines: string[] = []
  private lineBytes = 0
  /** What a write left. */
  private rest: Buffer = NOTHING
  private isScheduled = false
  private isWriting = false
  private dropped = 0

  constructor(descriptor: number, maxBytes: number) {
    this.descriptor = descriptor
    this.maxBytes = maxBytes
  }

  /** Lines that found no room. */
  get droppedLines(): number {
    return this.dropped
  }

  write(line: string): void {
    if (this.lineBytes + line.length > this.maxBytes) {
      this.dropped++
      return
    }
    this.lines.push(line)
    this.lineBytes += line.length
    if (this.isWriting || this.isScheduled) return
    this.isScheduled = true
    setImmediate(this.writeNext)
  }

  /** Writes out what no write has begun with, as much as the descriptor takes: the last thing before the process ends. */
  flush(): void {
    let rest = this.take()
    for (let tries = 0; rest.length > 0 && tries < LAST_TRIES; tries++) {
      try {
        rest = rest.subarray(writeSync(this.descriptor, rest))
      } catch (error) {
        if (!isBusy(error)) return
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
      }
    }
  }

  private readonly writeNext = (): void => {
    this.isScheduled = false
    const bytes = this.take()
    if (bytes.length === 0) return
    this.isWriting = true
    write(this.descriptor, bytes, (error, written) => {
      this.isWriting = false
      // Of an error there is nobody to tell: it is the log itself that takes nothing.
      this.rest = error === null ? bytes.subarray(written) : bytes
      this.isScheduled = true
      if (error === null) this.writeNext()
      else setTimeout(this.writeNext, RETRY_MS).unref()
    })
  }

  private take(): Buffer {
    const bytes = Buffer.concat([this.rest, Buffer.from(this.lines.join(''))])
    this.rest = NOTHING
    this.lines = []
    this.lineBytes = 0
    return bytes
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY')
}
