/** The link of one process: the frame link over segments on its own disk. */
import { systemRandom } from '../../../model/system-clock.ts'
import { soleMember } from '../../cluster/membership.ts'
import { DeadLetterStore } from '../dead-letters.ts'
import type { LinkEventListener } from '../events.ts'
import { FrameLink } from '../frame-link.ts'
import { openSegmentBroker } from './segment-broker.ts'
import { DEFAULT_BOUNDS, type SegmentLogFigures, type SegmentLogOptions } from './segment-log-options.ts'

export interface SegmentLog extends FrameLink {
  figures(): SegmentLogFigures
}

/** Opens the log, reading what the last run left. Throws what the disk throws, and where a block's schema is not known. */
export async function openSegmentLog(options: SegmentLogOptions): Promise<SegmentLog> {
  const bounds = { ...DEFAULT_BOUNDS, ...options.bounds }
  const tell = options.onEvent ?? (() => undefined)
  // That the log is this process's is no news.
  const onEvent: LinkEventListener = (event) => {
    if (event.kind !== 'stream-taken' && event.kind !== 'stream-released') tell(event)
  }
  const { directory, clock } = options
  const letters = await DeadLetterStore.open({
    ...options,
    directory: `${directory}/dead-letters`,
    segmentBytes: Math.min(bounds.segmentBytes, Math.max(1 << 16, bounds.maxDeadLetterBytes >> 4)),
    maxLetters: bounds.maxDeadLetters,
    maxBytes: bounds.maxDeadLetterBytes,
    onEvent,
  })
  const broker = await openSegmentBroker(options, bounds, onEvent)
  const link = new FrameLink({
    ...options,
    broker,
    letters,
    // Nobody else reads the log.
    membership: soleMember({ id: directory, roles: ['engine'], startedAt: clock.now() }),
    random: systemRandom,
    bounds,
    onEvent,
  })
  const figures = (): SegmentLogFigures => ({
    ...frameFigures(),
    writes: broker.writes,
    bytesWritten: broker.bytesWritten,
    diskFailures: broker.diskFailures,
    unsettled: broker.unsettled,
    backlogBytes: broker.backlogBytes,
    segments: broker.segmentCount,
    deadLettersDropped: letters.droppedCount,
  })
  const frameFigures = link.figures.bind(link)
  return Object.assign(link, { figures })
}

export type { SegmentLogBounds, SegmentLogFigures, SegmentLogOptions } from './segment-log-options.ts'
export type { LinkEvent } from '../events.ts'
