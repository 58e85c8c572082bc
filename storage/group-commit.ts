/**
 * Group commit: exactly one write is in flight; everything that arrives meanwhile is the next one. What arrives alone waits
 * for nobody, and a busy store writes few large groups instead of many small ones: fewer still where it is told to rest.
 */
import type { Clock } from '../model/clock.ts'
import { defineErrors, type MillraceError } from '../model/errors.ts'
import { Rest } from '../model/rest.ts'

export const GroupCommitErrors = defineErrors('group-commit', {
  FULL: {
    kind: 'retryable',
    isOutage: true,
    status: 503,
    text: '{name} is busy: {pending} are waiting to be stored, at most {limit}',
  },
  CLOSED: { kind: 'retryable', isOutage: true, status: 503, text: '{name} is closed' },
})

export interface GroupCommitOptions<Item, Result> {
  /** For error texts. */
  readonly name: string
  /** Where the store has errors of its own for them. */
  readonly refusals?: GroupCommitRefusals
  /** Stores a group in its order. A rejection is everybody's in the group. */
  readonly write: (group: readonly Item[]) => Promise<Result>
  /** Most weight that waits; more is refused with FULL. */
  readonly maxPending: number
  /** Most weight in one group; a single heavier item is a group of its own. */
  readonly maxGroup: number
  /** Where a group costs much beside what its items cost; absent: none. */
  readonly rest?: GroupRest
}

export interface GroupCommitRefusals {
  full(pending: number, limit: number): MillraceError
  closed(): MillraceError
}

/** How long a store for which more is waiting rests after a group, so that the next one is larger. A group that is full ends it. */
export interface GroupRest {
  /** As a multiple of the time that the group took: a store that is slow, since it or its machine has much to do, is asked less often. */
  readonly factor: number
  readonly mostMs: number
  /** A group that took less is followed by none: the store keeps up, and who waits for each answer would only wait longer. */
  readonly leastTookMs: number
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly weight: number
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

export class GroupCommit<Item, Result> {
  private readonly options: GroupCommitOptions<Item, Result>
  private readonly refusals: GroupCommitRefusals
  private waiting: Waiting<Item, Result>[] = []
  private waitingWeight = 0
  private running: Promise<void> | undefined
  private closed = false
  private groups = 0
  private readonly resting = new Rest()

  constructor(options: GroupCommitOptions<Item, Result>) {
    const { name } = options
    this.options = options
    this.refusals = options.refusals ?? {
      full: (pending, limit) => GroupCommitErrors.FULL({ name, pending, limit }),
      closed: () => GroupCommitErrors.CLOSED({ name }),
    }
  }

  /** Weight that waits for its turn; what is in flight is not counted. */
  get pending(): number {
    return this.waitingWeight
  }

  /** Groups written so far, failed ones too. */
  get groupsWritten(): number {
    return this.groups
  }

  /** Resolves with the result of the group that held the item. Rejects with FULL, CLOSED (both retryable), or the write's error. */
  add(item: Item, weight = 1): Promise<Result> {
    const { maxPending } = this.options
    if (this.closed) return Promise.reject(this.refusals.closed())
    if (this.waitingWeight > 0 && this.waitingWeight + weight > maxPending) {
      return Promise.reject(this.refusals.full(this.waitingWeight, maxPending))
    }
    const result = new Promise<Result>((resolve, reject) => {
      this.waiting.push({ item, weight, resolve, reject })
    })
    this.waitingWeight += weight
    this.running ??= this.run()
    if (this.waitingWeight >= this.options.maxGroup) this.resting.end()
    return result
  }

  /** Refuses new items, resolves when what was accepted is settled. Idempotent. */
  async close(): Promise<void> {
    this.closed = true
    this.resting.end()
    await this.running
  }

  private async run(): Promise<void> {
    // One microtask, so that what arrives in the same turn goes together.
    await Promise.resolve()
    const { rest } = this.options
    while (this.waiting.length > 0) {
      const group = this.takeGroup()
      this.groups++
      const began = rest?.clock.monotonic() ?? 0
      try {
        const result = await this.options.write(group.map((entry) => entry.item))
        for (const entry of group) entry.resolve(result)
      } catch (error) {
        for (const entry of group) entry.reject(error)
      }
      if (rest !== undefined) await this.rest(rest, rest.clock.monotonic() - began)
    }
    this.running = undefined
  }

  private rest({ clock, factor, mostMs, leastTookMs }: GroupRest, tookMs: number): Promise<void> {
    const isEnough = this.waitingWeight >= this.options.maxGroup
    if (this.closed || isEnough || this.waiting.length === 0 || tookMs < leastTookMs) return Promise.resolve()
    return this.resting.take(clock, Math.min(mostMs, factor * tookMs))
  }

  private takeGroup(): Waiting<Item, Result>[] {
    let weight = 0
    let count = 0
    for (const entry of this.waiting) {
      if (count > 0 && weight + entry.weight > this.options.maxGroup) break
      weight += entry.weight
      count++
    }
    const group = count === this.waiting.length ? this.waiting : this.waiting.slice(0, count)
    this.waiting = count === this.waiting.length ? [] : this.waiting.slice(count)
    this.waitingWeight -= weight
    return group
  }
}
