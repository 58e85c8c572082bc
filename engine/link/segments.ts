/**
 * Which segments the log has, how many of their messages are not settled, and their removal from the front: a segment goes
 * when it and all before it are settled, because a settle may stand in any segment from its message's on.
 */
import type { Disk } from './disk.ts'
import type { LinkEventListener } from './events.ts'
import type { RangeSet } from './range-set.ts'
import type { RecoveredSegment } from './recovery.ts'
import type { SegmentFile } from './segment-file.ts'

interface Entry {
  readonly file: SegmentFile
  /** Sequences of its messages lie in [first, file.nextSequence). */
  readonly first: number
  unsettled: number
  isDamaged: boolean
  /** Its file is being removed: nobody opens it any more. */
  isLeaving: boolean
}

export class Segments {
  private readonly entries: Entry[] = []
  private readonly disk: Disk
  private readonly directory: string
  private readonly onEvent: LinkEventListener
  private readonly removed: () => void
  private removing: Promise<void> | undefined

  constructor(disk: Disk, directory: string, onEvent: LinkEventListener, removed: () => void) {
    this.removed = removed
    this.disk = disk
    this.directory = directory
    this.onEvent = onEvent
  }

  recovered(segments: readonly RecoveredSegment[], settled: RangeSet): void {
    for (const segment of segments) {
      let unsettled = 0
      for (const [start, length] of segment.ranges) unsettled += length - settled.countWithin(start, start + length)
      const { id, path, end, nextSequence, isDamaged } = segment
      const first = segment.ranges[0]?.[0] ?? nextSequence
      this.entries.push({ file: { id, path, end, nextSequence }, first, unsettled, isDamaged, isLeaving: false })
    }
  }

  opened(file: SegmentFile): void {
    this.entries.push({ file, first: file.nextSequence, unsettled: 0, isDamaged: false, isLeaving: false })
  }

  /** Messages became durable in the newest segment. */
  stored(count: number): void {
    const newest = this.entries.at(-1)
    if (newest !== undefined) newest.unsettled += count
  }

  /** Settles became durable. `ascending` holds sequences in ascending order. */
  settled(ascending: readonly number[]): void {
    let index = 0
    for (const sequence of ascending) {
      while (index < this.entries.length - 1 && sequence >= (this.entries[index + 1]?.first ?? Infinity)) index++
      const entry = this.entries[index]
      if (entry !== undefined) entry.unsettled--
    }
    this.removeSettled()
  }

  /**
   * Messages turned out to be unreadable: they will never be settled, and the file is kept aside for a rescue. False where
   * the segment was known to be damaged.
   */
  lost(file: SegmentFile, count: number): boolean {
    const entry = this.entries.find((candidate) => candidate.file === file)
    if (entry === undefined || entry.isDamaged) return false
    entry.isDamaged = true
    entry.unsettled -= count
    return true
  }

  /** The oldest whose file is there to be read. */
  get first(): SegmentFile | undefined {
    return this.entries.find((entry) => !entry.isLeaving)?.file
  }

  after(file: SegmentFile): SegmentFile | undefined {
    return this.entries[this.entries.findIndex((entry) => entry.file === file) + 1]?.file
  }

  get count(): number {
    return this.entries.length
  }

  get unsettled(): number {
    return this.entries.reduce((sum, entry) => sum + entry.unsettled, 0)
  }

  get bytes(): number {
    return this.entries.reduce((sum, entry) => sum + entry.file.end, 0)
  }

  /** Resolves when no removal is under way. */
  async idle(): Promise<void> {
    await this.removing
  }

  /** Begins to remove what is settled at the front; the newest segment stays. */
  removeSettled(): void {
    const front = this.entries[0]
    if (this.removing !== undefined || front === undefined || front.unsettled > 0 || this.entries.length < 2) return
    this.removing = this.removeFront().finally(() => (this.removing = undefined))
  }

  private async removeFront(): Promise<void> {
    for (;;) {
      const front = this.entries[0]
      if (front === undefined || front.unsettled > 0 || this.entries.length < 2) return
      front.isLeaving = true
      try {
        const { path } = front.file
        if (front.isDamaged) await this.disk.rename(path, `${path}.damaged`)
        else await this.disk.remove(path)
        // One by one: were a later one's removal durable first, the settles in it would be gone with it.
        await this.disk.syncDirectory(this.directory)
      } catch (error) {
        front.isLeaving = false
        this.onEvent({ kind: 'segment-not-removed', file: front.file.path, error })
        return
      }
      this.entries.shift()
      this.removed()
    }
  }
}
