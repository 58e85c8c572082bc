/** Messages that are encoded and wait for their write, and the telling of those who want to know what became of them. */
import type { Clock } from '../../model/clock.ts'
import type { MillraceError } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import { BlockWriter } from './block-writer.ts'
import type { LinkEventListener } from './events.ts'
import type { PublishReceipt } from './link.ts'

export class Frame {
  readonly block: BlockWriter
  messages: Message[] = []
  receipts: PublishReceipt[] = []
  /** Of each message, in bytes. */
  sizes: number[] = []

  constructor(partitions: number) {
    this.block = new BlockWriter(partitions)
  }

  /** Encodes the message and keeps its receipt; returns its size in bytes. Throws where it cannot be encoded; then it is not in the frame. */
  add(message: Message, receipt: PublishReceipt): number {
    const before = this.block.bytes
    this.block.message(message)
    const size = this.block.bytes - before
    this.messages.push(message)
    this.receipts.push(receipt)
    this.sizes.push(size)
    return size
  }

  reset(): void {
    this.block.reset()
    this.messages = []
    this.receipts = []
    this.sizes = []
  }
}

/** Calls receipts; one that throws is told as an event and keeps no other from being called. */
export class ReceiptTeller {
  refused = 0
  private readonly clock: Clock
  private readonly onEvent: LinkEventListener
  private waiting: [PublishReceipt, MillraceError][] = []

  constructor(clock: Clock, onEvent: LinkEventListener) {
    this.clock = clock
    this.onEvent = onEvent
  }

  stored(receipts: readonly PublishReceipt[]): void {
    // Without a function for each: this is once a message.
    for (const receipt of receipts) {
      try {
        receipt.stored()
      } catch (error) {
        this.onEvent({ kind: 'receipt-threw', error })
      }
    }
  }

  refuse(receipts: readonly PublishReceipt[], error: MillraceError): void {
    this.refused += receipts.length
    for (const receipt of receipts) {
      try {
        receipt.refused(error)
      } catch (thrown) {
        this.onEvent({ kind: 'receipt-threw', error: thrown })
      }
    }
  }

  /** For a refusal within `publish`: the caller has not finished yet, so it hears on the next turn. */
  refuseSoon(receipt: PublishReceipt, error: MillraceError): void {
    this.waiting.push([receipt, error])
    if (this.waiting.length > 1) return
    this.clock.soon(() => {
      const refusals = this.waiting
      this.waiting = []
      for (const [refused, reason] of refusals) this.refuse([refused], reason)
    })
  }
}
