/**
 * Turns of those whom nobody knows: so many at once, of one address fewer. Devices of one site have one address and are switched on together: who
 * comes beyond that waits in the line of its address, and the lines take turns. All of it is bounded, in time too: one that was heard after it had
 * given up would not hear of credentials that are given once.
 */
import type { Clock } from '../../model/clock.ts'
import { OnboardingErrors } from './errors.ts'

export interface TurnLimits {
  /** Under way at once, in this process and of one address. */
  readonly atOnce: number
  readonly atOncePerAddress: number
  /** That wait for it. */
  readonly waiting: number
  readonly waitingPerAddress: number
  /** Longest wait. */
  readonly waitMs: number
}

export class AttemptTurns {
  private readonly limits: TurnLimits
  private readonly clock: Pick<Clock, 'after'>
  private readonly open = new Map<string, number>()
  /** The one whose turn is next first. */
  private readonly lines = new Map<string, (() => void)[]>()
  private openInAll = 0
  private waitingInAll = 0

  constructor(limits: TurnLimits, clock: Pick<Clock, 'after'>) {
    this.limits = limits
    this.clock = clock
  }

  get underWay(): number {
    return this.openInAll
  }

  get waiting(): number {
    return this.waitingInAll
  }

  /** Resolves when it is its turn, which it gives back. Rejects BUSY. */
  async take(address: string): Promise<void> {
    if (this.hasRoom(address)) return this.enter(address)
    const { waiting, waitingPerAddress, waitMs } = this.limits
    const line = this.lines.get(address) ?? []
    if (this.waitingInAll >= waiting || line.length >= waitingPerAddress) throw OnboardingErrors.BUSY()
    this.waitingInAll++
    this.lines.set(address, line)
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        timer.cancel()
        resolve()
      }
      const timer = this.clock.after(waitMs, () => {
        line.splice(line.indexOf(begin), 1)
        if (line.length === 0) this.lines.delete(address)
        this.waitingInAll--
        reject(OnboardingErrors.BUSY())
      })
      line.push(begin)
    })
  }

  give(address: string): void {
    this.openInAll--
    const left = (this.open.get(address) ?? 1) - 1
    if (left === 0) this.open.delete(address)
    else this.open.set(address, left)
    this.next()
  }

  private next(): void {
    for (const [address, line] of this.lines) {
      if (!this.hasRoom(address)) continue
      const first = line.shift()
      // Behind the lines of others.
      this.lines.delete(address)
      if (line.length > 0) this.lines.set(address, line)
      this.waitingInAll--
      this.enter(address)
      return first?.()
    }
  }

  private hasRoom(address: string): boolean {
    const { atOnce, atOncePerAddress } = this.limits
    return this.openInAll < atOnce && (this.open.get(address) ?? 0) < atOncePerAddress
  }

  private enter(address: string): void {
    this.openInAll++
    this.open.set(address, (this.open.get(address) ?? 0) + 1)
  }
}
