/** An instant in milliseconds that scripts can read and move. Source: `rule-engine.md` 6.5 "Date". */
export class DateValue {
  time: number

  constructor(time: number) {
    this.time = time
  }

  /** ISO text; zero milliseconds are left out, as existing clients see it. */
  toJsonText(): string {
    return new Date(this.time).toISOString().replace('.000Z', 'Z')
  }

  toText(): string {
    return this.toJsonText()
  }
}
