/** A segment log over a simulated disk and clock. */
import assert from 'node:assert/strict'
import { ManualClock, SeededRandom } from '../../actor/testkit.ts'
import type { LinkEvent } from '../events.ts'
import { message, SimulatedDisk } from '../testkit.ts'
import { openSegmentLog, type SegmentLog, type SegmentLogBounds } from './segment-log.ts'

export interface Simulated {
  readonly clock: ManualClock
  readonly disk: SimulatedDisk
  readonly events: LinkEvent[]
  /** Runs something that waits for the disk, moving the clock until it ends. */
  readonly run: <Value>(work: Promise<Value>) => Promise<Value>
  readonly open: (bounds?: Partial<SegmentLogBounds>) => Promise<SegmentLog>
}

export function simulated(seed = 1): Simulated {
  const clock = new ManualClock()
  const disk = new SimulatedDisk(clock, new SeededRandom(seed))
  const events: LinkEvent[] = []
  const run = async <Value>(work: Promise<Value>): Promise<Value> => {
    let isDone = false
    const mark = (): void => void (isDone = true)
    work.then(mark, mark)
    for (let step = 0; step < 10_000 && !isDone; step++) await clock.advance(clock.untilNextTimerMs ?? 1)
    assert.ok(isDone, 'did not end')
    return work
  }
  const open = (bounds: Partial<SegmentLogBounds> = {}): Promise<SegmentLog> =>
    run(
      openSegmentLog({
        directory: 'log',
        disk,
        clock,
        durability: 'power-cut',
        partitions: 4,
        bounds: { segmentBytes: 100_000, retentionMs: 0, ...bounds },
        onEvent: (event) => events.push(event),
      }),
    )
  return { clock, disk, events, run, open }
}

/** `stored`, or the code of the refusal. */
export const outcome = (log: SegmentLog, data = '{}'): Promise<string> =>
  new Promise((resolve) =>
    log.publish(message({ data }), { stored: () => resolve('stored'), refused: (error) => resolve(error.code) }),
  )
