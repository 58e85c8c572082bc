/** For tests of the queue: a link that keeps everything in memory and notes what it was told. */
import type { Message } from '../../model/message.ts'
import type { Delivery, Link, LinkConsumer } from '../link/link.ts'

export class MemoryLink implements Link {
  readonly writable = true
  readonly settled: Message[] = []
  readonly failures: Delivery[] = []
  readonly buried: { readonly delivery: Delivery; readonly reason: string }[] = []
  private readonly waiting: Delivery[] = []
  private consumer: LinkConsumer | undefined
  private sequence = 0

  publish(message: Message): void {
    this.put(message, 1)
  }

  /** Publishes a message as a replay would, with tries behind it. */
  put(message: Message, attempt: number): void {
    message.sequence = ++this.sequence
    this.waiting.push({ message, attempt })
    this.wake()
  }

  onWritable(): () => void {
    return () => undefined
  }

  consume(consumer: LinkConsumer): void {
    this.consumer = consumer
    this.wake()
  }

  wake(): void {
    const room = Math.min(this.consumer?.room() ?? 0, this.waiting.length)
    if (room > 0) this.consumer?.deliver(this.waiting.splice(0, room))
  }

  settle(deliveries: readonly Delivery[]): void {
    this.settled.push(...deliveries.map(({ message }) => message))
  }

  failed(delivery: Delivery): void {
    this.failures.push(delivery)
  }

  bury(delivery: Delivery, reason: string): void {
    this.buried.push({ delivery, reason })
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  get undelivered(): number {
    return this.waiting.length
  }
}
