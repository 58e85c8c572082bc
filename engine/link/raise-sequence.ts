/**
 * For a log that was restored: what the other stores of the backup hold may stand at later positions than the copied log knows, as they were copied
 * after it. Positions that were given out must not be given out again, or what comes next would count as older than what is there.
 */
import type { Disk } from './disk.ts'
import type { LinkEventListener } from './events.ts'
import { recover } from './recovery.ts'
import { SegmentWriter } from './segment-writer.ts'

/** Reads the log as an opening does, and has it give out no position below `floor`. Nobody else may have it open. */
export async function raiseSequence(
  disk: Disk,
  directory: string,
  floor: number,
  onEvent: LinkEventListener,
): Promise<void> {
  const recovery = await recover(disk, directory, onEvent, { entries: false }, () => undefined)
  const nextSequence = Math.max(recovery.nextSequence, floor)
  const last = recovery.segments.at(-1)
  const options = { disk, directory, durability: 'power-cut', segmentBytes: 0, last, nextSequence } as const
  const writer = new SegmentWriter({ ...options, opened: () => undefined })
  await writer.openSegment()
  await writer.close()
}
