/** What is known in memory of parked messages: their lanes, in the order of the link's log, and where their bodies stand. */
import type { LaneName, LaneNote } from './parked-block.ts'

export interface ParkedEntry {
  readonly sequence: number
  readonly idHash: number
  readonly weight: number
  /** The try that comes next. */
  attempt: number
  /** Done with, and soon durably so. */
  isOver: boolean
  /** In process. */
  isOut: boolean
  /** Parked before this run: the link may not know, and deliver it once more. */
  isOld: boolean
  /** Where its body stands. */
  block: Block
  index: number
}

const BYTES_SHIFT = 12

/** What a message takes of a queue's places: one, and one more for each 4 KiB. */
export function placesFor({ weight }: ParkedEntry): number {
  return 1 + (weight >>> BYTES_SHIFT)
}

export interface Block {
  readonly place: number
  readonly bytes: number
  /** Of its bytes, what stands for one message: its part of what the block says of lanes included. */
  readonly share: number
  live: number
}

/** A lane that is parked: its entries are durable. */
export class StoredLane implements LaneNote {
  readonly queueName: string
  readonly key: string
  readonly tenantId: string
  readonly originatorType: LaneName['originatorType']
  why: string
  readonly sinceMs: number
  readonly entries: ParkedEntry[] = []
  bytes = 0

  constructor(note: LaneNote) {
    this.queueName = note.queueName
    this.key = note.key
    this.tenantId = note.tenantId
    this.originatorType = note.originatorType
    this.why = note.why
    this.sinceMs = note.sinceMs
  }

  find(sequence: number, idHash: number): ParkedEntry | undefined {
    const index = this.indexOf(sequence, idHash)
    return index < 0 ? undefined : this.entries[index]
  }

  /** The first so many that nobody has, as far as they take no more places; one at least. */
  next(most: number, places: number): ParkedEntry[] {
    const found: ParkedEntry[] = []
    let left = places
    for (const entry of this.entries) {
      if (found.length === most) break
      if (entry.isOver || entry.isOut) continue
      left -= placesFor(entry)
      if (left < 0 && found.length > 0) break
      found.push(entry)
    }
    return found
  }

  add(entry: ParkedEntry): void {
    let index = this.entries.length
    while (index > 0 && (this.entries[index - 1]?.sequence ?? 0) > entry.sequence) index--
    this.entries.splice(index, 0, entry)
    this.bytes += entry.weight
  }

  remove(sequence: number, idHash: number): ParkedEntry | undefined {
    const index = this.indexOf(sequence, idHash)
    if (index < 0) return undefined
    const [entry] = index === 0 ? [this.entries.shift()] : this.entries.splice(index, 1)
    if (entry !== undefined) this.bytes -= entry.weight
    return entry
  }

  private indexOf(sequence: number, idHash: number): number {
    for (let index = this.firstAt(sequence); this.entries[index]?.sequence === sequence; index++) {
      if (this.entries[index]?.idHash === idHash) return index
    }
    return -1
  }

  /** The index of the first entry at or behind a sequence. */
  private firstAt(sequence: number): number {
    let low = 0
    let high = this.entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.entries[middle]?.sequence ?? 0) < sequence) low = middle + 1
      else high = middle
    }
    return low
  }
}
