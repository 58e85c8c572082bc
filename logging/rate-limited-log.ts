/**
 * A log for lines whose rate others decide (log nodes of rule chains): at most so many a second, the rest counted and told in
 * one line when the second is over. A flood costs a counter, not a line.
 */
import type { Clock, TimerHandle } from '../model/clock.ts'
import type { Log, LogFields, LogLevel } from '../model/log.ts'

export class RateLimitedLog implements Log {
  private readonly target: Log
  private readonly clock: Clock
  private readonly linesPerSecond: number
  private written = 0
  private dropped = 0
  private timer: TimerHandle | undefined

  constructor(target: Log, clock: Clock, linesPerSecond: number) {
    this.target = target
    this.clock = clock
    this.linesPerSecond = linesPerSecond
  }

  debug(text: string, fields?: LogFields): void {
    this.write('debug', text, fields)
  }

  info(text: string, fields?: LogFields): void {
    this.write('info', text, fields)
  }

  warn(text: string, fields?: LogFields): void {
    this.write('warn', text, fields)
  }

  error(text: string, fields?: LogFields): void {
    this.write('error', text, fields)
  }

  close(): void {
    this.timer?.cancel()
    this.endOfSecond()
  }

  private write(level: LogLevel, text: string, fields?: LogFields): void {
    this.timer ??= this.clock.after(1000, () => this.endOfSecond())
    if (this.written >= this.linesPerSecond) {
      this.dropped++
      return
    }
    this.written++
    this.target[level](text, fields)
  }

  private endOfSecond(): void {
    this.timer = undefined
    this.written = 0
    if (this.dropped === 0) return
    this.target.warn('log lines left out: more than LOG_NODE_LINES_PER_SECOND', {
      left_out: this.dropped,
      limit: this.linesPerSecond,
    })
    this.dropped = 0
  }
}
