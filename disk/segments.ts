/** Which segments a log has, and their removal from the front: one by one, because what stands in a segment may speak of any before it. */
import type { Erased } from '../model/erased.ts'
import type { Disk, DiskFile } from './disk.ts'
import type { DiskEventListener } from './events.ts'
import type { SegmentFile } from './segment-file.ts'

/** Behind the name of a file that was damaged: it is kept aside for a rescue when it leaves the log. */
const DAMAGED = '.damaged'

export class Segments {
  private readonly files: SegmentFile[]
  private readonly disk: Disk
  private readonly directory: string
  private readonly onEvent: DiskEventListener
  private removing: Promise<void> | undefined
  private mayGo: (file: SegmentFile) => boolean = () => false

  /** `files`: in the order of their numbers. */
  constructor(disk: Disk, directory: string, files: readonly SegmentFile[], onEvent: DiskEventListener) {
    this.disk = disk
    this.directory = directory
    this.files = [...files]
    this.onEvent = onEvent
  }

  add(file: SegmentFile): void {
    this.files.push(file)
  }

  get count(): number {
    return this.files.length
  }

  get oldest(): SegmentFile | undefined {
    return this.files[0]
  }

  get newest(): SegmentFile | undefined {
    return this.files.at(-1)
  }

  /** The oldest that may hold a message at or above `sequence`; where none does, the newest. */
  at(sequence: number): SegmentFile | undefined {
    const present = this.files.filter(({ isLeaving }) => !isLeaving)
    return present.find(({ nextSequence }) => nextSequence > sequence) ?? present.at(-1)
  }

  withId(id: number): SegmentFile | undefined {
    return this.files.find((file) => file.id === id && !file.isLeaving)
  }

  /** Undefined where it leaves meanwhile: nobody needs it. Throws what the disk throws. */
  async open(file: SegmentFile): Promise<DiskFile | undefined> {
    if (file.isLeaving) return undefined
    return this.disk.open(file.path).catch((error: unknown) => {
      if (!file.isLeaving) throw error
      return undefined
    })
  }

  after({ id }: SegmentFile): SegmentFile | undefined {
    return this.files.find((file) => file.id > id && !file.isLeaving)
  }

  get bytes(): number {
    return this.files.reduce((sum, { end }) => sum + end, 0)
  }

  /** Of those that hold a message at or above `sequence`, and of the newest. */
  bytesFrom(sequence: number): number {
    let bytes = 0
    for (const file of this.files) if (file.nextSequence > sequence || file === this.newest) bytes += file.end
    return bytes
  }

  /** Of those that hold nothing at or above `sequence`. */
  bytesBelow(sequence: number): number {
    return this.bytes - this.bytesFrom(sequence)
  }

  /** Resolves when no removal is under way. */
  async idle(): Promise<void> {
    await this.removing
  }

  /**
   * Removes segments from the front as long as they may go; the newest one stays. Resolves when that is done, or the disk refused: what is
   * left goes with a later removal.
   */
  remove(mayGo: (file: SegmentFile) => boolean): Promise<void> {
    this.mayGo = mayGo
    if (this.removing !== undefined) return this.removing
    if (this.removable === undefined) return Promise.resolve()
    return (this.removing = this.removeFront().finally(() => (this.removing = undefined)))
  }

  private get removable(): SegmentFile | undefined {
    const front = this.files[0]
    return front !== undefined && this.files.length > 1 && this.mayGo(front) ? front : undefined
  }

  private async removeFront(): Promise<void> {
    for (let front = this.removable; front !== undefined; front = this.removable) {
      const { path } = front
      front.isLeaving = true
      try {
        if (front.isDamaged) await this.disk.rename(path, path + DAMAGED)
        else await this.disk.remove(path)
        // One by one: were a later one's removal durable first, what it says of this one would be gone with it.
        await this.disk.syncDirectory(this.directory)
      } catch (error) {
        front.isLeaving = false
        this.onEvent({ kind: 'segment-not-removed', file: path, error })
        return
      }
      this.files.shift()
    }
  }
}

/** Names the damaged files of a folder that were kept aside: they may hold what was removed. */
export async function erasedBeside(disk: Disk, directory: string): Promise<Erased> {
  const files = (await disk.list(directory)).filter((name) => name.endsWith(DAMAGED))
  if (files.length === 0) return { isGone: true }
  return { isGone: false, rest: `files that were damaged stay until somebody removes them: ${files.join(', ')}` }
}

/** Where a file that may go stayed. */
export const NOT_REMOVED: Erased = { isGone: false, rest: 'the disk refuses to remove a file' }
