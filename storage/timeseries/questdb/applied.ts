/**
 * The way from acknowledged to visible. QuestDB acknowledges a write once its log has it and applies the log to the table later; so a
 * read asks how far the log goes and waits until the table is there. And it watches: a table whose log is no longer applied
 * (suspended), or that is not what it was, is noticed within seconds, told, and takes no writes until it is well again.
 */
import type { Clock, TimerHandle } from '../../../model/clock.ts'
import { errorText } from '../../../model/errors.ts'
import { QuestDbErrors } from './errors.ts'
import { tableFault } from './schema.ts'
import { literal, type QuestDbServer } from './server.ts'

export interface AppliedOptions {
  readonly server: QuestDbServer
  readonly table: string
  readonly clock: Clock
  /** A read waits so long for writes to be applied. */
  readonly timeoutMs: number
  /** Time between two looks at the table. */
  readonly watchMs: number
  /** Called when the table begins to refuse writes, with the reason, and when it takes them again. */
  readonly onTrouble?: ((reason: string | undefined) => void) | undefined
}

interface Waiter {
  /** The transaction that must be applied; known from the first look after the wait began. */
  target: number | undefined
  readonly deadline: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

interface Progress {
  readonly applied: number
  readonly written: number
  readonly suspended: string | undefined
}

const LONGEST_PAUSE_MS = 16

export class AppliedWrites {
  private readonly options: AppliedOptions
  private waiters: Waiter[] = []
  private looking: Promise<void> | undefined
  private timer: TimerHandle | undefined
  private watching: Promise<void> = Promise.resolve()
  private closed = false
  private currentTrouble: string | undefined
  private currentLag = 0
  private readonly sql: string

  constructor(options: AppliedOptions) {
    this.options = options
    this.sql = `select writerTxn, sequencerTxn, suspended, errorMessage from wal_tables() where name = ${literal(options.table)}`
    this.schedule()
  }

  /** Why the table takes no writes; undefined where it does. */
  get trouble(): string | undefined {
    return this.currentTrouble
  }

  /** Transactions acknowledged and not yet visible, at the last look. */
  get lag(): number {
    return this.currentLag
  }

  /** Throws SUSPENDED while the table takes no writes: what cannot be read back is better held by who has it. */
  assertWritable(): void {
    if (this.currentTrouble !== undefined) throw this.suspended(this.currentTrouble)
  }

  /** Resolves when every write that was acknowledged before the call, by any process, is visible. Rejects SUSPENDED, APPLY_LAG, UNREACHABLE. */
  wait(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const deadline = this.options.clock.monotonic() + this.options.timeoutMs
      this.waiters.push({ target: undefined, deadline, resolve, reject })
      this.looking ??= this.look().finally(() => {
        this.looking = undefined
      })
    })
  }

  async close(): Promise<void> {
    this.closed = true
    this.timer?.cancel()
    await this.watching
    await this.looking
  }

  /** One look serves all that wait; those who come during it take part in the next. */
  private async look(): Promise<void> {
    let pause = 1
    while (this.waiters.length > 0) {
      const asked = this.waiters
      this.waiters = []
      let left: Waiter[] = []
      try {
        const progress = await this.progress()
        left = asked.filter((waiter) => !this.settle(waiter, progress))
      } catch (error) {
        for (const waiter of asked) waiter.reject(error)
      }
      if (left.length > 0 && this.waiters.length === 0) {
        await this.pause(pause)
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
      } else pause = 1
      this.waiters = [...left, ...this.waiters]
    }
  }

  /** True where the waiter has its answer. */
  private settle(waiter: Waiter, { applied, written, suspended }: Progress): boolean {
    waiter.target ??= written
    if (applied >= waiter.target) waiter.resolve()
    else if (suspended !== undefined) waiter.reject(this.suspended(suspended))
    else if (this.options.clock.monotonic() >= waiter.deadline) {
      waiter.reject(QuestDbErrors.APPLY_LAG({ table: this.options.table, timeout: this.options.timeoutMs }))
    } else return false
    return true
  }

  private async progress(): Promise<Progress> {
    const [row] = await this.options.server.query(this.sql)
    if (row === undefined) return { applied: -1, written: 0, suspended: 'it is absent' }
    const [applied, written, isSuspended, message] = row
    const progress = {
      applied: Number(applied),
      written: Number(written),
      suspended: isSuspended === true ? `it is suspended (${reasonOf(message)})` : undefined,
    }
    this.currentLag = progress.written - progress.applied
    return progress
  }

  private schedule(): void {
    if (this.closed) return
    this.timer = this.options.clock.after(this.options.watchMs, () => {
      this.watching = this.watch().finally(() => {
        this.schedule()
      })
    })
  }

  private async watch(): Promise<void> {
    try {
      const { suspended } = await this.progress()
      this.turn(suspended ?? (await tableFault(this.options.server, this.options.table)))
    } catch {
      // Away: writes and reads say so themselves, and nothing is known of the table.
    }
  }

  private turn(trouble: string | undefined): void {
    const before = this.currentTrouble
    this.currentTrouble = trouble
    if (before === trouble) return
    this.options.onTrouble?.(trouble)
  }

  private suspended(reason: string): Error {
    return QuestDbErrors.SUSPENDED({ table: this.options.table, reason })
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.options.clock.after(ms, resolve)
    })
  }
}

function reasonOf(message: unknown): string {
  return message === null || message === '' ? 'no reason is given' : errorText(message)
}
