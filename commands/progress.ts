/** A bar on a terminal; elsewhere a line each tenth of the way. */
const WIDTH = 30

export class Progress {
  private readonly output: NodeJS.WriteStream
  private label = ''
  private shown = ''
  private lastTenth = -1

  constructor(output: NodeJS.WriteStream = process.stderr) {
    this.output = output
  }

  /** `unit`: what is counted, where it is no bytes. */
  show(label: string, done: number, total: number, unit?: string): void {
    const whole = unit === undefined ? sizeText(total) : `${total} ${unit}`
    if (label !== this.label) {
      this.end()
      this.label = label
      this.lastTenth = -1
    }
    const part = total === 0 ? 1 : Math.min(1, done / total)
    if (!this.output.isTTY) {
      const tenth = Math.floor(part * 10)
      if (tenth > this.lastTenth) this.output.write(`${label} ${tenth * 10}% of ${whole}\n`)
      this.lastTenth = Math.max(tenth, this.lastTenth)
      return
    }
    const filled = Math.round(part * WIDTH)
    const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`
    const text = `${label.padEnd(12)} ${bar} ${String(Math.floor(part * 100)).padStart(3)}% of ${whole}`
    if (text !== this.shown) this.output.write(`\r${text}`)
    this.shown = text
  }

  /** Ends the line. */
  end(): void {
    if (this.output.isTTY && this.shown !== '') this.output.write('\n')
    this.shown = ''
  }
}

export function sizeText(bytes: number): string {
  if (bytes < 2 ** 20) return `${Math.ceil(bytes / 2 ** 10)} KiB`
  if (bytes < 2 ** 30) return `${(bytes / 2 ** 20).toFixed(1)} MiB`
  return `${(bytes / 2 ** 30).toFixed(2)} GiB`
}
