/** How far the partitions of a group were stored: up to the first record that is not. */
import type { KafkaOffset } from '../../outbound/clients/kafka-consumer.ts'

interface Open {
  readonly offset: bigint
  readonly leaderEpoch: number
  isDone: boolean
}

type Place = Pick<KafkaOffset, 'topic' | 'partition'>

/**
 * A record that comes again, as it does when the group shares its partitions out anew, stands behind those that came before it: nothing is passed over.
 */
export class KafkaProgress {
  private readonly partitions = new Map<string, PartitionProgress>()
  private openCount = 0

  /** Records that were taken and are not stored. */
  get open(): number {
    return this.openCount
  }

  /**
   * Whether the record was taken before: it is stored, or will be, or the membership ends. When the group shares its partitions out anew the
   * library begins again at what is committed. One that a new leader wrote in the place of another is not.
   */
  isKnown(record: KafkaOffset): boolean {
    return this.partitions.get(keyOf(record))?.isKnown(record) === true
  }

  /** To be called, once, when the record is stored or failed for good. */
  taken(record: KafkaOffset): () => void {
    const key = keyOf(record)
    let partition = this.partitions.get(key)
    if (partition === undefined) {
      partition = new PartitionProgress(record)
      this.partitions.set(key, partition)
    }
    const told = partition.taken(record)
    this.openCount++
    return () => {
      this.openCount--
      told()
    }
  }

  /** What was stored further since it was asked last, by partition. */
  advanced(): readonly KafkaOffset[] {
    return [...this.partitions.values()].flatMap((partition) => partition.advanced() ?? [])
  }
}

function keyOf({ topic, partition }: Place): string {
  return `${topic}:${partition}`
}

/** Records that are done are taken away together. */
const COMPACT = 1024

class PartitionProgress {
  private readonly place: Place
  private open: Open[] = []
  private first = 0
  private reached: Open | undefined
  private newest: Open | undefined
  private told = -1n

  constructor({ topic, partition }: Place) {
    this.place = { topic, partition }
  }

  taken({ offset, leaderEpoch }: KafkaOffset): () => void {
    const each: Open = { offset, leaderEpoch, isDone: false }
    this.open.push(each)
    if (this.newest === undefined || offset > this.newest.offset || leaderEpoch > this.newest.leaderEpoch)
      this.newest = each
    return () => {
      each.isDone = true
      this.move()
    }
  }

  isKnown({ offset, leaderEpoch }: KafkaOffset): boolean {
    return this.newest !== undefined && offset <= this.newest.offset && leaderEpoch <= this.newest.leaderEpoch
  }

  advanced(): KafkaOffset | undefined {
    const { reached } = this
    if (reached === undefined || reached.offset < this.told) return undefined
    this.told = reached.offset + 1n
    return { ...this.place, offset: this.told, leaderEpoch: reached.leaderEpoch }
  }

  private move(): void {
    for (let each = this.open[this.first]; each?.isDone === true; each = this.open[++this.first]) {
      if (this.reached === undefined || each.offset > this.reached.offset) this.reached = each
    }
    if (this.first === this.open.length || this.first >= COMPACT) {
      this.open = this.open.slice(this.first)
      this.first = 0
    }
  }
}
