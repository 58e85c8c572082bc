/** An instant that scripts can read and move. Source: `rule-engine.md` 6.5 "Date". */
import { DEFAULT_LOCALE, styledText } from './date-names.ts'
import { UTC } from './zones.ts'

const NANOS_OF_A_MS = 1_000_000n

export class DateValue {
  /** Unix ms, whole. */
  time: number
  /** What it is behind them: less than a million. */
  nanos: number

  constructor(time: number, nanos = 0) {
    this.time = time
    this.nanos = nanos
  }

  moveNanos(by: bigint): void {
    const nanos = BigInt(this.nanos) + by
    const rest = ((nanos % NANOS_OF_A_MS) + NANOS_OF_A_MS) % NANOS_OF_A_MS
    this.time += Number((nanos - rest) / NANOS_OF_A_MS)
    this.nanos = Number(rest)
  }

  /** ISO text with no, three, six or nine digits behind the second, as existing clients see it. */
  toIsoText(): string {
    const text = new Date(this.time).toISOString()
    const digits = `${text.slice(-4, -1)}${String(this.nanos).padStart(6, '0')}`.replace(/(?:000)+$/, '')
    return `${text.slice(0, -5)}${digits === '' ? '' : `.${digits}`}Z`
  }

  /** In words: what a date is joined to texts by, and printed as in JSON. */
  toText(): string {
    return styledText(DEFAULT_LOCALE, this.time, UTC, 'full', 'full')
  }
}
