/** What was settled, tried and noted since the last record that is durable; with what is being written, until that is known to be. */
import type { RecordChange } from './frame-broker.ts'
import type { ObserverNote } from './record.ts'

export class RecordChanges {
  private settledNow: number[] = []
  private tries = new Map<number, number>()
  private note: ObserverNote | undefined
  private taken: RecordChange | undefined

  get isEmpty(): boolean {
    return this.settledNow.length === 0 && this.tries.size === 0 && this.note === undefined
  }

  /** Nothing waits, and nothing is being written. */
  get isDurable(): boolean {
    return this.isEmpty && this.taken === undefined
  }

  settled(sequence: number): void {
    this.settledNow.push(sequence)
  }

  failed(sequence: number, tries: number): void {
    this.tries.set(sequence, tries)
  }

  noted(note: ObserverNote): void {
    this.note = note
  }

  take(): RecordChange {
    const settled = this.settledNow
    if (!isAscending(settled)) settled.sort((a, b) => a - b)
    this.taken = { settled, tries: this.tries, note: this.note }
    this.settledNow = []
    this.tries = new Map()
    this.note = undefined
    return this.taken
  }

  written(): void {
    this.taken = undefined
  }

  /** Puts back what could not be written. */
  refused(): void {
    const { taken } = this
    if (taken === undefined) return
    this.taken = undefined
    this.settledNow = taken.settled.concat(this.settledNow)
    for (const [sequence, tries] of taken.tries) if (!this.tries.has(sequence)) this.tries.set(sequence, tries)
    this.note ??= taken.note
  }
}

function isAscending(sequences: readonly number[]): boolean {
  for (let index = 1; index < sequences.length; index++) {
    if ((sequences[index] ?? 0) < (sequences[index - 1] ?? 0)) return false
  }
  return true
}
