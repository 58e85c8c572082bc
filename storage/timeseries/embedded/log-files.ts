/** The file operations of the log, handed in so that tests can make a disk that is full, fails or tears. */
import * as fs from 'node:fs'

export interface LogFiles {
  create(path: string): number
  open(path: string): number
  read(path: string): Buffer
  list(directory: string): string[]
  /** Writes all bytes at the position. Throws what the disk says. */
  write(file: number, parts: readonly Uint8Array[], position: number): void
  sync(file: number): void
  syncDirectory(directory: string): void
  truncate(file: number, length: number): void
  remove(path: string): void
  close(file: number): void
}

export const diskFiles: LogFiles = {
  create: (path) => fs.openSync(path, 'wx+', 0o600),
  open: (path) => fs.openSync(path, 'r+'),
  read: (path) => fs.readFileSync(path),
  list: (directory) => fs.readdirSync(directory),
  write(file, parts, position) {
    const expected = parts.reduce((sum, part) => sum + part.byteLength, 0)
    const written = fs.writevSync(file, parts, position)
    if (written === expected) return
    const rest = Buffer.concat(parts).subarray(written)
    for (let done = 0; done < rest.length;)
      done += fs.writeSync(file, rest, done, rest.length - done, position + written + done)
  },
  sync: (file) => {
    fs.fdatasyncSync(file)
  },
  syncDirectory(directory) {
    const file = fs.openSync(directory, 'r')
    try {
      fs.fsyncSync(file)
    } finally {
      fs.closeSync(file)
    }
  },
  truncate: (file, length) => {
    fs.ftruncateSync(file, length)
  },
  remove: (path) => {
    fs.rmSync(path, { force: true })
  },
  close: (file) => {
    fs.closeSync(file)
  },
}
