/**
 * Counts failures by key and locks a key that had too many of them: the one file that knows rate-limiter-flexible. That library keeps every
 * key it hears of; here the one touched longest ago is forgotten when there are too many.
 */
import type { LRUCache } from 'lru-cache'
import { lruMap } from '../../model/lru-map.ts'
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'

export interface FailureLimit {
  /** With this failure the key is locked. */
  readonly failures: number
  /** Failures are forgotten so long after the first of them. */
  readonly windowSeconds: number
  readonly lockSeconds: number
  readonly maxKeys: number
}

export class FailureCounter {
  private readonly limit: FailureLimit
  private readonly limiter: RateLimiterMemory
  private readonly keys: LRUCache<string, true>

  constructor(limit: FailureLimit) {
    this.limit = limit
    this.limiter = new RateLimiterMemory({ points: limit.failures, duration: limit.windowSeconds })
    this.keys = lruMap<true>(limit.maxKeys, (key) => void this.limiter.delete(key))
  }

  /** Keys that are held. */
  get size(): number {
    return this.keys.size
  }

  async isLocked(key: string): Promise<boolean> {
    const found = await this.limiter.get(key)
    return found !== null && found.msBeforeNext > 0 && found.consumedPoints > this.limit.failures
  }

  async failed(key: string): Promise<void> {
    this.keys.set(key, true)
    const { consumedPoints } = await this.limiter.penalty(key)
    if (consumedPoints >= this.limit.failures) await this.limiter.block(key, this.limit.lockSeconds)
  }

  forget(key: string): void {
    this.keys.delete(key)
  }
}
