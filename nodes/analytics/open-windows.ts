/**
 * Windows of event time that are open: points go into theirs in any order, and the watermark closes them. A pure function
 * from a state to the next one and what it closed. No point is counted after its window was closed.
 */
import { z } from 'zod'
import type { DataPoint } from '../../model/value.ts'
import { accumulated, accumulatorSchema, type Accumulator } from '../calculated/accumulator.ts'
import type { MetricFunction } from '../calculated/aggregation.ts'
import type { Bucket } from '../calculated/time-bucket.ts'
import { NodeErrors } from '../errors.ts'

export const MAX_OPEN_WINDOWS = 200
/** A clock that is wrong by more must not hold windows open for so long. */
export const MAX_AHEAD_MS = 86_400_000

const WINDOW = z.strictObject({
  from: z.int(),
  /** Exclusive. */
  to: z.int(),
  /** In the order of the metrics; null where no value came. */
  metrics: z.array(accumulatorSchema.nullable()),
})
export type OpenWindow = z.output<typeof WINDOW>

export const openWindowsSchema = z.strictObject({
  /** Windows that end at or before this time are closed. Never goes back. */
  watermark: z.int(),
  /** By time. */
  open: z.array(WINDOW),
})
export type OpenWindows = z.output<typeof openWindowsSchema>

export interface WindowMetric {
  /** Of the series that is aggregated. */
  readonly key: string
  readonly function: MetricFunction
  readonly outputKey: string
}

export interface WindowRules {
  readonly bucketOf: (ts: number) => Bucket
  readonly latenessMs: number
  readonly metrics: readonly WindowMetric[]
}

export interface WindowStep {
  /** Points that went into a window. */
  readonly counted: number
  readonly next: OpenWindows
  readonly closed: readonly OpenWindow[]
  /** Points whose window was closed before: they are counted nowhere. */
  readonly late: readonly DataPoint[]
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
): WindowStep {
  const watermark = state?.watermark ?? Number.MIN_SAFE_INTEGER
  const open = new Map(state?.open.map((window) => [window.from, window]))
  const late: DataPoint[] = []
  let reached = watermark
  let counted = 0
  for (const point of points) {
    if (!rules.metrics.some(({ key }) => key === point.key)) continue
    if (point.ts > now + MAX_AHEAD_MS) {
      throw NodeErrors.VALUE_INVALID({ key: 'ts', expected: 'at most a day ahead of the clock' })
    }
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

/** No point came for a while: what is over by the clock is closed without waiting for a later one. */
export function whenIdle(state: OpenWindows, now: number): WindowStep {
  const over = state.open.filter(({ to }) => to <= now)
  const watermark = over.reduce((latest, { to }) => Math.max(latest, to), state.watermark)
  return { ...closing(state.open, watermark), counted: 0, late: [] }
}

function closing(windows: readonly OpenWindow[], watermark: number): Pick<WindowStep, 'next' | 'closed'> {
  const byTime = windows.toSorted((one, other) => one.from - other.from)
  const closed = byTime.filter(({ to }) => to <= watermark)
  return { next: { watermark, open: byTime.filter(({ to }) => to > watermark) }, closed }
}

function withPoint(
  metrics: readonly WindowMetric[],
  before: OpenWindow['metrics'] | undefined,
  point: DataPoint,
): (Accumulator | null)[] {
  return metrics.map((metric, index) => {
    const known = before?.[index] ?? undefined
    if (metric.key !== point.key) return known ?? null
    const next = accumulated(metric.function, metric.outputKey, known, point)
    // An endless sum could be neither stored nor told.
    if (next.number !== undefined && !Number.isFinite(next.number)) {
      throw NodeErrors.VALUE_INVALID({ key: point.key, expected: 'small enough to be added' })
    }
    return next
  })
}
