/** One engine's link as the checker of the cluster watches it; and the place where a test plants a bug to show that it is found. */
import type { Clock } from '../../model/clock.ts'
import type { Message } from '../../model/message.ts'
import { HeldDelivery } from '../../engine/link/held-frame.ts'
import { MAIN_QUEUE, type Delivery, type Link, type LinkConsumer, type PublishReceipt } from '../../engine/link/link.ts'
import type { ClusterChecker } from './cluster-checker.ts'

export const CLUSTER_BUGS = [
  'acknowledge first',
  'no deduplication',
  'lost wake-up',
  'settle before the store',
  'lane does not wait',
  'records of a fenced owner count',
  'a redelivery has effects of its own',
] as const
export type ClusterBug = (typeof CLUSTER_BUGS)[number]

interface Given {
  readonly stream: number
  readonly epoch: number
}

export class ClusteredLink implements Link {
  private readonly inner: Link
  private readonly run: string
  private readonly checker: ClusterChecker
  private readonly clock: Clock
  private readonly bug: ClusterBug | undefined
  /** In which epoch this engine was given a message: the next epoch gives another copy of it. */
  private readonly given = new WeakMap<Message, Given>()

  constructor(inner: Link, run: string, checker: ClusterChecker, clock: Clock, bug: ClusterBug | undefined) {
    this.inner = inner
    this.run = run
    this.checker = checker
    this.clock = clock
    this.bug = bug
  }

  started(message: Message): void {
    const given = this.given.get(message)
    if (given === undefined) throw new Error(`${message.id} was given to nobody`)
    this.checker.startedProcessing(message, this.run, given.stream, given.epoch)
  }

  publish(message: Message, receipt: PublishReceipt): void {
    if (this.bug !== 'acknowledge first') return this.inner.publish(message, receipt)
    this.inner.publish(message, { stored: () => undefined, refused: () => undefined })
    this.clock.soon(() => receipt.stored())
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

  consume(consumer: LinkConsumer, queueName: string = MAIN_QUEUE): () => void {
    const watched: LinkConsumer = {
      room: () => consumer.room(),
      deliver: (batch) => {
        for (const delivery of batch) this.notes(delivery)
        consumer.deliver(batch)
      },
    }
    return this.inner.consume(watched, queueName)
  }

  wake(): void {
    if (this.bug !== 'lost wake-up') this.inner.wake()
  }

  settle(deliveries: readonly Delivery[]): void {
    for (const { message } of deliveries) this.done(message)
    this.inner.settle(deliveries)
  }

  failed(delivery: Delivery, tries: number): void {
    this.inner.failed(delivery, tries)
  }

  bury(delivery: Delivery, reason: string, tries: number): void {
    this.done(delivery.message)
    this.inner.bury(delivery, reason, tries)
  }

  close(): Promise<void> {
    return this.inner.close()
  }

  private notes(delivery: Delivery): void {
    if (!(delivery instanceof HeldDelivery)) throw new Error('the link delivers what its frames hold')
    const { stream, epoch } = delivery.frame.owner
    this.given.set(delivery.message, { stream, epoch })
  }

  private done(message: Message): void {
    const given = this.given.get(message)
    if (given !== undefined) this.checker.done(message, this.run, given.epoch)
  }
}
