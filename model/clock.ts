/**
 * Time and chance as handed-in things, so that the whole engine runs on a simulated clock with seeded randomness.
 * Only the composition root and tests make the real ones (`systemClock`, `systemRandom`).
 */

export interface TimerHandle {
  cancel(): void
}

export interface Clock {
  /** Wall time, Unix milliseconds. */
  now(): number
  /** Monotonic time in milliseconds, for durations; its zero means nothing. */
  monotonic(): number
  after(delayMs: number, run: () => void): TimerHandle
  /** Runs `run` after the current turn, once I/O had its chance: the shared turn of mailboxes and group commits. */
  soon(run: () => void): void
}

export interface Random {
  /** Uniform in [0, 1). */
  next(): number
  /** A random (version 4) UUID, lower case. */
  uuid(): string
}
