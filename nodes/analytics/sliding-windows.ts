/**
 * Windows of event time that overlap: one begins with each slide and lasts several. What is kept are panes, one slide long, of which
 * windows are made when they close; so a point is counted once, in however many windows it is. A pure function from a state to the
 * next one and what it closed.
 */
import { z } from 'zod'
import type { DataPoint } from '../../model/value.ts'
import { NodeErrors } from '../errors.ts'
import { checkTime } from './open-windows.ts'
import {
  combinedValues,
  isMeasured,
  metricValuesSchema,
  withPoint,
  type MetricValues,
  type WindowMetric,
} from './window-metrics.ts'
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
  const panes = [...(state?.panes ?? [])]
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
    const place = placeOf(panes, from)
    const before = panes[place]?.from === from ? panes[place] : undefined
    const pane = { from, metrics: withPoint(rules.metrics, before?.metrics, point, LARGEST_OF_A_PANE) }
    panes.splice(place, before === undefined ? 0 : 1, pane)
    if (before === undefined && openCount(rules, panes, watermark) > MAX_OPEN_WINDOWS) {
      throw NodeErrors.WINDOWS_TOO_MANY({ limit: MAX_OPEN_WINDOWS })
    }
    counted++
    reached = Math.max(reached, Math.min(point.ts, now) - rules.latenessMs)
  }
  return { ...closing(rules, panes, watermark, reached), counted, late }
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

/** Of open windows with a value that end by `until`, by time. The panes come by time: of each only the ends that those before it have not. */
function openEnds(rules: SlidingRules, panes: readonly Pane[], watermark: number, until = Infinity): readonly number[] {
  const { slideMs, lengthMs } = rules
  const ends: number[] = []
  let next = -Infinity
  for (const { from } of panes) {
    if (from >= until) break
    const last = Math.min(from + lengthMs, until)
    for (let end = Math.max(next, firstEndOf(rules, from, watermark)); end <= last; end += slideMs) {
      ends.push(end)
      next = end + slideMs
    }
  }
  return ends
}

/** How many windows with a value are open. The panes come by time. */
function openCount(rules: SlidingRules, panes: readonly Pane[], watermark: number): number {
  const { slideMs, lengthMs } = rules
  let count = 0
  let next = -Infinity
  for (const { from } of panes) {
    const first = Math.max(next, firstEndOf(rules, from, watermark))
    const ends = (from + lengthMs - first) / slideMs + 1
    if (ends <= 0) continue
    count += ends
    next = from + lengthMs + slideMs
  }
  return count
}

/** Of the first pane that does not begin before: most points are of the last. */
function placeOf(panes: readonly Pane[], from: number): number {
  let place = panes.length
  while (place > 0 && (panes[place - 1]?.from ?? 0) >= from) place--
  return place
}

/** Of the windows that the pane is in, the first that is open. */
function firstEndOf({ slideMs }: SlidingRules, from: number, watermark: number): number {
  return Math.max(from, Math.floor(watermark / slideMs) * slideMs) + slideMs
}

/** The panes come by time. */
function closing(
  rules: SlidingRules,
  panes: readonly Pane[],
  watermark: number,
  reached: number,
): { next: SlidingWindows; closed: readonly ClosedWindow[] } {
  const closed = openEnds(rules, panes, watermark, reached).map((to) => windowOf(rules, panes, to))
  return { next: { watermark: reached, panes: panes.filter(({ from }) => from + rules.lengthMs > reached) }, closed }
}

function windowOf({ lengthMs, metrics }: SlidingRules, panes: readonly Pane[], to: number): ClosedWindow {
  const from = to - lengthMs
  let values: MetricValues | undefined
  for (let place = placeOf(panes, from); place < panes.length; place++) {
    const pane = panes[place]
    if (pane === undefined || pane.from >= to) break
    values = values === undefined ? pane.metrics : combinedValues(metrics, values, pane.metrics)
  }
  return { from, to, metrics: values ?? [] }
}
