/**
 * For a log that was restored: what the other stores of the backup hold may stand at later positions than the copied log knows, as they were copied
 * after it. Positions that were given out must not be given out again, or what comes next would count as older than what is there.
 */
import type { Disk } from '../../disk/disk.ts'
import { RecordLog } from '../../disk/record-log.ts'
import type { LinkEventListener } from './events.ts'
import { LINK_SEGMENTS } from './log-format.ts'

/** Reads the log as an opening does, and has it give out no position below `floor`. Nobody else may have it open. */
export async function raiseSequence(
  disk: Disk,
  directory: string,
  floor: number,
  onEvent: LinkEventListener,
): Promise<void> {
  const startAt = ({ nextSequence }: { nextSequence: number }): number => Math.max(nextSequence, floor)
  const kind = { format: LINK_SEGMENTS, durability: 'power-cut', segmentBytes: 0 } as const
  const log = await RecordLog.open({ ...kind, disk, directory, onEvent, startAt }, () => undefined)
  await log.openSegment()
  await log.close()
}
