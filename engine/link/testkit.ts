/** For tests: a disk that tears writes, fails syncs, fills up and loses power, and messages to put on it. */
import type { Clock } from '../../model/clock.ts'
import { Message, type MessageFields } from '../../model/message.ts'
import type { SeededRandom } from '../actor/testkit.ts'
import type { Disk, DiskFile } from '../../disk/disk.ts'

interface Inode {
  /** What a reader sees: the page cache. */
  data: Buffer
  /** What a power cut leaves. */
  durable: Buffer
  unsynced: { readonly position: number; readonly data: Buffer }[]
}

export interface SimulatedFaults {
  /** Probability that a write fails after putting down a part of its bytes. */
  failedWrite: number
  /** Probability that a sync fails: its writes may or may not be on the disk afterwards. */
  failedSync: number
  /** Bytes that fit on the disk. */
  capacity: number
}

/**
 * A disk in memory on a simulated clock. Names and contents are durable only once synced; `crash` ends every handle: what they
 * were doing never comes back to whoever asked.
 */
export class SimulatedDisk implements Disk {
  readonly faults: SimulatedFaults = { failedWrite: 0, failedSync: 0, capacity: Infinity }
  syncs = 0
  private readonly clock: Clock
  private readonly random: SeededRandom
  private names = new Map<string, Inode>()
  private durableNames = new Map<string, Inode>()
  private generation = 0

  constructor(clock: Clock, random: SeededRandom) {
    this.clock = clock
    this.random = random
  }

  /** power-cut: what was not synced is gone, or torn · process-death: the page cache survives, a write under way is torn. */
  crash(kind: 'power-cut' | 'process-death'): void {
    this.generation++
    if (kind === 'process-death') return
    for (const [name, inode] of this.names) {
      if (!this.durableNames.has(name) && this.random.chance(0.5)) this.durableNames.set(name, inode)
    }
    for (const name of [...this.durableNames.keys()]) {
      if (!this.names.has(name) && this.random.chance(0.5)) this.durableNames.delete(name)
    }
    this.names = new Map(this.durableNames)
    for (const inode of new Set(this.names.values())) {
      let data = inode.durable
      for (const write of inode.unsynced) {
        const kept = this.random.below(write.data.length + 1)
        data = overwrite(data, write.position, write.data.subarray(0, kept))
        if (kept < write.data.length) break
      }
      inode.unsynced = []
      inode.data = data
      inode.durable = data
    }
  }

  /** Flips one bit of a file at rest. */
  damage(path: string, position: number): void {
    const inode = this.inode(path)
    const data = Buffer.from(inode.data)
    data[position] = (data[position] ?? 0) ^ 0x10
    inode.data = data
    inode.durable = data
  }

  get usedBytes(): number {
    let bytes = 0
    for (const inode of this.names.values()) bytes += inode.data.length
    return bytes
  }

  async ensureDirectory(): Promise<void> {
    await this.pass()
  }

  async list(path: string): Promise<string[]> {
    await this.pass()
    const prefix = `${path}/`
    const names = [...this.names.keys()]
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length))
    return names.filter((name) => !name.includes('/')).sort()
  }

  async create(path: string): Promise<DiskFile> {
    await this.pass()
    if (this.names.has(path)) throw new Error(`EEXIST: ${path}`)
    const inode: Inode = { data: Buffer.alloc(0), durable: Buffer.alloc(0), unsynced: [] }
    this.names.set(path, inode)
    return this.handle(inode)
  }

  async open(path: string): Promise<DiskFile> {
    await this.pass()
    return this.handle(this.inode(path))
  }

  async remove(path: string): Promise<void> {
    await this.pass()
    this.inode(path)
    this.names.delete(path)
  }

  async rename(from: string, to: string): Promise<void> {
    await this.pass()
    this.names.set(to, this.inode(from))
    this.names.delete(from)
  }

  async syncDirectory(): Promise<void> {
    await this.pass()
    this.durableNames = new Map(this.names)
  }

  private inode(path: string): Inode {
    const inode = this.names.get(path)
    if (inode === undefined) throw new Error(`ENOENT: ${path}`)
    return inode
  }

  /** Each operation takes a little time; one of a run that has crashed never ends. */
  private pass(): Promise<void> {
    const generation = this.generation
    return new Promise((resolve) => {
      this.clock.after(0.05 + this.random.next(), () => {
        if (generation === this.generation) resolve()
      })
    })
  }

  private handle(inode: Inode): DiskFile {
    return {
      get size() {
        return inode.data.length
      },
      write: (data, position) => this.write(inode, Buffer.from(data), position),
      writeDurably: async (data, position) => {
        await this.write(inode, Buffer.from(data), position)
        await this.sync(inode)
      },
      sync: () => this.sync(inode),
      read: async (position, length) => {
        await this.pass()
        return Buffer.from(inode.data.subarray(position, position + length))
      },
      truncate: async (length) => {
        await this.pass()
        inode.data = Buffer.from(inode.data.subarray(0, length))
        inode.durable = Buffer.from(inode.durable.subarray(0, length))
        inode.unsynced = []
      },
      close: () => this.pass(),
    }
  }

  private async write(inode: Inode, data: Buffer, position: number): Promise<void> {
    const free = this.faults.capacity - this.usedBytes
    const fails = this.random.chance(this.faults.failedWrite)
    const part =
      fails || free < data.length
        ? data.subarray(0, Math.max(0, Math.min(free, this.random.below(data.length + 1))))
        : data
    inode.data = overwrite(inode.data, position, part)
    inode.unsynced.push({ position, data: part })
    await this.pass()
    if (fails) throw new Error('EIO: write failed')
    if (part.length < data.length) throw new Error('ENOSPC: the disk is full')
  }

  private async sync(inode: Inode): Promise<void> {
    const writes = inode.unsynced.length
    const fails = this.random.chance(this.faults.failedSync)
    await this.pass()
    if (fails) {
      // As Linux does it: the pages count as clean, so a later sync says yes without having written them.
      inode.unsynced = inode.unsynced.slice(writes)
      throw new Error('EIO: sync failed')
    }
    this.syncs++
    for (const write of inode.unsynced.slice(0, writes))
      inode.durable = overwrite(inode.durable, write.position, write.data)
    inode.unsynced = inode.unsynced.slice(writes)
  }
}

function overwrite(content: Buffer, position: number, data: Buffer): Buffer {
  const result = Buffer.alloc(Math.max(content.length, position + data.length))
  content.copy(result)
  data.copy(result, position)
  return result
}

let messages = 0

/** A telemetry message; each has an id of its own. */
export function message(fields: Partial<MessageFields> & { readonly device?: number } = {}): Message {
  const { device = 1, ...given } = fields
  const number = ++messages
  return new Message({
    id: uuid(number, 'a'),
    ts: 1_700_000_000_000 + number,
    type: 'POST_TELEMETRY_REQUEST',
    tenantId: uuid(1, 'b'),
    originator: { entityType: 'DEVICE', id: uuid(device, 'c') },
    metadata: { deviceName: `device ${device}`, deviceType: 'default', ts: String(1_700_000_000_000 + number) },
    data: `{"temperature":${number}}`,
    ...given,
  })
}

function uuid(number: number, kind: string): string {
  return `${kind.repeat(8)}-0000-4000-8000-${number.toString(16).padStart(12, '0')}`
}
