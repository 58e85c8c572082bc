/**
 * A second thread on the database file, which only reads: long reads and copies run beside the commits and never hold one up. Started by
 * the first of them, ended when nothing was asked for a while, as a thread costs some megabytes.
 */
import { EntityStoreErrors } from '../errors.ts'
import type { SqlValue } from '../database.ts'
import { startSqliteThread, ThreadCalls } from './thread-calls.ts'

/** Reads that have no answer yet; more are refused as retryable. */
const MAX_READS = 1_000
const IDLE_MS = 30_000

export class SideThread {
  private readonly file: string
  private calls: Promise<ThreadCalls> | undefined
  private asked = 0
  private idleTimer: NodeJS.Timeout | undefined
  private isClosed = false

  constructor(file: string) {
    this.file = file
  }

  /** Whether the thread runs. */
  get isRunning(): boolean {
    return this.calls !== undefined
  }

  /** Every commit that was acknowledged before the call is in the rows. */
  async read(sql: string, parameters: readonly SqlValue[]): Promise<readonly unknown[]> {
    const { rows } = await this.ask((calls) => calls.rows(sql, parameters))
    return rows
  }

  /** Writes a consistent copy to a file that is not there yet, with every commit that was acknowledged before. Not synced. */
  async copyTo(file: string): Promise<void> {
    await this.ask((calls) => calls.request((id) => ({ kind: 'copy', id, file })))
  }

  /** Waits for what was asked. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.stop()
  }

  private async ask<Answer>(work: (calls: ThreadCalls) => Promise<Answer>): Promise<Answer> {
    if (this.isClosed) throw EntityStoreErrors.CLOSED()
    if (this.asked >= MAX_READS) throw EntityStoreErrors.OVERLOADED({ waiting: this.asked, limit: MAX_READS })
    this.asked++
    clearTimeout(this.idleTimer)
    try {
      return await work(await (this.calls ??= this.start()))
    } finally {
      if (--this.asked === 0 && !this.isClosed) this.stopWhenIdle()
    }
  }

  private async start(): Promise<ThreadCalls> {
    const starting = startSqliteThread({ file: this.file, synchronous: 'normal', readOnly: true }, 'entities, reads')
    // A thread that died is replaced by the next read: nothing is kept in it.
    const forget = (): void => void (this.calls = undefined)
    try {
      return new ThreadCalls(await starting, forget)
    } catch (error) {
      forget()
      throw error
    }
  }

  private stopWhenIdle(): void {
    this.idleTimer = setTimeout(() => void this.stop(), IDLE_MS)
    this.idleTimer.unref()
  }

  private async stop(): Promise<void> {
    clearTimeout(this.idleTimer)
    const { calls } = this
    this.calls = undefined
    // A thread that did not start was told to whoever asked.
    await (await calls?.catch(() => undefined))?.close()
  }
}
