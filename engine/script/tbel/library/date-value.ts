/** An instant in milliseconds that scripts can read and move. Source: `rule-engine.md` 6.5 "Date". */
import { DEFAULT_LOCALE, styledText } from './date-names.ts'
import { UTC } from './zones.ts'

export class DateValue {
  time: number

  constructor(time: number) {
    this.time = time
  }

  /** ISO text; zero milliseconds are left out, as existing clients see it. */
  toIsoText(): string {
    return new Date(this.time).toISOString().replace('.000Z', 'Z')
  }

  /** In words: what a date is joined to texts by, and printed as in JSON. */
  toText(): string {
    return styledText(DEFAULT_LOCALE, this.time, UTC, 'full', 'full')
  }
}
