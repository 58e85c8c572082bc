/** The real disk: node's asynchronous file calls, on libuv's threads and never on the event loop's. */
import fs from 'node:fs'
import { mkdir, open, readdir, rename, unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { constants } from 'node:fs'
import type { Disk, DiskFile } from './disk.ts'

/**
 * Linux syncs a write in the call itself where the file was opened so: one trip to libuv's threads and back instead of two,
 * which under load is a third of a frame's time. Elsewhere (macOS, whose disks want a call of their own) it is two.
 */
const SYNCED_WRITES = process.platform === 'linux' ? constants.O_DSYNC : undefined

class NodeFile implements DiskFile {
  private readonly handle: FileHandle
  private readonly path: string
  private synced: Promise<FileHandle> | undefined
  size: number

  constructor(handle: FileHandle, path: string, size: number) {
    this.handle = handle
    this.path = path
    this.size = size
  }

  write(data: Uint8Array, position: number): Promise<void> {
    return this.writeTo(this.handle.fd, data, position)
  }

  async writeDurably(data: Uint8Array, position: number): Promise<void> {
    if (SYNCED_WRITES === undefined) {
      await this.write(data, position)
      return this.sync()
    }
    this.synced ??= open(this.path, constants.O_WRONLY | SYNCED_WRITES)
    return this.writeTo((await this.synced).fd, data, position)
  }

  /** The callback form: a promise of `FileHandle` costs twice as much, and this is called for every frame. */
  private writeTo(descriptor: number, data: Uint8Array, position: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = (from: number): void => {
        fs.write(descriptor, data, from, data.length - from, position + from, (error, written) => {
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

  async close(): Promise<void> {
    const synced = await this.synced?.catch(() => undefined) // One that did not open was told to the write that wanted it.
    await synced?.close()
    await this.handle.close()
  }
}

class NodeDisk implements Disk {
  async ensureDirectory(path: string): Promise<void> {
    await mkdir(path, { recursive: true })
    // Else a power cut could take the directory with all that is synced in it; who made one that is there may have died before this.
    await this.syncDirectory(dirname(resolve(path)))
  }

  async list(path: string): Promise<string[]> {
    return (await readdir(path)).sort()
  }

  async create(path: string): Promise<DiskFile> {
    return new NodeFile(await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600), path, 0)
  }

  async open(path: string): Promise<DiskFile> {
    const handle = await open(path, 'r+')
    return new NodeFile(handle, path, (await handle.stat()).size)
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
