/**
 * Who was wrong about a key or a secret, by address, or by what else stands for one: from one that was wrong too often nothing is heard for a
 * while. And how much may be under way. Both are bounded, as strangers may call.
 */
import type { Clock } from '../../model/clock.ts'
import { OnboardingErrors } from './errors.ts'

export interface AttemptLimits {
  /** Wrong attempts of one address within the window; with one more it is not heard until the window is over. */
  readonly wrongPerAddress: number
  readonly windowMs: number
  /** Under way at once, in this process and from one address. */
  readonly atOnce: number
  readonly atOncePerAddress: number
}

export const DEFAULT_ATTEMPT_LIMITS: AttemptLimits = {
  wrongPerAddress: 100,
  windowMs: 60_000,
  atOnce: 200,
  atOncePerAddress: 50,
}

/** Of these the one that was wrong first is forgotten: who has more addresses than this is not stopped by address. */
const MAX_ADDRESSES = 10_000

export interface AttemptFigures {
  readonly underWay: number
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
  private readonly open = new Map<string, number>()
  private openInAll = 0
  private wrongInAll = 0
  private refused = 0

  constructor(clock: Pick<Clock, 'now'>, limits: AttemptLimits) {
    this.clock = clock
    this.limits = limits
  }

  figures(): AttemptFigures {
    const { openInAll: underWay, refused, wrongInAll: wrong } = this
    return { underWay, wrong, refused }
  }

  /** `isWrong` says of the answer whether the attempt was. Throws `TOO_MANY_WRONG`, `BUSY`. */
  async run<Answer>(
    address: string,
    attempt: () => Promise<Answer>,
    isWrong: (answer: Answer) => boolean,
  ): Promise<Answer> {
    const isBarred = this.countOf(address) >= this.limits.wrongPerAddress
    const open = this.open.get(address) ?? 0
    const isBusy = this.openInAll >= this.limits.atOnce || open >= this.limits.atOncePerAddress
    if (isBarred || isBusy) this.refused++
    if (isBarred) throw OnboardingErrors.TOO_MANY_WRONG()
    if (isBusy) throw OnboardingErrors.BUSY()
    this.openInAll++
    this.open.set(address, open + 1)
    try {
      const answer = await attempt()
      if (isWrong(answer)) {
        this.wrongInAll++
        this.note(address)
      }
      return answer
    } finally {
      this.openInAll--
      const left = (this.open.get(address) ?? 1) - 1
      if (left === 0) this.open.delete(address)
      else this.open.set(address, left)
    }
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
