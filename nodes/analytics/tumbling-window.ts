/** Aggregates the telemetry of an originator in windows of event time that follow each other without a gap. */
import { z } from 'zod'
import { stringifyJson, type JsonValue } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import type { StateTurn } from '../../engine/rulechain/capabilities/state.ts'
import { pointsOf } from '../action/telemetry-body.ts'
import { mergedMembers } from '../../model/members.ts'
import { withMetadata } from '../body.ts'
import { resultOf } from '../calculated/accumulator.ts'
import { bucketing } from '../calculated/time-bucket.ts'
import { defineNode } from '../define-node.ts'
import {
  openWindowsSchema,
  whenIdle,
  withPoints,
  type OpenWindow,
  type WindowMetric,
  type WindowRules,
} from './open-windows.ts'

const MAX_METRICS = 20

const configuration = z.strictObject({
  windowSec: z
    .int()
    .min(1)
    .max(7 * 86_400)
    .meta({
      title: 'Window',
      description: 'Seconds. Counted from midnight in UTC; the last window of a day ends with the day.',
    }),
  allowedLatenessSec: z
    .int()
    .min(0)
    .max(7 * 86_400)
    .meta({
      title: 'Allowed lateness',
      description: 'Seconds that a window stays open after a point behind its end was seen.',
    }),
  idleTimeoutSec: z
    .int()
    .min(1)
    .max(7 * 86_400)
    .meta({
      title: 'Idle time-out',
      description: 'Seconds without a message after which windows that are over by the clock are closed.',
    }),
  metrics: z
    .array(
      z.strictObject({
        key: z.string().min(1).max(255).meta({ title: 'Key', description: 'Series that is aggregated.' }),
        function: z
          .enum(['MIN', 'MAX', 'SUM', 'AVG', 'COUNT', 'COUNT_UNIQUE'])
          .meta({ title: 'Function', description: 'MIN, MAX, SUM, AVG, COUNT or COUNT_UNIQUE.' }),
        outputKey: z.string().min(1).max(255).meta({ title: 'Output key', description: 'Series of the result.' }),
      }),
    )
    .min(1)
    .max(MAX_METRICS)
    .meta({ title: 'Metrics', description: 'What is told of each window.' }),
})

const STATE = z.strictObject({
  /** The configuration under which it was made: another one begins anew. */
  of: z.string(),
  customerId: z.string().nullable(),
  windows: openWindowsSchema,
})
type State = z.output<typeof STATE>

export const tumblingWindow = defineNode({
  type: 'millrace.analytics.TumblingWindow',
  name: 'tumbling window',
  category: 'ANALYTICS',
  relations: ['Success', 'Late'],
  description:
    'Aggregates the telemetry of each originator in windows of event time. When a window closes, a message with its metrics goes on as Success, with the start of the window as its time. A message with a point whose window is closed goes on as Late; that point is counted nowhere. All other messages end here. Open windows survive a restart.',
  configuration,
  defaults: {
    ...{ windowSec: 60, allowedLatenessSec: 10, idleTimeoutSec: 120 },
    metrics: [{ key: 'temperature', function: 'AVG', outputKey: 'temperatureAvg' }],
  },
  examples: [],
  uses: ['state'],
  create: ({ windowSec, allowedLatenessSec, idleTimeoutSec, metrics }, { services, settings, tenantId }) => {
    const of = stringifyJson({ windowSec, metrics })
    const rules: WindowRules = {
      bucketOf: bucketing({ type: 'CUSTOM', tz: 'UTC', durationSec: windowSec }),
      latenessMs: allowedLatenessSec * 1000,
      metrics,
    }
    const tell = (turn: StateTurn<State>, customerId: string | null, closed: readonly OpenWindow[]): void => {
      const originator = turn.entity
      if (originator === undefined) return
      for (const window of closed) {
        const metadata = {
          ...{ ts: String(window.from), windowStart: String(window.from), windowEnd: String(window.to) },
        }
        const fields = { id: '', ts: turn.now, tenantId, originator, customerId: customerId ?? undefined }
        const data = stringifyJson(resultsOf(metrics, window))
        turn.send(new Message({ ...fields, type: 'POST_TELEMETRY_REQUEST', metadata, data }), 'Success')
      }
    }
    return services.state.keyed<State, undefined>({
      per: 'originator',
      parse: (stored) => {
        const state = STATE.parse(stored)
        if (state.of !== of) throw new RangeError('the windows are of another configuration')
        return state
      },
      handle(turn, message) {
        const points = pointsOf(message, message.metadataTs(), {
          castStrings: settings.castStrings,
          nulls: 'skip',
        })
        const { next, closed, counted, late } = withPoints(rules, turn.state?.windows, points, turn.now)
        if (counted > 0) {
          const customerId = message.customerId ?? null
          tell(turn, customerId, closed)
          turn.set({ of, customerId, windows: next })
          turn.wakeAt(next.open.length === 0 ? undefined : turn.now + idleTimeoutSec * 1000)
        }
        const [first] = late
        if (first === undefined) return undefined
        const { to } = rules.bucketOf(first.ts)
        return { message: withMetadata(message, [['lateWindowEnd', String(to)]]), relations: ['Late'] }
      },
      wake(turn) {
        const { state } = turn
        if (state === undefined) return
        const { next, closed } = whenIdle(state.windows, turn.now)
        tell(turn, state.customerId, closed)
        turn.set({ ...state, windows: next })
        // Those of times ahead of the clock.
        const [first] = next.open
        if (first !== undefined) turn.wakeAt(Math.max(first.to, turn.now + idleTimeoutSec * 1000))
      },
    })
  },
})

function resultsOf(metrics: readonly WindowMetric[], window: OpenWindow): Record<string, JsonValue> {
  const results: [string, JsonValue][] = []
  for (const [index, metric] of metrics.entries()) {
    const accumulator = window.metrics[index]
    if (accumulator) results.push([metric.outputKey, resultOf(metric.function, accumulator, undefined)])
  }
  return mergedMembers({}, results)
}
