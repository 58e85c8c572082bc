/**
 * Windows of event time that last while points come: one ends when none came for the gap. A point may lengthen one, and join two to
 * one. A pure function from a state to the next one and what it closed. No point is counted after its window was closed.
 */
import { z } from 'zod'
import type { DataPoint } from '../../model/value.ts'
import { MAX_DISTINCT } from '../calculated/accumulator.ts'
import { NodeErrors } from '../errors.ts'
import { checkTime } from './open-windows.ts'
import { combinedValues, isMeasured, metricValuesSchema, withPoint, type WindowMetric } from './window-metrics.ts'
import { MAX_OPEN_WINDOWS, type ClosedWindow, type WindowStep } from './window-node.ts'

const SESSION = z.strictObject({
  /** Of the first point and of the last. */
  first: z.int(),
  last: z.int(),
  metrics: metricValuesSchema,
})
type Session = z.output<typeof SESSION>

export const sessionWindowsSchema = z.strictObject({
  /** Sessions whose last point is a gap before this time are closed. Never goes back. */
  watermark: z.int(),
  /** By time. */
  open: z.array(SESSION),
})
export type SessionWindows = z.output<typeof sessionWindowsSchema>

export interface SessionRules {
  /** Points that are less than this apart are of one session. */
  readonly gapMs: number
  /** From the first point to the last; one further away begins another. */
  readonly longestMs: number
  readonly latenessMs: number
  readonly metrics: readonly WindowMetric[]
}

/**
 * A point is late when it is a gap before the watermark and near no open session. The watermark moves as that of windows that follow
 * each other does. Throws `VALUE_INVALID`, `TOO_MANY_DISTINCT`, `WINDOWS_TOO_MANY`; then nothing is counted.
 */
export function withPoints(
  rules: SessionRules,
  state: SessionWindows | undefined,
  points: readonly DataPoint[],
  now: number,
): WindowStep<SessionWindows> {
  const watermark = state?.watermark ?? Number.MIN_SAFE_INTEGER
  let open: readonly Session[] = state?.open ?? []
  const late: DataPoint[] = []
  let reached = watermark
  let counted = 0
  for (const point of points) {
    if (!isMeasured(rules.metrics, point)) continue
    checkTime(point, now)
    const near = neighbours(rules, open, point.ts)
    if (near.length === 0 && point.ts + rules.gapMs <= watermark) {
      late.push(point)
      continue
    }
    open = withSession(rules, open, near, point)
    if (open.length > MAX_OPEN_WINDOWS) throw NodeErrors.WINDOWS_TOO_MANY({ limit: MAX_OPEN_WINDOWS })
    counted++
    reached = Math.max(reached, Math.min(point.ts, now) - rules.latenessMs)
  }
  return { ...closing(rules, open, reached), counted, late }
}

export function whenIdle(
  rules: SessionRules,
  state: SessionWindows,
  now: number,
): Pick<WindowStep<SessionWindows>, 'next' | 'closed'> {
  const ends = state.open.map((session) => endOf(rules, session)).filter((end) => end <= now)
  return closing(rules, state.open, Math.max(state.watermark, ...ends))
}

export function firstEnd(rules: SessionRules, { open }: SessionWindows): number | undefined {
  const [first] = open
  return first === undefined ? undefined : endOf(rules, first)
}

function endOf({ gapMs }: SessionRules, { last }: Session): number {
  return last + gapMs
}

/** The sessions that the point joins: at most the nearest on either side, the earlier one first. */
function neighbours(rules: SessionRules, open: readonly Session[], ts: number): readonly Session[] {
  const before = open.findLast(({ first }) => first <= ts)
  const after = open.find(({ first }) => first > ts)
  const near: Session[] = []
  let [first, last] = [ts, ts]
  for (const session of [before, after]) {
    if (session === undefined || session.first - ts >= rules.gapMs || ts - session.last >= rules.gapMs) continue
    const [from, to] = [Math.min(first, session.first), Math.max(last, session.last)]
    if (to - from > rules.longestMs) continue
    near.push(session)
    ;[first, last] = [from, to]
  }
  return near
}

function withSession(
  { metrics }: SessionRules,
  open: readonly Session[],
  near: readonly Session[],
  point: DataPoint,
): readonly Session[] {
  const [before, after] = near
  const joined =
    before === undefined || after === undefined
      ? before?.metrics
      : bounded(combinedValues(metrics, before.metrics, after.metrics), metrics)
  const session = {
    first: Math.min(point.ts, before?.first ?? point.ts),
    last: Math.max(point.ts, ...near.map(({ last }) => last)),
    metrics: withPoint(metrics, joined, point),
  }
  return [...open.filter((other) => !near.includes(other)), session].toSorted((one, other) => one.first - other.first)
}

/** Of two sessions in one: what is kept does not grow without limit. */
function bounded(values: Session['metrics'], metrics: readonly WindowMetric[]): Session['metrics'] {
  for (const [index, { key, outputKey }] of metrics.entries()) {
    const { distinct, number } = values[index] ?? {}
    if (distinct !== undefined && distinct.length > MAX_DISTINCT) {
      throw NodeErrors.TOO_MANY_DISTINCT({ name: outputKey, limit: MAX_DISTINCT })
    }
    if (number !== undefined && !Number.isFinite(number)) {
      throw NodeErrors.VALUE_INVALID({ key, expected: 'small enough to be added' })
    }
  }
  return values
}

function closing(
  rules: SessionRules,
  open: readonly Session[],
  watermark: number,
): { next: SessionWindows; closed: readonly ClosedWindow[] } {
  const isOver = (session: Session): boolean => endOf(rules, session) <= watermark
  const closed = open.filter(isOver).map((session) => ({
    ...{ from: session.first, to: endOf(rules, session), metrics: session.metrics },
  }))
  return { next: { watermark, open: open.filter((session) => !isOver(session)) }, closed }
}
