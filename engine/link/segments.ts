/** Which segments the log has, and their removal from the front: one by one, because a settle may stand in any segment from its message's on. */
import type { Disk } from './disk.ts'
import type { LinkEventListener } from './events.ts'
import type { RecoveredSegment } from './recovery.ts'
import type { SegmentFile } from './segment-file.ts'

interface Entry {
  readonly file: SegmentFile
  /** Sequences of its messages lie in [first, file.nextSequence). */
  readonly first: number
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
  private removeBelow = 0

  constructor(disk: Disk, directory: string, onEvent: LinkEventListener, removed: () => void) {
    this.disk = disk
    this.directory = directory
    this.onEvent = onEvent
    this.removed = removed
  }

  recovered({ id, path, end, nextSequence, isDamaged, ranges }: RecoveredSegment): SegmentFile {
    const file = { id, path, end, nextSequence }
    this.entries.push({ file, first: ranges[0]?.[0] ?? nextSequence, isDamaged, isLeaving: false })
    return file
  }

  opened(file: SegmentFile): void {
    this.entries.push({ file, first: file.nextSequence, isDamaged: false, isLeaving: false })
  }

  /** Marks it as damaged, so that it is kept aside for a rescue. False where that was known. */
  damaged(file: SegmentFile): boolean {
    const entry = this.entries.find((candidate) => candidate.file === file)
    if (entry === undefined || entry.isDamaged) return false
    entry.isDamaged = true
    return true
  }

  /** The oldest that may hold a message at or above `sequence`; where none does, the newest. */
  at(sequence: number): SegmentFile | undefined {
    const present = this.entries.filter(({ isLeaving }) => !isLeaving)
    return (present.find(({ file }) => file.nextSequence > sequence) ?? present.at(-1))?.file
  }

  withId(id: number): SegmentFile | undefined {
    return this.entries.find(({ file, isLeaving }) => file.id === id && !isLeaving)?.file
  }

  after(file: SegmentFile): SegmentFile | undefined {
    return this.entries.find((entry) => entry.file.id > file.id && !entry.isLeaving)?.file
  }

  get count(): number {
    return this.entries.length
  }

  /** Of those that hold a message at or above `sequence`, and of the newest. */
  bytesFrom(sequence: number): number {
    let bytes = 0
    for (const [index, { file }] of this.entries.entries()) {
      if (file.nextSequence > sequence || index === this.entries.length - 1) bytes += file.end
    }
    return bytes
  }

  /** Of those that hold nothing at or above `sequence`. */
  bytesBelow(sequence: number): number {
    return this.bytesFrom(0) - this.bytesFrom(sequence)
  }

  /** Resolves when no removal is under way. */
  async idle(): Promise<void> {
    await this.removing
  }

  /** Begins to remove segments all of whose messages are below `sequence`; the newest one stays. */
  remove(sequence: number): void {
    this.removeBelow = Math.max(this.removeBelow, sequence)
    if (this.removing !== undefined || !this.mayRemoveFront()) return
    this.removing = this.removeFront().finally(() => (this.removing = undefined))
  }

  private mayRemoveFront(): boolean {
    const front = this.entries[0]
    return front !== undefined && this.entries.length > 1 && front.file.nextSequence <= this.removeBelow
  }

  private async removeFront(): Promise<void> {
    while (this.mayRemoveFront()) {
      const front = this.entries[0]
      if (front === undefined) return
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
