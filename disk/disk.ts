/**
 * What a log needs of a disk, handed in: the real one is `node-disk.ts`, the one with torn writes, failing syncs and power
 * cuts is in `engine/link/testkit.ts`.
 */

export interface DiskFile {
  readonly size: number
  /** Writes all of `data` at `position`, or throws. In the page cache only, until `sync`. */
  write(data: Uint8Array, position: number): Promise<void>
  /** `write` and `sync` of these bytes in one: they would survive a power cut when it resolves. */
  writeDurably(data: Uint8Array, position: number): Promise<void>
  /** Resolves when the file's content and length would survive a power cut. After a failed sync nothing may be trusted. */
  sync(): Promise<void>
  /** Up to `length` bytes from `position`; fewer at the end of the file. */
  read(position: number, length: number): Promise<Buffer>
  truncate(length: number): Promise<void>
  close(): Promise<void>
}

export interface Disk {
  /** Makes the directory and its parents where missing; its own name, not theirs, is durable then. */
  ensureDirectory(path: string): Promise<void>
  /** Names in the directory, sorted. */
  list(path: string): Promise<string[]>
  /** Makes a new file; throws where it exists. */
  create(path: string): Promise<DiskFile>
  /** Opens an existing file to be read, synced and truncated. */
  open(path: string): Promise<DiskFile>
  remove(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** Makes the directory's names durable: after `create`, `remove`, `rename`. */
  syncDirectory(path: string): Promise<void>
}

/** power-cut: every frame is synced before it is acknowledged · process-death: it is in the kernel's page cache. */
export type Durability = 'power-cut' | 'process-death'
