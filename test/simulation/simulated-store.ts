/** A durable store with group commit, whose commits are slow, fail, or are cut by a crash in the middle. */
import type { Clock } from '../../model/clock.ts'
import type { SeededRandom } from '../../engine/actor/testkit.ts'

interface Write {
  readonly key: string
  readonly value: string
  readonly done: (error: Error | undefined) => void
}

export class SimulatedStore {
  /** What is committed. */
  readonly state = new Map<string, string>()
  /** Probability that a commit fails; of these, half are stored all the same. */
  failedCommit = 0
  maxLatencyMs = 5
  private readonly clock: Clock
  private readonly random: SeededRandom
  private waiting: Write[] = []
  private inFlight: Write[] = []
  private generation = 0

  constructor(clock: Clock, random: SeededRandom) {
    this.clock = clock
    this.random = random
  }

  save(key: string, value: string, done: (error: Error | undefined) => void): void {
    this.waiting.push({ key, value, done })
    if (this.inFlight.length === 0) this.commit()
  }

  /** Whoever waits never hears; what was in flight may be stored or not. */
  crash(): void {
    if (this.random.chance(0.5)) this.apply(this.inFlight)
    this.generation++
    this.waiting = []
    this.inFlight = []
  }

  private commit(): void {
    const writes = this.waiting
    if (writes.length === 0) return
    this.waiting = []
    this.inFlight = writes
    const generation = this.generation
    this.clock.after(this.random.next() * this.maxLatencyMs, () => {
      if (generation !== this.generation) return
      const fails = this.random.chance(this.failedCommit)
      if (!fails || this.random.chance(0.5)) this.apply(writes)
      this.inFlight = []
      for (const { done } of writes) done(fails ? new Error('the store does not answer') : undefined)
      if (this.inFlight.length === 0) this.commit()
    })
  }

  private apply(writes: readonly Write[]): void {
    for (const { key, value } of writes) this.state.set(key, value)
  }
}
