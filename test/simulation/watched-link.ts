/** The link as the checker watches it; and the place where a test plants a bug to show that the checker finds it. */
import type { Clock } from '../../model/clock.ts'
import type { Message } from '../../model/message.ts'
import type { Delivery, Link, LinkConsumer, PublishReceipt } from '../../engine/link/link.ts'
import type { Checker } from './checker.ts'

export const PLANTED_BUGS = [
  'acknowledge before the log',
  'settle before the store',
  'settle never written',
  'lane does not wait',
  'a redelivery has effects of its own',
  'parked after the settle',
  'what comes overtakes its parked lane',
] as const
export type PlantedBug = (typeof PLANTED_BUGS)[number]

export class WatchedLink implements Link {
  private readonly inner: Link
  private readonly checker: Checker
  private readonly clock: Clock
  private readonly bug: PlantedBug | undefined
  private readonly isParked: (message: Message) => boolean

  /** A message that is parked is settled here and done with there. */
  constructor(
    inner: Link,
    checker: Checker,
    clock: Clock,
    bug: PlantedBug | undefined,
    isParked: (message: Message) => boolean = () => false,
  ) {
    this.isParked = isParked
    this.inner = inner
    this.checker = checker
    this.clock = clock
    this.bug = bug
  }

  publish(message: Message, receipt: PublishReceipt): void {
    if (this.bug === 'acknowledge before the log') {
      this.inner.publish(message, { stored: () => undefined, refused: () => undefined })
      this.clock.soon(() => receipt.stored())
      return
    }
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
    return this.inner.consume(consumer, queueName)
  }

  wake(): void {
    this.inner.wake()
  }

  settle(deliveries: readonly Delivery[]): void {
    this.checker.settled(deliveries.map(({ message }) => message).filter((message) => !this.isParked(message)))
    if (this.bug !== 'settle never written') this.inner.settle(deliveries)
  }

  failed(delivery: Delivery, tries: number): void {
    this.inner.failed(delivery, tries)
  }

  bury(delivery: Delivery, reason: string, tries: number): void {
    this.checker.buried(delivery.message)
    this.inner.bury(delivery, reason, tries)
  }

  close(): Promise<void> {
    return this.inner.close()
  }
}
