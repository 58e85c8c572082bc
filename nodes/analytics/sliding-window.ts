/** Aggregates the telemetry of an originator in windows of event time that overlap. */
import { z } from 'zod'
import { defineNode } from '../define-node.ts'
import {
  firstEnd,
  MAX_OVERLAP,
  paneOf,
  slidingWindowsSchema,
  whenIdle,
  withPoints,
  type SlidingRules,
} from './sliding-windows.ts'
import { metricsConfiguration } from './window-metrics.ts'
import { timingConfiguration, windowNode } from './window-node.ts'

const LONGEST_SEC = 7 * 86_400

export const slidingWindow = defineNode({
  type: 'millrace.analytics.SlidingWindow',
  name: 'sliding window',
  category: 'ANALYTICS',
  relations: ['Success', 'Late'],
  description:
    'Aggregates the telemetry of each originator in overlapping windows of event time: one begins with each slide. A window that closes makes a message with its metrics and its start as time on Success. A point counts in its open windows; a message with a point that has none takes Late. All other messages end here. Open windows survive a restart.',
  configuration: z
    .strictObject({
      windowSec: z
        .int()
        .min(1)
        .max(LONGEST_SEC)
        .meta({
          title: 'Window',
          description: `Seconds. A whole number of slides, at most ${MAX_OVERLAP}.`,
        }),
      slideSec: z.int().min(1).max(LONGEST_SEC).meta({
        title: 'Slide',
        description: 'Seconds from the start of one window to that of the next. Counted from 1970 in UTC.',
      }),
      ...timingConfiguration,
      metrics: metricsConfiguration,
    })
    .refine(({ windowSec, slideSec }) => windowSec % slideSec === 0 && windowSec / slideSec <= MAX_OVERLAP, {
      path: ['windowSec'],
      error: `is no whole number of slides, or more than ${MAX_OVERLAP}`,
    }),
  defaults: {
    ...{ windowSec: 300, slideSec: 60, allowedLatenessSec: 10, idleTimeoutSec: 120 },
    metrics: [{ key: 'temperature', function: 'AVG', outputKey: 'temperatureAvg' }],
  },
  examples: [],
  uses: ['state'],
  create: ({ windowSec, slideSec, allowedLatenessSec, idleTimeoutSec, metrics }, context) => {
    const [lengthMs, slideMs] = [windowSec * 1000, slideSec * 1000]
    const rules: SlidingRules = { lengthMs, slideMs, latenessMs: allowedLatenessSec * 1000, metrics }
    const kind = {
      schema: slidingWindowsSchema,
      withPoints: withPoints.bind(undefined, rules),
      whenIdle: whenIdle.bind(undefined, rules),
      firstEnd: firstEnd.bind(undefined, rules),
      lastEndOf: (ts: number) => paneOf(rules, ts) + lengthMs,
    }
    return windowNode({ kind, metrics, idleTimeoutSec, madeBy: { windowSec, slideSec, metrics } }, context)
  },
})
