/** Burying: letter first, settle second. A crash between them buries the message again, under the same id. */
import type { Clock } from '../../model/clock.ts'
import type { LetterKeeper } from './dead-letters.ts'
import type { LinkEventListener } from './events.ts'
import type { Delivery } from './link.ts'

const FIRST_PAUSE_MS = 100
const LAST_PAUSE_MS = 5000
/** Characters of a letter's reason: a script may throw any text, and beside the largest message a broker takes no more than a little. */
const MAX_REASON = 1000

export class Burial<Held extends Delivery> {
  private readonly letters: LetterKeeper
  private readonly clock: Clock
  private readonly onEvent: LinkEventListener
  private readonly buried: (delivery: Held) => void
  private readonly open = new Set<Promise<boolean>>()
  private isClosing = false

  /** `buried` is called when a letter is durable, and counted no more. */
  constructor(letters: LetterKeeper, clock: Clock, onEvent: LinkEventListener, buried: (delivery: Held) => void) {
    this.letters = letters
    this.clock = clock
    this.onEvent = onEvent
    this.buried = buried
  }

  /** Messages whose letter is not durable yet. */
  get size(): number {
    return this.open.size
  }

  bury(delivery: Held, reason: string, tries: number): void {
    const burial = this.buryDurably(delivery, reason.slice(0, MAX_REASON).toWellFormed(), tries)
    this.open.add(burial)
    void burial.then((isDurable) => {
      this.open.delete(burial)
      if (isDurable) this.buried(delivery)
    })
  }

  /** Resolves when no burial is open. What the disk still refuses stays unsettled: the next run delivers it again. */
  async close(): Promise<void> {
    this.isClosing = true
    await Promise.all(this.open)
  }

  /** False where the link closes first. */
  private async buryDurably({ message }: Held, reason: string, attempts: number): Promise<boolean> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * 2)) {
      try {
        await this.letters.put({ message, attempts, reason })
        return true
      } catch (error) {
        this.onEvent({ kind: 'dead-letter-not-stored', sequence: message.sequence, error })
        if (this.isClosing) return false
        await new Promise<void>((resolve) => void this.clock.after(pauseMs, resolve))
      }
    }
  }
}
