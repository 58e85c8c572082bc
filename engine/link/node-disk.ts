/** The real disk: node's asynchronous file calls, on libuv's threads and never on the event loop's. */
import fs from 'node:fs'
import { mkdir, open, readdir, rename, unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { constants } from 'node:fs'
import type { Disk, DiskFile } from './disk.ts'

class NodeFile implements DiskFile {
  private readonly handle: FileHandle
  size: number

  constructor(handle: FileHandle, size: number) {
    this.handle = handle
    this.size = size
  }

  /** The callback form: a promise of `FileHandle` costs twice as much, and this is called for every frame. */
  write(data: Uint8Array, position: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = (from: number): void => {
        fs.write(this.handle.fd, data, from, data.length - from, position + from, (error, written) => {
          if (error !== null) return reject(error)
          const reached = from + written
          if (reached < data.length) return step(reached)
          this.size = Math.max(this.size, position + data.length)
          resolve()
        })
      }
      step(0)
    })
  }

  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fs.fdatasync(this.handle.fd, (error) => (error === null ? resolve() : reject(error)))
    })
  }

  async read(position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length)
    let filled = 0
    while (filled < length) {
      const { bytesRead } = await this.handle.read(buffer, filled, length - filled, position + filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return buffer.subarray(0, filled)
  }

  async truncate(length: number): Promise<void> {
    await this.handle.truncate(length)
    this.size = length
  }

  close(): Promise<void> {
    return this.handle.close()
  }
}

class NodeDisk implements Disk {
  async ensureDirectory(path: string): Promise<void> {
    await mkdir(path, { recursive: true })
  }

  async list(path: string): Promise<string[]> {
    return (await readdir(path)).sort()
  }

  async create(path: string): Promise<DiskFile> {
    return new NodeFile(await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600), 0)
  }

  async open(path: string): Promise<DiskFile> {
    const handle = await open(path, 'r+')
    return new NodeFile(handle, (await handle.stat()).size)
  }

  remove(path: string): Promise<void> {
    return unlink(path)
  }

  rename(from: string, to: string): Promise<void> {
    return rename(from, to)
  }

  async syncDirectory(path: string): Promise<void> {
    const handle = await open(path, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
}

export const nodeDisk: Disk = new NodeDisk()
