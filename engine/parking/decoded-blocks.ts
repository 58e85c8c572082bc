/** Blocks of a parked log that were decoded, kept for the next reader: 2 MiB of them, and one at least, however large. */
import type { Message } from '../../model/message.ts'
import { readMessages } from './parked-block.ts'
import type { ParkedLog } from './parked-log.ts'

const MAX_BYTES = 2 << 20

type Messages = readonly Message[] | undefined

export class DecodedBlocks {
  private readonly log: Pick<ParkedLog, 'read'>
  private readonly blocks = new Map<number, { readonly messages: Promise<Messages>; readonly bytes: number }>()
  private bytes = 0

  constructor(log: Pick<ParkedLog, 'read'>) {
    this.log = log
  }

  /** The messages of a block of so many bytes; undefined where it can not be read any more. Rejects with what the medium throws. */
  messagesOf(place: number, bytes: number): Promise<Messages> {
    const known = this.blocks.get(place)
    if (known !== undefined) return known.messages
    const messages = this.log.read(place).then((body) => (body === undefined ? undefined : readMessages(body)))
    this.blocks.set(place, { messages, bytes })
    this.bytes += bytes
    // One that failed is read again by the next who asks.
    messages.catch(() => this.forget(place))
    for (const oldest of this.blocks.keys()) {
      if (this.bytes <= MAX_BYTES || oldest === place) break
      this.forget(oldest)
    }
    return messages
  }

  forget(place: number): void {
    this.bytes -= this.blocks.get(place)?.bytes ?? 0
    this.blocks.delete(place)
  }
}
