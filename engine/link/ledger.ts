/** Settles and tries that wait to be written with the next block. */
export class Ledger {
  private settled: number[] = []
  private tries = new Map<number, number>()

  settle(sequence: number): void {
    this.settled.push(sequence)
  }

  failed(sequence: number, tries: number): void {
    this.tries.set(sequence, tries)
  }

  get size(): number {
    return this.settled.length + this.tries.size
  }

  /** Takes all out; the settled in ascending order. */
  take(): LedgerPage {
    const page = { settled: this.settled, attempts: this.tries }
    if (!isAscending(page.settled)) page.settled.sort((a, b) => a - b)
    this.settled = []
    this.tries = new Map()
    return page
  }

  /** Puts back what could not be written. */
  restore(page: LedgerPage): void {
    this.settled = page.settled.concat(this.settled)
    for (const [sequence, tries] of page.attempts) if (!this.tries.has(sequence)) this.tries.set(sequence, tries)
  }
}

export interface LedgerPage {
  readonly settled: number[]
  readonly attempts: ReadonlyMap<number, number>
}

function isAscending(sequences: readonly number[]): boolean {
  for (let index = 1; index < sequences.length; index++) {
    if ((sequences[index] ?? 0) < (sequences[index - 1] ?? 0)) return false
  }
  return true
}
