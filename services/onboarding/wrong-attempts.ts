/**
 * Who was wrong about a key or a secret, by address, or by what else stands for one: from one that was wrong too often nothing is heard for a
 * while. Its attempts take turns with those of others (`attempt-turns.ts`).
 */
import type { Clock } from '../../model/clock.ts'
import { AttemptTurns, type TurnLimits } from './attempt-turns.ts'
import { OnboardingErrors } from './errors.ts'

export interface AttemptLimits extends TurnLimits {
  /** Wrong attempts of one address within the window; with one more it is not heard until the window is over. */
  readonly wrongPerAddress: number
  readonly windowMs: number
}

export const DEFAULT_ATTEMPT_LIMITS: AttemptLimits = {
  wrongPerAddress: 100,
  windowMs: 60_000,
  atOnce: 200,
  atOncePerAddress: 50,
  waiting: 5000,
  waitingPerAddress: 1000,
  waitMs: 30_000,
}

/** Of these the one that was wrong first is forgotten: who has more addresses than this is not stopped by address. */
const MAX_ADDRESSES = 10_000

export interface AttemptFigures {
  readonly underWay: number
  /** For a turn. */
  readonly waiting: number
  /** Since the start, as the next. */
  readonly wrong: number
  readonly refused: number
}

interface Wrong {
  readonly since: number
  readonly count: number
}

export class WrongAttempts {
  private readonly clock: Pick<Clock, 'now'>
  private readonly limits: AttemptLimits
  private readonly wrong = new Map<string, Wrong>()
  private readonly turns: AttemptTurns
  private wrongInAll = 0
  private refused = 0

  constructor(clock: Pick<Clock, 'now' | 'after'>, limits: AttemptLimits) {
    this.clock = clock
    this.limits = limits
    this.turns = new AttemptTurns(limits, clock)
  }

  figures(): AttemptFigures {
    const { turns, refused, wrongInAll: wrong } = this
    return { underWay: turns.underWay, waiting: turns.waiting, wrong, refused }
  }

  /** `isWrong` says of the answer whether the attempt was. Throws `TOO_MANY_WRONG`, `BUSY`. */
  async run<Answer>(
    address: string,
    attempt: () => Promise<Answer>,
    isWrong: (answer: Answer) => boolean,
  ): Promise<Answer> {
    this.requireHeard(address)
    await this.turns.take(address).catch((error: unknown) => {
      this.refused++
      throw error
    })
    try {
      // Those before it may have been wrong.
      this.requireHeard(address)
      const answer = await attempt()
      if (isWrong(answer)) {
        this.wrongInAll++
        this.note(address)
      }
      return answer
    } finally {
      this.turns.give(address)
    }
  }

  private requireHeard(address: string): void {
    if (this.countOf(address) < this.limits.wrongPerAddress) return
    this.refused++
    throw OnboardingErrors.TOO_MANY_WRONG()
  }

  private countOf(address: string): number {
    const wrong = this.wrong.get(address)
    return wrong === undefined || this.isOver(wrong) ? 0 : wrong.count
  }

  private note(address: string): void {
    const before = this.wrong.get(address)
    if (before !== undefined && !this.isOver(before)) {
      this.wrong.set(address, { since: before.since, count: before.count + 1 })
      return
    }
    this.wrong.delete(address)
    const [oldest] = this.wrong.keys()
    if (this.wrong.size >= MAX_ADDRESSES && oldest !== undefined) this.wrong.delete(oldest)
    this.wrong.set(address, { since: this.clock.now(), count: 1 })
  }

  private isOver({ since }: Wrong): boolean {
    return this.clock.now() >= since + this.limits.windowMs
  }
}
