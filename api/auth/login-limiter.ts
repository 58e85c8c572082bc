/**
 * Slows down password guessing: after too many failures in a row a name is locked for a while, known or not, so that the
 * answer tells nothing. Checking a password is costly by design, so only some checks run at a time and few wait.
 */
import { ApiErrors } from '../errors.ts'
import { AuthErrors } from './errors.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { Clock } from '../../model/clock.ts'

export interface LoginLimits {
  readonly failuresAllowed: number
  readonly lockMs: number
  /** Names remembered at most; the longest untouched one is forgotten first. */
  readonly names: number
  readonly checksAtOnce: number
  readonly checksWaiting: number
}

export const DEFAULT_LOGIN_LIMITS: LoginLimits = {
  failuresAllowed: 10,
  lockMs: 30_000,
  names: 10_000,
  checksAtOnce: 2,
  checksWaiting: 64,
}

interface Failures {
  readonly count: number
  readonly lockedUntil: number
}

export class LoginLimiter {
  private readonly clock: Clock
  private readonly limits: LoginLimits
  private readonly failures = new Map<string, Failures>()
  private readonly waiting: (() => void)[] = []
  private running = 0

  constructor(clock: Clock, limits: LoginLimits = DEFAULT_LOGIN_LIMITS) {
    this.clock = clock
    this.limits = limits
  }

  /** Runs one password check; `undefined` and an error of kind `invalid` count as failures. Throws `LOCKED`, and `TOO_BUSY` when too many wait. */
  async attempt<Found>(name: string, check: () => Promise<Found | undefined>): Promise<Found | undefined> {
    const key = name.toLowerCase()
    await this.enter()
    try {
      // Only now: attempts that waited together must not all slip past the lock.
      if ((this.failures.get(key)?.lockedUntil ?? 0) > this.clock.now()) throw AuthErrors.LOCKED()
      const found = await check()
      if (found === undefined) this.failed(key)
      else this.failures.delete(key)
      return found
    } catch (error) {
      if (isMillraceError(error) && error.kind === 'invalid') this.failed(key)
      throw error
    } finally {
      this.leave()
    }
  }

  private failed(key: string): void {
    const count = (this.failures.get(key)?.count ?? 0) + 1
    const locked = count >= this.limits.failuresAllowed
    this.failures.delete(key)
    this.failures.set(key, {
      count: locked ? 0 : count,
      lockedUntil: locked ? this.clock.now() + this.limits.lockMs : 0,
    })
    const oldest = this.failures.size > this.limits.names ? this.failures.keys().next().value : undefined
    if (oldest !== undefined) this.failures.delete(oldest)
  }

  private async enter(): Promise<void> {
    if (this.running < this.limits.checksAtOnce) {
      this.running++
      return
    }
    if (this.waiting.length >= this.limits.checksWaiting) throw ApiErrors.TOO_BUSY()
    await new Promise<void>((resolve) => this.waiting.push(resolve))
  }

  /** The place is handed on, not given back, so that nobody overtakes those who wait. */
  private leave(): void {
    const next = this.waiting.shift()
    if (next === undefined) this.running--
    else next()
  }
}
