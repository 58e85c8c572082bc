/**
 * Slows down password guessing. Ten failures of a user from one address lock the user for this address alone, known name or not, so that
 * nobody locks out another; who guesses from many addresses, or many users from one, meets the limits of the user and of the address. Those
 * do not hold for an address from which the user has logged in before. Checking a password is costly by design: only some checks run
 * at a time, few wait, and one address has a share of the places.
 */
import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { LRUCache } from 'lru-cache'
import { lruMap } from '../../model/lru-map.ts'
import { isMillraceError } from '../../model/errors.ts'
import { ApiErrors } from '../errors.ts'
import { AuthErrors } from './errors.ts'
import { FailureCounter } from './failure-counter.ts'

export interface LoginLimits {
  /** Failures of one user from one address in a row, and for how long they lock it. */
  readonly failuresAllowed: number
  readonly lockSeconds: number
  /** Failures from one address, and of one user, within the window: they lock until it ends. */
  readonly failuresPerAddress: number
  readonly failuresPerUser: number
  readonly windowSeconds: number
  /** Users, addresses and pairs of them that are remembered, of each; the one touched longest ago is forgotten first. */
  readonly maxKeys: number
  readonly checksAtOnce: number
  readonly checksWaiting: number
  /** Checks of one address that run or wait. */
  readonly checksPerAddress: number
}

export const DEFAULT_LOGIN_LIMITS: LoginLimits = {
  failuresAllowed: 10,
  lockSeconds: 30,
  failuresPerAddress: 100,
  failuresPerUser: 100,
  windowSeconds: 900,
  maxKeys: 10_000,
  checksAtOnce: 2,
  checksWaiting: 64,
  checksPerAddress: 8,
}

interface Keys {
  readonly user: string
  readonly address: string
  readonly pair: string
}

export class LoginLimiter {
  private readonly pairs: FailureCounter
  private readonly addresses: FailureCounter
  private readonly users: FailureCounter
  /** Pairs that logged in. */
  private readonly familiar: LRUCache<string, true>
  private readonly places: CheckPlaces

  constructor(limits: LoginLimits = DEFAULT_LOGIN_LIMITS) {
    const { failuresAllowed, lockSeconds, failuresPerAddress, failuresPerUser, windowSeconds, maxKeys } = limits
    this.pairs = new FailureCounter({ failures: failuresAllowed, lockSeconds, windowSeconds, maxKeys })
    const wide = { lockSeconds: windowSeconds, windowSeconds, maxKeys }
    this.addresses = new FailureCounter({ failures: failuresPerAddress, ...wide })
    this.users = new FailureCounter({ failures: failuresPerUser, ...wide })
    this.familiar = lruMap<true>(maxKeys)
    this.places = new CheckPlaces(limits)
  }

  /**
   * Runs one password check; `undefined` and an error of kind `invalid` count as failures. Throws `LOCKED`, `TOO_MANY_FAILURES`, and
   * `TOO_BUSY` when too many wait.
   */
  async attempt<Found>(
    name: string,
    address: string,
    check: () => Promise<Found | undefined>,
  ): Promise<Found | undefined> {
    const keys = keysOf(name, address)
    // What is refused anyway takes no place.
    await this.refuseLocked(keys)
    await this.places.enter(keys.address)
    try {
      // Attempts that waited together must not all slip past the lock.
      await this.refuseLocked(keys)
      const found = await check()
      if (found === undefined) await this.failed(keys)
      else this.succeeded(keys)
      return found
    } catch (error) {
      if (isMillraceError(error) && error.kind === 'invalid') await this.failed(keys)
      throw error
    } finally {
      this.places.leave(keys.address)
    }
  }

  private async refuseLocked({ user, address, pair }: Keys): Promise<void> {
    if (await this.pairs.isLocked(pair)) throw AuthErrors.LOCKED()
    if (this.familiar.get(pair) === true) return
    if (await this.addresses.isLocked(address)) throw AuthErrors.TOO_MANY_FAILURES()
    if (await this.users.isLocked(user)) throw AuthErrors.LOCKED()
  }

  private async failed({ user, address, pair }: Keys): Promise<void> {
    // Those limits do not stop it: to count it there would only lock out its neighbours, for as long as an old password is tried.
    if (this.familiar.has(pair)) return this.pairs.failed(pair)
    await Promise.all([this.pairs.failed(pair), this.addresses.failed(address), this.users.failed(user)])
  }

  private succeeded({ pair }: Keys): void {
    this.pairs.forget(pair)
    this.familiar.set(pair, true)
  }
}

/** Places for password checks: handed on in order, so that nobody overtakes those who wait. */
class CheckPlaces {
  private readonly limits: LoginLimits
  private readonly waiting: (() => void)[] = []
  private readonly taken = new Map<string, number>()
  private running = 0

  constructor(limits: LoginLimits) {
    this.limits = limits
  }

  /** Throws `TOO_BUSY` where the address has its share, or all places are taken. */
  async enter(address: string): Promise<void> {
    const { checksAtOnce, checksWaiting, checksPerAddress } = this.limits
    const taken = this.taken.get(address) ?? 0
    const mustWait = this.running >= checksAtOnce
    if (taken >= checksPerAddress || (mustWait && this.waiting.length >= checksWaiting)) throw ApiErrors.TOO_BUSY()
    this.taken.set(address, taken + 1)
    if (mustWait) await new Promise<void>((resolve) => this.waiting.push(resolve))
    else this.running++
  }

  leave(address: string): void {
    const taken = (this.taken.get(address) ?? 1) - 1
    if (taken === 0) this.taken.delete(address)
    else this.taken.set(address, taken)
    const next = this.waiting.shift()
    if (next === undefined) this.running--
    else next()
  }
}

/** Of one length, however long the name is. */
function keysOf(name: string, address: string): Keys {
  const user = createHash('sha256').update(name.toLowerCase()).digest('base64')
  const network = networkOf(address)
  return { user, address: network, pair: `${user} ${network}` }
}

/** One customer of a provider has a network of 64 bits of IPv6: its addresses count as one. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const behind = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - behind.length
  return [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...behind].slice(0, 4).join(':')
}
