/** For tests of the queue: a link that keeps everything in memory and notes what it was told. */
import type { Message } from '../../model/message.ts'
import { MAIN_QUEUE, type Delivery, type Link, type LinkConsumer } from '../link/link.ts'

export class MemoryLink implements Link {
  writable = true
  readonly settled: Message[] = []
  /** Everything that was delivered, in order. */
  readonly delivered: Delivery[] = []
  readonly failures: Delivery[] = []
  readonly buried: { readonly delivery: Delivery; readonly reason: string }[] = []
  private readonly waiting: Delivery[] = []
  private readonly consumers = new Map<string, LinkConsumer>()
  private sequence = 0

  publish(message: Message): void {
    this.put(message, 1)
  }

  /** Publishes a message as a replay would, with tries behind it. */
  put(message: Message, attempt: number): void {
    message.sequence = ++this.sequence
    const delivery = { message, attempt }
    this.waiting.push(delivery)
    this.wake()
    if (this.waiting.includes(delivery)) this.consumers.get(this.queueOf(delivery))?.ahead?.([delivery])
  }

  hasRoomFor(): boolean {
    return this.writable
  }

  onWritable(): () => void {
    return () => undefined
  }

  consume(consumer: LinkConsumer, queueName: string = MAIN_QUEUE): () => void {
    this.consumers.set(queueName, consumer)
    this.wake()
    return () => {
      this.consumers.delete(queueName)
      this.wake()
    }
  }

  wake(): void {
    for (const [queueName, consumer] of [...this.consumers]) {
      const room = consumer.room()
      const batch: Delivery[] = []
      for (let index = 0; index < this.waiting.length && batch.length < room;) {
        const delivery = this.waiting[index]
        if (delivery !== undefined && this.queueOf(delivery) === queueName) {
          batch.push(delivery)
          this.waiting.splice(index, 1)
        } else index++
      }
      if (batch.length === 0) continue
      this.delivered.push(...batch)
      consumer.deliver(batch)
    }
  }

  settle(deliveries: readonly Delivery[]): void {
    this.settled.push(...deliveries.map(({ message }) => message))
  }

  failed({ message }: Delivery, tries: number): void {
    this.failures.push({ message, attempt: tries })
  }

  bury({ message }: Delivery, reason: string, tries: number): void {
    this.buried.push({ delivery: { message, attempt: tries }, reason })
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  get undelivered(): number {
    return this.waiting.length
  }

  private queueOf({ message }: Delivery): string {
    const named = message.queueName ?? MAIN_QUEUE
    return this.consumers.has(named) ? named : MAIN_QUEUE
  }
}
