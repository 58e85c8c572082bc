/**
 * Windows of event time that are open: points go into theirs in any order, and the watermark closes them. A pure function
 * from a state to the next one and what it closed. No point is counted after its window was closed.
 */
import { z } from 'zod'
import type { DataPoint } from '../../model/value.ts'
import type { Bucket } from '../calculated/time-bucket.ts'
import { NodeErrors } from '../errors.ts'
import { isMeasured, metricValuesSchema, withPoint, type WindowMetric } from './window-metrics.ts'
import { MAX_AHEAD_MS, MAX_OPEN_WINDOWS, type WindowStep } from './window-node.ts'

const WINDOW = z.strictObject({
  from: z.int(),
  /** Exclusive. */
  to: z.int(),
  metrics: metricValuesSchema,
})
export type OpenWindow = z.output<typeof WINDOW>

export const openWindowsSchema = z.strictObject({
  /** Windows that end at or before this time are closed. Never goes back. */
  watermark: z.int(),
  /** By time. */
  open: z.array(WINDOW),
})
export type OpenWindows = z.output<typeof openWindowsSchema>

export interface WindowRules {
  readonly bucketOf: (ts: number) => Bucket
  readonly latenessMs: number
  readonly metrics: readonly WindowMetric[]
}

/**
 * The points of one message are not late for each other: the watermark moves behind all of them. It follows the largest time
 * seen, yet never the time `now`, so that a device whose clock is ahead makes no other point late.
 * Throws `VALUE_INVALID`, `TOO_MANY_DISTINCT`, `WINDOWS_TOO_MANY`; then nothing is counted.
 */
export function withPoints(
  rules: WindowRules,
  state: OpenWindows | undefined,
  points: readonly DataPoint[],
  now: number,
): WindowStep<OpenWindows> {
  const watermark = state?.watermark ?? Number.MIN_SAFE_INTEGER
  const open = new Map(state?.open.map((window) => [window.from, window]))
  const late: DataPoint[] = []
  let reached = watermark
  let counted = 0
  for (const point of points) {
    if (!isMeasured(rules.metrics, point)) continue
    checkTime(point, now)
    const { from, to } = rules.bucketOf(point.ts)
    if (to <= watermark) {
      late.push(point)
      continue
    }
    const before = open.get(from)
    if (before === undefined && open.size >= MAX_OPEN_WINDOWS) {
      throw NodeErrors.WINDOWS_TOO_MANY({ limit: MAX_OPEN_WINDOWS })
    }
    open.set(from, { from, to, metrics: withPoint(rules.metrics, before?.metrics, point) })
    counted++
    reached = Math.max(reached, Math.min(point.ts, now) - rules.latenessMs)
  }
  return { ...closing([...open.values()], reached), counted, late }
}

/** Throws `VALUE_INVALID` for a time that no clock is wrong by. */
export function checkTime({ ts }: DataPoint, now: number): void {
  if (ts > now + MAX_AHEAD_MS) {
    throw NodeErrors.VALUE_INVALID({ key: 'ts', expected: 'at most a day ahead of the clock' })
  }
}

/** No point came for a while: what is over by the clock is closed without waiting for a later one. */
export function whenIdle(state: OpenWindows, now: number): Pick<WindowStep<OpenWindows>, 'next' | 'closed'> {
  const over = state.open.filter(({ to }) => to <= now)
  const watermark = over.reduce((latest, { to }) => Math.max(latest, to), state.watermark)
  return closing(state.open, watermark)
}

function closing(
  windows: readonly OpenWindow[],
  watermark: number,
): { next: OpenWindows; closed: readonly OpenWindow[] } {
  const byTime = windows.toSorted((one, other) => one.from - other.from)
  const closed = byTime.filter(({ to }) => to <= watermark)
  return { next: { watermark, open: byTime.filter(({ to }) => to > watermark) }, closed }
}
