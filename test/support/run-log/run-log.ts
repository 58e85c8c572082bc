/** The log of runs: one line for each run of a message, appended in the order in which they ran. */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'

export interface Run {
  readonly id: string
  /** A process, and its so many-th delivery of the message. */
  readonly epoch: string
  readonly attempt: number
  /** Of its process: the how many-th message was the first start of this one, over all its tries and deliveries. */
  readonly start: number
  readonly deviceId: string
  readonly value: number
  /** Of a try out of the store of parked lanes: the how many-th message of its process was first tried from there; 0 for any other. */
  readonly storeStart: number
}

export function lineOf({ id, epoch, attempt, start, deviceId, value, storeStart }: Run): string {
  return `${id} ${epoch} ${attempt} ${start} ${deviceId} ${value} ${storeStart}\n`
}

export class RunLog {
  readonly file: string
  #read = 0
  #rest = ''

  constructor(file: string) {
    this.file = file
  }

  /** What was appended since the last call, of so many bytes at most. */
  next(maxBytes = Infinity): Run[] {
    if (!existsSync(this.file)) return []
    const file = openSync(this.file, 'r')
    try {
      const bytes = Buffer.alloc(Math.min(fstatSync(file).size - this.#read, maxBytes))
      this.#read += readSync(file, bytes, 0, bytes.length, this.#read)
      const lines = (this.#rest + bytes.toString()).split('\n')
      this.#rest = lines.pop() ?? ''
      return lines.map(parseLine)
    } finally {
      closeSync(file)
    }
  }
}

function parseLine(line: string): Run {
  const [id = '', epoch = '', attempt, start, deviceId = '', value, storeStart = 0] = line.split(' ')
  const [tries, starts] = [Number(attempt), Number(start)]
  return { id, epoch, attempt: tries, start: starts, deviceId, value: Number(value), storeStart: Number(storeStart) }
}
