/**
 * The way from acknowledged to visible. QuestDB acknowledges a write once its log has it and applies the log to the table later; so a
 * read asks how far the log goes and waits until the table is there. And it watches: a table whose log is no longer applied
 * (suspended), or that is not what it was, is noticed within seconds, told, and takes no writes until it is well again.
 */
import type { Clock, TimerHandle } from '../../../model/clock.ts'
import { errorText } from '../../../model/errors.ts'
import { QuestDbErrors } from './errors.ts'
import { tableFault } from './schema.ts'
import { literal, type QuestDbServer, type Row } from './server.ts'

export interface AppliedOptions {
  readonly server: Pick<QuestDbServer, 'query'>
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
  readonly resolve: (target: number) => void
  readonly reject: (error: unknown) => void
}

interface Progress {
  readonly applied: number
  readonly written: number
  readonly suspended: string | undefined
}

const ABSENT: Progress = { applied: -1, written: 0, suspended: 'it is absent' }
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
  /** The last transaction that was seen to be applied; undefined where others were on their way. */
  private reached: number | undefined
  /** The last two looks saw the same transaction, and none on its way. */
  private isStill = false
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

  /**
   * What `ask` answers, with every write that was acknowledged before the call, by any process. While the log stands still `ask` and the look at the log
   * go together: QuestDB takes a request up to a millisecond after it came. Where the look shows what the table did not have before, `ask` is called
   * again. Rejects as {@link wait}, and as `ask`.
   */
  async read<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    const { reached } = this
    if (!this.isStill || reached === undefined) {
      await this.wait()
      return ask()
    }
    const early = ask()
    // Nobody waits for it any more where the look fails first, or shows more.
    early.catch(() => undefined)
    return (await this.wait()) === reached ? early : ask()
  }

  /**
   * Resolves when every write that was acknowledged before the call, by any process, is visible, with the last transaction of them. Rejects
   * SUSPENDED, APPLY_LAG, UNREACHABLE.
   */
  wait(): Promise<number> {
    return new Promise<number>((resolve, reject) => {
      const deadline = this.options.clock.monotonic() + this.options.timeoutMs
      this.waiters.push({ target: undefined, deadline, resolve, reject })
      this.looking ??= this.look()
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
    // At once: who waits anew in the turn of an answer would wait for a look that is over.
    this.looking = undefined
  }

  /** True where the waiter has its answer. */
  private settle(waiter: Waiter, { applied, written, suspended }: Progress): boolean {
    waiter.target ??= written
    if (applied >= waiter.target) waiter.resolve(waiter.target)
    else if (suspended !== undefined) waiter.reject(this.suspended(suspended))
    else if (this.options.clock.monotonic() >= waiter.deadline) {
      waiter.reject(QuestDbErrors.APPLY_LAG({ table: this.options.table, timeout: this.options.timeoutMs }))
    } else return false
    return true
  }

  private async progress(): Promise<Progress> {
    const before = this.reached
    try {
      const [row] = await this.options.server.query(this.sql)
      const progress = row === undefined ? ABSENT : progressOf(row)
      this.currentLag = progress.written - progress.applied
      this.reached = progress.applied === progress.written ? progress.applied : undefined
      this.isStill = this.reached !== undefined && this.reached === before
      return progress
    } catch (error) {
      // A server that was away may have lost what it did not sync, and count anew.
      this.reached = undefined
      this.isStill = false
      throw error
    }
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

function progressOf([applied, written, isSuspended, message]: Row): Progress {
  const suspended = isSuspended === true ? `it is suspended (${reasonOf(message)})` : undefined
  return { applied: Number(applied), written: Number(written), suspended }
}

function reasonOf(message: unknown): string {
  return message === null || message === '' ? 'no reason is given' : errorText(message)
}
