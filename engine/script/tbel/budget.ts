/**
 * What one run of a script may use. Work is counted in steps (a loop turn, a call, an item or some characters that the
 * library handles), memory in bytes allocated during the run (never given back: a simple bound that cannot be evaded).
 * Code without loops and calls is bounded by the size of its text and does not count.
 */
import type { Clock } from '../../../model/clock.ts'
import { LONGEST_ARGUMENTS } from '../script.ts'
import { Fault } from './fault.ts'
import { chargeWalksTo } from './values.ts'

export interface TbelLimits {
  /** Steps of work a run may take. */
  readonly steps: number
  /** Milliseconds a run may take. */
  readonly timeoutMs: number
  /** Bytes a run may allocate. */
  readonly memoryBytes: number
  /** Nested calls of the script's own functions. */
  readonly callDepth: number
  /** Characters of the body. */
  readonly bodySize: number
  /** Characters of all arguments. */
  readonly argumentsSize: number
  /** Characters of the result. */
  readonly resultSize: number
  /** Limit violations in a row after which the script is blocked, and for how long (ms). */
  readonly maxErrors: number
  readonly blockMs: number
}

/** Sizes and times as in `rule-engine.md` 6.3; steps and depth are ours: the script runs on the engine's own thread. */
export const DEFAULT_TBEL_LIMITS: TbelLimits = {
  steps: 1_000_000,
  timeoutMs: 500,
  memoryBytes: 16 * 1024 * 1024,
  callDepth: 200,
  bodySize: 50_000,
  argumentsSize: LONGEST_ARGUMENTS,
  resultSize: 300_000,
  maxErrors: 3,
  blockMs: 60_000,
}

/** Steps between two looks at the clock. */
const CLOCK_INTERVAL = 512

export class Budget {
  /** Offset in the source of what runs now: kept up to date by everything that can fail. */
  at = 0
  private readonly limits: TbelLimits
  readonly clock: Clock
  private steps = 0
  private bytes = 0
  private depth = 0
  private nextLook = 0
  private deadline = 0

  constructor(limits: TbelLimits, clock: Clock) {
    this.limits = limits
    this.clock = clock
  }

  /** A new run begins. */
  reset(): void {
    this.steps = 0
    this.bytes = 0
    this.depth = 0
    this.nextLook = CLOCK_INTERVAL
    this.deadline = 0
    this.at = 0
    chargeWalksTo(this)
  }

  /** Counts one step. Throws a Fault at a limit. */
  step(): void {
    if (++this.steps >= this.nextLook) this.look()
  }

  /** Counts work that grows with the size of what is handled, before it is done. */
  spend(steps: number): void {
    this.steps += steps
    if (this.steps >= this.nextLook) this.look()
  }

  /** Counts memory before it is allocated; filling it is work too. */
  allocate(bytes: number): void {
    this.bytes += bytes
    if (this.bytes > this.limits.memoryBytes) throw new Fault('memory', 'memory')
    if (bytes > 256) this.spend(bytes >> 8)
  }

  enterCall(): void {
    this.step()
    if (++this.depth > this.limits.callDepth) throw new Fault(`calls are nested deeper than ${this.limits.callDepth}`)
  }

  leaveCall(): void {
    this.depth--
  }

  /** The clock is asked from the first interval on only, so that short scripts never pay for it. */
  private look(): void {
    if (this.steps > this.limits.steps) throw new Fault('work', 'work')
    const now = this.clock.monotonic()
    if (this.deadline === 0) this.deadline = now + this.limits.timeoutMs
    else if (now > this.deadline) throw new Fault('time', 'time')
    this.nextLook = Math.min(this.steps + CLOCK_INTERVAL, this.limits.steps + 1)
  }
}
