/** What earlier runs left in a segmented log, as its opening found it: what was settled, what was tried, and what the observer noted. */
import type { Recovery } from '../../../disk/recovery.ts'
import { RangeSet } from '../range-set.ts'
import { mark, type ObserverNote, type OpenFrame } from '../record.ts'
import type { BlockContent } from '../wire.ts'

export class FormerRuns {
  /** Messages that are there and not settled. */
  readonly unsettled: number
  /** Nothing below is unsettled. */
  readonly settledBelow: number
  /** Frames below were there. */
  readonly nextSequence: number
  readonly note: ObserverNote | undefined
  private readonly settled: RangeSet
  private readonly tries: Map<number, number>

  constructor(
    { segments, nextSequence }: Recovery,
    settled: readonly (readonly [start: number, length: number])[],
    tries: Map<number, number>,
    note: ObserverNote | undefined,
  ) {
    this.settled = new RangeSet(settled)
    this.tries = tries
    this.note = note
    this.nextSequence = nextSequence
    let unsettled = 0
    let settledBelow = nextSequence
    for (const [start, length] of segments.flatMap(({ ranges }) => ranges)) {
      const open = length - this.settled.countWithin(start, start + length)
      unsettled += open
      if (open > 0) settledBelow = Math.min(settledBelow, this.settled.firstNotIn(start))
    }
    this.unsettled = unsettled
    this.settledBelow = settledBelow
  }

  settledWithin(from: number, to: number): number {
    return this.settled.countWithin(from, to)
  }

  /** Of a frame, once; undefined where nothing was noted, or where it stands below all that is unsettled. */
  take({ firstSequence, count }: BlockContent): OpenFrame | undefined {
    const settledCount = this.settledWithin(firstSequence, firstSequence + count)
    if (firstSequence + count <= this.settledBelow) return undefined
    const bits = settledCount === 0 ? undefined : new Uint8Array((count + 7) >>> 3)
    const noted = new Map<number, number>()
    for (let index = 0; index < count; index++) {
      const sequence = firstSequence + index
      if (bits !== undefined && this.settled.has(sequence)) mark(bits, index)
      const tries = this.tries.get(sequence)
      if (tries === undefined) continue
      this.tries.delete(sequence)
      noted.set(index, tries)
    }
    return { settled: bits, tries: noted.size === 0 ? undefined : noted }
  }
}
