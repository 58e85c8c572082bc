/** The log of all streams by time. Frames of a stream lie in the order in which they were stored. */
import type { LoggedFrame, ReadableLink } from '../../engine/link/link.ts'

/** The first frame at or above a position. */
async function frameAt(link: ReadableLink, stream: number, position: number): Promise<LoggedFrame | undefined> {
  for await (const frame of link.read({ stream, position })) return frame
  return undefined
}

export interface LogStart {
  readonly position: number
  /** When the oldest frame that is still there was stored; undefined where there is none. */
  readonly retainedFrom: number | undefined
}

/** Where frames begin that were stored at a time or later: a search in halves, so that what lies before is not read. */
export async function startAt(link: ReadableLink, stream: number, time: number): Promise<LogStart> {
  const first = await frameAt(link, stream, 0)
  if (first === undefined) return { position: 0, retainedFrom: undefined }
  const retainedFrom = first.storedAt
  if (first.storedAt >= time) return { position: first.position, retainedFrom }
  let before = first.position
  let step = 1
  const isLate = async (position: number): Promise<boolean> => {
    const frame = await frameAt(link, stream, position)
    if (frame !== undefined && frame.storedAt < time) before = Math.max(before, frame.position)
    return frame === undefined || frame.storedAt >= time
  }
  while (!(await isLate(before + step))) step *= 2
  let late = before + step
  while (late - before > 1) {
    const middle = before + Math.floor((late - before) / 2)
    if (await isLate(middle)) late = middle
  }
  return { position: late, retainedFrom }
}

/** Frames of all streams from their positions to their ends, oldest first; `positions` moves with what was given. */
export async function* framesByTime(link: ReadableLink, positions: number[]): AsyncGenerator<LoggedFrame> {
  const readers = positions.map((position, stream) => link.read({ stream, position })[Symbol.asyncIterator]())
  try {
    const heads = await Promise.all(readers.map(async (reader) => headOf(await reader.next())))
    for (;;) {
      const next = oldest(heads)
      if (next === undefined) return
      const { frame, stream } = next
      yield frame
      positions[stream] = frame.position + 1
      heads[stream] = headOf((await readers[stream]?.next()) ?? { done: true, value: undefined })
    }
  } finally {
    for (const reader of readers) await reader.return?.()
  }
}

function headOf(result: IteratorResult<LoggedFrame, unknown>): LoggedFrame | undefined {
  return result.done === true ? undefined : result.value
}

function oldest(
  heads: readonly (LoggedFrame | undefined)[],
): { readonly frame: LoggedFrame; readonly stream: number } | undefined {
  let found: { readonly frame: LoggedFrame; readonly stream: number } | undefined
  for (const [stream, frame] of heads.entries())
    if (frame !== undefined && (found === undefined || frame.storedAt < found.frame.storedAt)) found = { frame, stream }
  return found
}
