/**
 * Answers that a process waits for and another one gives: outcomes of calls to devices, replies of rule chains. Each is waited for once,
 * for a bounded time, and at most so many at once.
 */
import type { Clock, TimerHandle } from '../../../model/clock.ts'
import type { CallLine } from './line.ts'

const MAX_WAITING = 100_000

interface Waiting {
  readonly resolve: (body: string | undefined) => void
  readonly timer: TimerHandle
}

export class Answers {
  private readonly line: CallLine
  private readonly clock: Clock
  private readonly waiting = new Map<string, Waiting>()

  constructor(line: CallLine, clock: Clock) {
    this.line = line
    this.clock = clock
    line.onWaiter(({ id, body }) => this.settle(id, body))
  }

  /** The process that answers must name. */
  get self(): string {
    return this.line.self
  }

  get hasRoom(): boolean {
    return this.waiting.size < MAX_WAITING
  }

  /** Whether somebody waits under this id: a second one would take the first one's answer. */
  has(id: string): boolean {
    return this.waiting.has(id)
  }

  /** Undefined when nobody answered in time. */
  wait(id: string, withinMs: number): Promise<string | undefined> {
    return new Promise((resolve) => {
      const timer = this.clock.after(Math.max(0, withinMs), () => this.settle(id, undefined))
      this.waiting.set(id, { resolve, timer })
    })
  }

  /** Nobody waits for it any more. */
  forget(id: string): void {
    this.settle(id, undefined)
  }

  /** One that nobody waits for any more is dropped. */
  give(member: string, id: string, body: string): void {
    this.line.toWaiter(member, { kind: 'answer', id, body })
  }

  close(): void {
    for (const id of [...this.waiting.keys()]) this.settle(id, undefined)
  }

  private settle(id: string, body: string | undefined): void {
    const found = this.waiting.get(id)
    if (found === undefined) return
    this.waiting.delete(id)
    found.timer.cancel()
    found.resolve(body)
  }
}
