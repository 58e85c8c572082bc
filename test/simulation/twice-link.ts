/**
 * A link that delivers everything twice, to show that a redelivery changes nothing. What it is put around hears of a message's end once,
 * when both of its deliveries have ended.
 */
import type { Message } from '../../model/message.ts'
import type { Delivery, Link, LinkConsumer, PublishReceipt } from '../../engine/link/link.ts'

/**
 * `message`: each at once again. `pack`: the whole batch again, behind itself. `pack backwards`: again from its end, so that the last to come
 * is the oldest, as what a slept owner of a partition still has on its way.
 */
export const REPETITIONS = ['message', 'pack', 'pack backwards'] as const
export type Repetition = (typeof REPETITIONS)[number]

interface Pair {
  readonly first: Delivery
  left: number
  /** Why one of the two was buried. */
  reason: string | undefined
}

export class TwiceLink implements Link {
  /** Deliveries so far: twice those of the link within. */
  delivered = 0
  /** Messages both of whose deliveries have ended. */
  ended = 0
  private readonly inner: Link
  private readonly repetition: Repetition
  private readonly pairs = new WeakMap<Message, Pair>()

  constructor(inner: Link, repetition: Repetition) {
    this.inner = inner
    this.repetition = repetition
  }

  publish(message: Message, receipt: PublishReceipt): void {
    this.inner.publish(message, receipt)
  }

  get writable(): boolean {
    return this.inner.writable
  }

  hasRoomFor(tenantId: string): boolean {
    return this.inner.hasRoomFor(tenantId)
  }

  onWritable(listener: () => void): () => void {
    return this.inner.onWritable(listener)
  }

  consume(consumer: LinkConsumer, queueName?: string): () => void {
    const doubled: LinkConsumer = {
      room: () => Math.floor(consumer.room() / 2),
      deliver: (batch) => this.deliverTwice(consumer, batch),
    }
    return this.inner.consume(doubled, queueName)
  }

  wake(): void {
    this.inner.wake()
  }

  settle(deliveries: readonly Delivery[]): void {
    const settled: Delivery[] = []
    for (const { message, attempt } of deliveries) {
      const pair = this.end(message, undefined)
      if (pair === undefined) continue
      if (pair.reason === undefined) settled.push(pair.first)
      else this.inner.bury(pair.first, pair.reason, attempt)
    }
    if (settled.length > 0) this.inner.settle(settled)
  }

  failed({ message }: Delivery, tries: number): void {
    const pair = this.pairs.get(message)
    if (pair !== undefined) this.inner.failed(pair.first, tries)
  }

  bury(delivery: Delivery, reason: string, tries: number): void {
    const pair = this.end(delivery.message, reason)
    if (pair !== undefined) this.inner.bury(pair.first, pair.reason ?? reason, tries)
  }

  close(): Promise<void> {
    return this.inner.close()
  }

  private deliverTwice(consumer: LinkConsumer, batch: readonly Delivery[]): void {
    this.delivered += 2 * batch.length
    for (const first of batch) this.pairs.set(first.message, { first, left: 2, reason: undefined })
    if (this.repetition === 'message') return consumer.deliver(batch.flatMap((first) => [first, new Again(first)]))
    consumer.deliver(batch)
    const again = batch.map((first) => new Again(first))
    consumer.deliver(this.repetition === 'pack' ? again : again.reverse())
  }

  /** The pair, where both have ended now. */
  private end(message: Message, reason: string | undefined): Pair | undefined {
    const pair = this.pairs.get(message)
    if (pair === undefined) throw new Error(`${message.id} was not delivered`)
    pair.reason ??= reason
    if (--pair.left > 0) return undefined
    this.ended++
    return pair
  }
}

class Again implements Delivery {
  private readonly first: Delivery

  constructor(first: Delivery) {
    this.first = first
  }

  get message(): Message {
    return this.first.message
  }

  get attempt(): number {
    return this.first.attempt
  }

  get isGone(): boolean {
    return this.first.isGone === true
  }
}
