/** What becomes of a message that a node put into a queue, once for each node that it goes on to. */
import type { MillraceError } from '../../model/errors.ts'
import type { PublishReceipt } from '../link/link.ts'

export class QueueHop implements PublishReceipt {
  private open: number
  private refusal: MillraceError | undefined
  private listener: ((refusal: Error | undefined) => void) | undefined

  constructor(count: number) {
    this.open = count
  }

  stored(): void {
    this.open--
    this.tell()
  }

  refused(error: MillraceError): void {
    this.open--
    this.refusal ??= error
    this.tell()
  }

  /** Calls back once, when all are stored or the last of them is refused; at once where that is so already. */
  whenDone(listener: (refusal: Error | undefined) => void): void {
    this.listener = listener
    this.tell()
  }

  private tell(): void {
    if (this.open === 0) this.listener?.(this.refusal)
  }
}
