/** A set of sequences held as ranges: what a replay knows to be settled. Built once, then only asked. */
export class RangeSet {
  private readonly starts: number[] = []
  private readonly ends: number[] = []

  /** `ranges` in any order, overlapping or not. */
  constructor(ranges: readonly (readonly [start: number, length: number])[]) {
    for (const [start, length] of [...ranges].sort((a, b) => a[0] - b[0])) {
      const last = this.ends.length - 1
      const lastEnd = this.ends[last]
      if (lastEnd !== undefined && start <= lastEnd) this.ends[last] = Math.max(lastEnd, start + length)
      else {
        this.starts.push(start)
        this.ends.push(start + length)
      }
    }
  }

  has(sequence: number): boolean {
    const index = this.rangeAtOrBefore(sequence)
    return index >= 0 && sequence < (this.ends[index] ?? 0)
  }

  /** The first number at or above this one that is no member. */
  firstNotIn(from: number): number {
    const index = this.rangeAtOrBefore(from)
    return index < 0 ? from : Math.max(from, this.ends[index] ?? 0)
  }

  /** How many members lie in [from, to). */
  countWithin(from: number, to: number): number {
    let count = 0
    for (let index = Math.max(0, this.rangeAtOrBefore(from)); index < this.starts.length; index++) {
      const start = Math.max(from, this.starts[index] ?? 0)
      if (start >= to) break
      count += Math.max(0, Math.min(to, this.ends[index] ?? 0) - start)
    }
    return count
  }

  private rangeAtOrBefore(sequence: number): number {
    let low = 0
    let high = this.starts.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.starts[middle] ?? 0) <= sequence) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}
