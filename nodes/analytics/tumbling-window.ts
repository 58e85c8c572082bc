/** Aggregates the telemetry of an originator in windows of event time that follow each other without a gap. */
import { z } from 'zod'
import { bucketing } from '../calculated/time-bucket.ts'
import { defineNode } from '../define-node.ts'
import { openWindowsSchema, whenIdle, withPoints, type OpenWindows, type WindowRules } from './open-windows.ts'
import { metricsConfiguration } from './window-metrics.ts'
import { timingConfiguration, windowNode } from './window-node.ts'

const configuration = z.strictObject({
  windowSec: z
    .int()
    .min(1)
    .max(7 * 86_400)
    .meta({
      title: 'Window',
      description: 'Seconds. Counted from midnight in UTC; the last window of a day ends with the day.',
    }),
  ...timingConfiguration,
  metrics: metricsConfiguration,
})

export const tumblingWindow = defineNode({
  type: 'millrace.analytics.TumblingWindow',
  name: 'tumbling window',
  category: 'ANALYTICS',
  relations: ['Success', 'Late'],
  description:
    'Aggregates the telemetry of each originator in windows of event time. A window that closes makes a message with its metrics and its start as time on Success. A message with a point of a closed window takes Late, and that point does not count. All other messages end here. Open windows survive a restart.',
  configuration,
  defaults: {
    ...{ windowSec: 60, allowedLatenessSec: 10, idleTimeoutSec: 120 },
    metrics: [{ key: 'temperature', function: 'AVG', outputKey: 'temperatureAvg' }],
  },
  examples: [],
  uses: ['state'],
  create: ({ windowSec, allowedLatenessSec, idleTimeoutSec, metrics }, context) => {
    const rules: WindowRules = {
      bucketOf: bucketing({ type: 'CUSTOM', tz: 'UTC', durationSec: windowSec }),
      latenessMs: allowedLatenessSec * 1000,
      metrics,
    }
    const kind = {
      schema: openWindowsSchema,
      withPoints: withPoints.bind(undefined, rules),
      whenIdle,
      firstEnd: ({ open }: OpenWindows) => open[0]?.to,
      lastEndOf: (ts: number) => rules.bucketOf(ts).to,
    }
    return windowNode({ kind, metrics, idleTimeoutSec, madeBy: { windowSec, metrics } }, context)
  },
})
