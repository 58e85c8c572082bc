/** For tests: parking over a simulated disk. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../model/clock.ts'
import type { LetterKeeper, NewLetter } from '../link/dead-letters.ts'
import type { Disk } from '../../disk/disk.ts'
import { openBlock } from '../../disk/block.ts'
import type { Erased } from '../../model/erased.ts'
import { DiskParkedLog } from './disk-parked-log.ts'
import type { ParkedLog } from './parked-log.ts'
import { ParkedStore } from './parked-store.ts'
import { Parking, type ParkingOptions } from './parking.ts'

export class KeptLetters implements LetterKeeper {
  readonly letters: NewLetter[] = []

  async put(letter: NewLetter): Promise<void> {
    this.letters.push(letter)
  }
}

export interface OpenParking {
  readonly parking: Parking
  readonly store: ParkedStore
  readonly letters: KeptLetters
}

export function openDiskStore(disk: Disk, clock: Clock, directory = 'parked', restMs = 0): Promise<ParkedStore> {
  const log = new DiskParkedLog({
    disk,
    directory,
    durability: 'power-cut',
    segmentBytes: 1 << 16,
    onEvent: () => undefined,
  })
  return ParkedStore.open({ log, partition: 0, clock, slackBytes: 1 << 16, restMs, onTrouble: () => undefined })
}

/** Whether a file in the folder, or below it, holds the text. */
export async function folderHolds(folder: string, text: string): Promise<boolean> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    // It may go while the folder is looked through.
    const read = entry.isFile() ? readFile(join(entry.parentPath, entry.name)).catch(() => undefined) : undefined
    if ((await read)?.includes(text) === true) return true
  }
  return false
}

export async function openParking(
  disk: Disk,
  clock: Clock,
  options: Partial<ParkingOptions> = {},
): Promise<OpenParking> {
  const letters = new KeptLetters()
  const store = await openDiskStore(disk, clock)
  const parking = new Parking({
    clock,
    letters,
    partitionOf: () => 0,
    bounds: { maxBytes: 64 << 20, maxTenantBytes: 16 << 20 },
    maxInProcess: 1000,
    onFull: () => undefined,
    onEvent: () => undefined,
    ...options,
  })
  parking.open(store)
  return { parking, store, letters }
}

/** A log in memory that can be read a hundred times. */
export class CountedLog implements ParkedLog {
  readonly blocks = new Map<number, Buffer>()
  appends = 0
  reads = 0

  load(): Promise<void> {
    return Promise.resolve()
  }

  append(block: Buffer): Promise<number> {
    this.blocks.set(++this.appends, block)
    return Promise.resolve(this.appends)
  }

  read(place: number): Promise<Buffer | undefined> {
    if (++this.reads > 100) return Promise.reject(new Error('it is read without end'))
    const block = this.blocks.get(place)
    return Promise.resolve(block === undefined ? undefined : openBlock(block))
  }

  trim(place: number): Promise<void> {
    for (const known of this.blocks.keys()) if (known < place) this.blocks.delete(known)
    return Promise.resolve()
  }

  roll(): Promise<void> {
    return Promise.resolve()
  }

  async eraseBefore(place: number): Promise<Erased> {
    await this.trim(place)
    return { isGone: true }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
