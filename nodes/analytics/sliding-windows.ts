/**
 * Windows of event time that overlap: one begins with each slide and lasts several. What is kept are panes, one slide long, of which
 * windows are made when they close; so a point is counted once, in however many windows it is. A pure function from a state to the
 * next one and what it closed.
 */
import { z } from 'zod'
import type { DataPoint } from '../../model/value.ts'
import { NodeErrors } from '../errors.ts'
import { checkTime } from './open-windows.ts'
import { combinedValues, isMeasured, metricValuesSchema, withPoint, type WindowMetric } from './window-metrics.ts'
import { MAX_OPEN_WINDOWS, type ClosedWindow, type WindowStep } from './window-node.ts'

/** In how many windows a point may be. */
export const MAX_OVERLAP = 60
/** A window's sum of as many panes stays a number. */
const LARGEST_OF_A_PANE = Number.MAX_VALUE / (2 * MAX_OVERLAP)

const PANE = z.strictObject({ from: z.int(), metrics: metricValuesSchema })
type Pane = z.output<typeof PANE>

export const slidingWindowsSchema = z.strictObject({
  /** Windows that end at or before this time are closed. Never goes back. */
  watermark: z.int(),
  /** Those of which a window is open, by time. */
  panes: z.array(PANE),
})
export type SlidingWindows = z.output<typeof slidingWindowsSchema>

export interface SlidingRules {
  /** A whole number of slides, at most `MAX_OVERLAP`. */
  readonly lengthMs: number
  readonly slideMs: number
  readonly latenessMs: number
  readonly metrics: readonly WindowMetric[]
}

/**
 * A point is late when all its windows are closed; else it counts in those that are open. The watermark moves as that of windows that
 * follow each other does. Throws `VALUE_INVALID`, `TOO_MANY_DISTINCT`, `WINDOWS_TOO_MANY`; then nothing is counted.
 */
export function withPoints(
  rules: SlidingRules,
  state: SlidingWindows | undefined,
  points: readonly DataPoint[],
  now: number,
): WindowStep<SlidingWindows> {
  const watermark = state?.watermark ?? Number.MIN_SAFE_INTEGER
  const panes = new Map(state?.panes.map((pane) => [pane.from, pane]))
  const late: DataPoint[] = []
  let reached = watermark
  let counted = 0
  for (const point of points) {
    if (!isMeasured(rules.metrics, point)) continue
    checkTime(point, now)
    const from = paneOf(rules, point.ts)
    if (from + rules.lengthMs <= watermark) {
      late.push(point)
      continue
    }
    const before = panes.get(from)
    panes.set(from, { from, metrics: withPoint(rules.metrics, before?.metrics, point, LARGEST_OF_A_PANE) })
    if (before === undefined && openEnds(rules, [...panes.values()], watermark).length > MAX_OPEN_WINDOWS) {
      throw NodeErrors.WINDOWS_TOO_MANY({ limit: MAX_OPEN_WINDOWS })
    }
    counted++
    reached = Math.max(reached, Math.min(point.ts, now) - rules.latenessMs)
  }
  return { ...closing(rules, [...panes.values()], watermark, reached), counted, late }
}

export function whenIdle(
  rules: SlidingRules,
  state: SlidingWindows,
  now: number,
): Pick<WindowStep<SlidingWindows>, 'next' | 'closed'> {
  const over = openEnds(rules, state.panes, state.watermark, now)
  return closing(rules, state.panes, state.watermark, Math.max(state.watermark, ...over))
}

export function firstEnd(rules: SlidingRules, { panes, watermark }: SlidingWindows): number | undefined {
  return panes.length === 0 ? undefined : Math.min(...panes.map(({ from }) => firstEndOf(rules, from, watermark)))
}

export function paneOf({ slideMs }: SlidingRules, ts: number): number {
  return Math.floor(ts / slideMs) * slideMs
}

/** Of open windows with a value that end by `until`, by time. */
function openEnds(rules: SlidingRules, panes: readonly Pane[], watermark: number, until = Infinity): readonly number[] {
  const { slideMs, lengthMs } = rules
  const ends = new Set<number>()
  for (const { from } of panes) {
    const last = Math.min(from + lengthMs, until)
    for (let end = firstEndOf(rules, from, watermark); end <= last; end += slideMs) ends.add(end)
  }
  return [...ends].toSorted((one, other) => one - other)
}

/** Of the windows that the pane is in, the first that is open. */
function firstEndOf({ slideMs }: SlidingRules, from: number, watermark: number): number {
  return Math.max(from, Math.floor(watermark / slideMs) * slideMs) + slideMs
}

function closing(
  rules: SlidingRules,
  panes: readonly Pane[],
  watermark: number,
  reached: number,
): { next: SlidingWindows; closed: readonly ClosedWindow[] } {
  const byTime = panes.toSorted((one, other) => one.from - other.from)
  const closed = openEnds(rules, byTime, watermark, reached).map((to) => windowOf(rules, byTime, to))
  return { next: { watermark: reached, panes: byTime.filter(({ from }) => from + rules.lengthMs > reached) }, closed }
}

function windowOf({ lengthMs, metrics }: SlidingRules, panes: readonly Pane[], to: number): ClosedWindow {
  const from = to - lengthMs
  const within = panes.filter((pane) => pane.from >= from && pane.from < to).map((pane) => pane.metrics)
  const [first = [], ...others] = within
  return { from, to, metrics: others.reduce((values, other) => combinedValues(metrics, values, other), first) }
}
