/** Aggregates the telemetry of an originator from when it begins to send until it has sent nothing for a while, by event time. */
import { z } from 'zod'
import { defineNode } from '../define-node.ts'
import { firstEnd, sessionWindowsSchema, whenIdle, withPoints, type SessionRules } from './session-windows.ts'
import { metricsConfiguration } from './window-metrics.ts'
import { timingConfiguration, windowNode } from './window-node.ts'

const LONGEST_SEC = 7 * 86_400

export const sessionWindow = defineNode({
  type: 'millrace.analytics.SessionWindow',
  name: 'session window',
  category: 'ANALYTICS',
  relations: ['Success', 'Late'],
  description:
    'Aggregates the telemetry of each originator in sessions of event time: points less than the gap apart, in whatever order they come. A session that closes makes a message with its metrics and the time of its first point on Success. A message with a point of a closed session takes Late, and that point does not count. All other messages end here. Open sessions survive a restart.',
  configuration: z.strictObject({
    gapSec: z.int().min(1).max(LONGEST_SEC).meta({
      title: 'Gap',
      description: 'Seconds without a point that end a session.',
    }),
    longestSec: z.int().min(1).max(LONGEST_SEC).meta({
      title: 'Longest session',
      description: 'Seconds from the first point to the last; a point beyond begins another session.',
    }),
    ...timingConfiguration,
    metrics: metricsConfiguration,
  }),
  defaults: {
    ...{ gapSec: 60, longestSec: 3600, allowedLatenessSec: 10, idleTimeoutSec: 120 },
    metrics: [{ key: 'temperature', function: 'AVG', outputKey: 'temperatureAvg' }],
  },
  examples: [],
  uses: ['state'],
  create: ({ gapSec, longestSec, allowedLatenessSec, idleTimeoutSec, metrics }, context) => {
    const [gapMs, longestMs, latenessMs] = [gapSec * 1000, longestSec * 1000, allowedLatenessSec * 1000]
    const rules: SessionRules = { gapMs, longestMs, latenessMs, metrics }
    const kind = {
      schema: sessionWindowsSchema,
      withPoints: withPoints.bind(undefined, rules),
      whenIdle: whenIdle.bind(undefined, rules),
      firstEnd: firstEnd.bind(undefined, rules),
      lastEndOf: (ts: number) => ts + gapMs,
    }
    return windowNode({ kind, metrics, idleTimeoutSec, madeBy: { gapSec, longestSec, metrics } }, context)
  },
})
