/**
 * Which queue's backlog a stored message belongs to. One log holds the messages of all queues; each queue that has a consumer
 * stands at its own place in it, so one that is far behind holds up no other. `Main` also has what belongs to no other.
 */
import type { Message } from '../../model/message.ts'
import { Backlog, type BacklogOptions, type StoredFrame } from './backlog.ts'
import { MAIN_QUEUE, type LinkConsumer } from './link.ts'
import type { SegmentFile } from './segment-file.ts'

/** Of what waits in memory `Main` may have the bound, all other queues together as much again, one of few this part of it. */
const LARGEST_SHARE = 0.25

export class Backlogs {
  readonly outstanding: Set<number>
  private readonly options: BacklogOptions
  private readonly main: Backlog
  /** All but `Main`. */
  private readonly others = new Map<string, Backlog>()
  private readonly leaving = new Set<Promise<void>>()
  /** By queues that were given up. */
  private deliveredBefore = 0

  constructor(options: BacklogOptions) {
    this.options = options
    this.outstanding = options.outstanding
    this.main = new Backlog(
      options,
      (queueName) => queueName === undefined || !this.others.has(queueName),
      () => 1,
    )
  }

  /** Throws where the queue has a consumer. */
  consume(consumer: LinkConsumer, queueName: string): () => void {
    const backlog = queueName === MAIN_QUEUE ? this.main : this.add(queueName)
    if (backlog.hasConsumer) throw new Error(`queue ${queueName} has a consumer`)
    backlog.consume(consumer)
    backlog.pump()
    let isGivenUp = false
    return () => {
      if (isGivenUp) return
      isGivenUp = true
      if (queueName === MAIN_QUEUE) this.main.consume(undefined)
      else this.remove(queueName, backlog)
    }
  }

  /** A frame is durable. */
  stored(messages: readonly Message[], bytes: number, segment: SegmentFile, offset: number): void {
    const first = messages[0]?.sequence ?? 0
    const frame: StoredFrame = { segment, offset, first, last: first + messages.length - 1 }
    if (this.others.size === 0) this.main.stored(messages, bytes, frame)
    else this.spread(messages, bytes, frame)
  }

  /** Delivers while consumers have room. */
  pump(): void {
    this.main.pump()
    for (const backlog of this.others.values()) backlog.pump()
  }

  get delivered(): number {
    let delivered = this.deliveredBefore + this.main.delivered
    for (const backlog of this.others.values()) delivered += backlog.delivered
    return delivered
  }

  async close(): Promise<void> {
    await Promise.all([this.main, ...this.others.values()].map((backlog) => backlog.close()))
    await Promise.all(this.leaving)
  }

  private add(queueName: string): Backlog {
    const known = this.others.get(queueName)
    if (known !== undefined) return known
    const share = (): number => Math.min(LARGEST_SHARE, 1 / this.others.size)
    const backlog = new Backlog(this.options, (other) => other === queueName, share)
    backlog.splitFrom(this.main, queueName)
    this.others.set(queueName, backlog)
    return backlog
  }

  private remove(queueName: string, backlog: Backlog): void {
    this.others.delete(queueName)
    this.deliveredBefore += backlog.delivered
    backlog.mergeInto(this.main, queueName)
    const left = backlog.close()
    this.leaving.add(left)
    void left.finally(() => this.leaving.delete(left))
    this.main.pump()
  }

  private spread(messages: readonly Message[], bytes: number, frame: StoredFrame): void {
    const forMain: Message[] = []
    const forOthers = new Map<Backlog, Message[]>()
    for (const message of messages) {
      const backlog = message.queueName === undefined ? undefined : this.others.get(message.queueName)
      if (backlog === undefined) {
        forMain.push(message)
        continue
      }
      const own = forOthers.get(backlog)
      if (own === undefined) forOthers.set(backlog, [message])
      else own.push(message)
    }
    const share = (own: readonly Message[]): number => (bytes * own.length) / messages.length
    this.main.stored(forMain, share(forMain), frame)
    for (const backlog of this.others.values()) {
      const own = forOthers.get(backlog) ?? []
      backlog.stored(own, share(own), frame)
    }
  }
}
