/** Messages that are encoded and wait for their write, and the telling of those who want to know what became of them. */
import type { Clock } from '../../model/clock.ts'
import type { MillraceError } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import { BlockWriter } from './block-writer.ts'
import type { LinkEventListener } from './events.ts'
import { KeptList } from './kept-list.ts'
import type { PublishReceipt } from './link.ts'

export class Frame {
  readonly block: BlockWriter
  /** Of whoever reads the frame, when it is stored. */
  messages: Message[] = []
  readonly receipts = new KeptList<PublishReceipt>()
  /** Of each message, in bytes. */
  readonly sizes = new KeptList<number>()

  constructor(partitions: number) {
    this.block = new BlockWriter(partitions)
  }

  /** Encodes the message and keeps its receipt; returns its size in bytes. Throws where it cannot be encoded; then it is not in the frame. */
  add(message: Message, receipt: PublishReceipt): number {
    const before = this.block.bytes
    this.block.message(message)
    const size = this.block.bytes - before
    this.messages.push(message)
    this.receipts.add(receipt)
    this.sizes.add(size)
    return size
  }

  reset(): void {
    this.block.reset()
    this.messages = []
    this.receipts.clear()
    this.sizes.clear()
  }
}

type Receipts = Pick<readonly PublishReceipt[], 'length' | 'at'>

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

  stored(receipts: Receipts): void {
    // Without a function for each: this is once a message.
    for (let index = 0; index < receipts.length; index++) {
      try {
        receipts.at(index)?.stored()
      } catch (error) {
        this.onEvent({ kind: 'receipt-threw', error })
      }
    }
  }

  refuse(receipts: Receipts, error: MillraceError): void {
    this.refused += receipts.length
    for (let index = 0; index < receipts.length; index++) {
      try {
        receipts.at(index)?.refused(error)
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
