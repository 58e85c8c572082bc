/** Burying: letter first, settle second. A crash between them buries the message again, under the same id. */
import type { Clock } from '../../model/clock.ts'
import type { LetterKeeper, NewLetter } from './dead-letters.ts'
import type { LinkEventListener } from './events.ts'

const FIRST_PAUSE_MS = 100
const LAST_PAUSE_MS = 5000
/** Characters of a letter's reason: a script may throw any text, and beside the largest message a broker takes no more than a little. */
const MAX_REASON = 1000

export class Burial {
  private readonly letters: LetterKeeper
  private readonly clock: Clock
  private readonly onEvent: LinkEventListener
  private readonly open = new Set<Promise<boolean>>()
  private isClosing = false

  constructor(letters: LetterKeeper, clock: Clock, onEvent: LinkEventListener) {
    this.letters = letters
    this.clock = clock
    this.onEvent = onEvent
  }

  /** Messages whose letter is not durable yet. */
  get size(): number {
    return this.open.size
  }

  /** `buried` is called when the letter is durable, and counted no more. */
  bury({ message, attempts, reason }: NewLetter, buried: () => void): void {
    const burial = this.buryDurably({ message, attempts, reason: reason.slice(0, MAX_REASON).toWellFormed() })
    this.open.add(burial)
    void burial.then((isDurable) => {
      this.open.delete(burial)
      if (isDurable) buried()
    })
  }

  /** Resolves when no burial is open. What the disk still refuses stays unsettled: the next run delivers it again. */
  async close(): Promise<void> {
    this.isClosing = true
    await Promise.all(this.open)
  }

  /** False where the link closes first. */
  private async buryDurably(letter: NewLetter): Promise<boolean> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * 2)) {
      try {
        await this.letters.put(letter)
        return true
      } catch (error) {
        this.onEvent({ kind: 'dead-letter-not-stored', sequence: letter.message.sequence, error })
        if (this.isClosing) return false
        await new Promise<void>((resolve) => void this.clock.after(pauseMs, resolve))
      }
    }
  }
}
