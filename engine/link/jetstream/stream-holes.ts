/**
 * Finds frames that a stream should hand out and does not. A server that meets a damaged frame in its files steps over it without a word, and
 * goes on to count it: a reader knows only by its own count of positions.
 */
import { z } from 'zod'

/** What a stream says of itself. */
export interface StreamInventory {
  /** Of the oldest frame; one behind `last` where there is none. */
  readonly first: number
  readonly last: number
  /** Positions between them that were removed, ascending; undefined where they are too many to be told. */
  readonly removed: readonly number[] | undefined
  /** What the server dropped when it found its files damaged, since it was started; undefined for nothing. */
  readonly dropped: { readonly bytes: number; readonly frames: number | undefined } | undefined
}

/** Positions, both included, that no frame was handed out for. */
export interface Hole {
  readonly from: number
  readonly to: number
}

/** Each is a number in the server's answer, which has to stay well below its largest message. */
const MAX_REMOVED = 10_000

const StateSchema = z.object({
  first_seq: z.number(),
  last_seq: z.number(),
  num_deleted: z.number().optional(),
  deleted: z.array(z.number()).nullish(),
  lost: z.object({ msgs: z.array(z.number()).nullish(), bytes: z.number() }).optional(),
})

/** `ask` is answered with a stream's state, in brief or in full, which only then has what was dropped. Throws what it throws. */
export async function takeInventory(ask: (inFull: boolean) => Promise<unknown>): Promise<StreamInventory> {
  const brief = StateSchema.parse(await ask(false))
  const isTooLong = (brief.num_deleted ?? 0) > MAX_REMOVED
  const state = isTooLong ? brief : StateSchema.parse(await ask(true))
  const { lost } = state
  return {
    first: state.first_seq,
    last: state.last_seq,
    removed: isTooLong ? undefined : [...(state.deleted ?? [])].sort((a, b) => a - b),
    dropped: lost === undefined ? undefined : { bytes: lost.bytes, frames: lost.msgs?.length },
  }
}

/** How many frames the stream still counts in the hole. */
export function framesIn({ from, to }: Hole, { first, removed }: StreamInventory): number {
  const start = Math.max(from, first)
  const gone = (removed ?? []).reduce((sum, position) => sum + (position >= start && position <= to ? 1 : 0), 0)
  return Math.max(0, to - start + 1 - gone)
}

/** The positions that one reader is handed, from the oldest frame on. */
export class StreamHoles {
  private readonly removed: readonly number[]
  private nextRemoved = 0
  private expected: number

  constructor({ first, last, removed }: StreamInventory) {
    this.removed = removed ?? []
    this.expected = removed === undefined ? last + 1 : first
  }

  /** The hole before a frame; undefined where none is. */
  before(position: number): Hole | undefined {
    this.skipRemoved()
    const from = this.expected
    if (position < from) return undefined
    this.expected = position + 1
    return position > from ? { from, to: position - 1 } : undefined
  }

  private skipRemoved(): void {
    for (;;) {
      const position = this.removed[this.nextRemoved]
      if (position === undefined || position > this.expected) return
      this.nextRemoved++
      if (position === this.expected) this.expected++
    }
  }
}
