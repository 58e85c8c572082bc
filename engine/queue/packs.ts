/** Packs in process, in the order of their start, and their deadlines: one timer for all. */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { Pack, Task } from './task.ts'

export class Packs {
  count = 0
  private readonly clock: Clock
  private readonly onDeadline: (pack: Pack, nowMs: number) => void
  private packs: Pack[] = []
  private lookedThrough = 1024
  private timer: TimerHandle | undefined
  private armedForMs = Infinity

  /** `onDeadline` is called for a pack that has open tasks at its deadline: it ends them, or sets a later one. */
  constructor(clock: Clock, onDeadline: (pack: Pack, nowMs: number) => void) {
    this.clock = clock
    this.onDeadline = onDeadline
  }

  open(tasks: readonly Task[], timeoutMs: number, isJudgedAsOne: boolean): void {
    const startedMs = this.clock.monotonic()
    const deadlineMs = startedMs + timeoutMs
    const pack: Pack = { startedMs, timeoutMs, deadlineMs, tasks, open: tasks.length, isJudgedAsOne }
    for (const task of tasks) task.pack = pack
    this.packs.push(pack)
    this.count++
    if (pack.deadlineMs < this.armedForMs) this.arm()
  }

  /** Those that are in process, as they are now. */
  all(): readonly Pack[] {
    return this.packs.filter((pack) => pack.open > 0)
  }

  forgetEnded(): void {
    let ended = 0
    while (this.packs[ended]?.open === 0) ended++
    if (ended > 0) this.packs.splice(0, ended)
    // Behind a pack that hangs: looked through only when many have gathered, so that the cost a pack stays constant.
    if (this.packs.length < this.lookedThrough) return
    this.packs = this.packs.filter((pack) => pack.open > 0)
    this.lookedThrough = Math.max(1024, this.packs.length * 2)
  }

  close(): void {
    this.timer?.cancel()
  }

  private arm(): void {
    this.forgetEnded()
    this.timer?.cancel()
    this.timer = undefined
    // Not always the oldest: a change of the timeout may have put an earlier deadline behind a later one.
    let earliest = Infinity
    for (const pack of this.packs) if (pack.open > 0) earliest = Math.min(earliest, pack.deadlineMs)
    this.armedForMs = earliest
    if (earliest === Infinity) return
    this.timer = this.clock.after(Math.max(0, earliest - this.clock.monotonic()), () => this.deadline())
  }

  private deadline(): void {
    const now = this.clock.monotonic()
    for (const pack of [...this.packs]) if (pack.deadlineMs <= now && pack.open > 0) this.onDeadline(pack, now)
    this.arm()
  }
}
