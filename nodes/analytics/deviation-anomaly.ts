/** Tells values that are far from what an originator usually sends. */
import { z } from 'zod'
import type { Message } from '../../model/message.ts'
import { pointsOf } from '../action/telemetry-body.ts'
import { withMetadata } from '../body.ts'
import { numberIn } from '../calculated/aggregation.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { withValue, zScore, type RunningDeviation } from './running-deviation.ts'

const STATE = z.strictObject({
  /** A state of another series counts as none. */
  key: z.string(),
  count: z.int().min(1),
  mean: z.number(),
  variance: z.number().min(0),
})
type State = z.output<typeof STATE>

export const deviationAnomaly = defineNode({
  type: 'millrace.analytics.DeviationAnomaly',
  name: 'anomaly by deviation',
  category: 'ANALYTICS',
  relations: ['True', 'False', 'Other'],
  description:
    'Compares a series of each originator with its running mean. A value more than the threshold of deviations away takes True, others and all during the warm-up False, with the metadata zScore, mean and deviation. Messages without the series take Other. Each value is judged, then learned, in the order of arrival. What was learned survives a restart.',
  configuration: z
    .strictObject({
      key: z.string().min(1).max(255).meta({ title: 'Key', description: 'Series that is watched.' }),
      threshold: z.number().positive().meta({ title: 'Threshold', description: 'Deviations from the mean (z-score).' }),
      warmUp: z
        .int()
        .min(2)
        .max(1_000_000)
        .meta({ title: 'Warm-up', description: 'Values that are learned before one is judged; at most the memory.' }),
      memory: z
        .int()
        .min(2)
        .max(1_000_000)
        .meta({ title: 'Memory', description: 'Values after which older ones fade: a lasting change becomes usual.' }),
      leastDeviation: z.number().min(1e-9).meta({
        title: 'Least deviation',
        description: 'A smaller one counts as this: for series that hardly change.',
      }),
    })
    .refine(({ warmUp, memory }) => warmUp <= memory, { path: ['warmUp'], error: 'is more than the memory' }),
  defaults: { key: 'temperature', threshold: 3, warmUp: 30, memory: 1000, leastDeviation: 0.001 },
  examples: [],
  uses: ['state'],
  create: ({ key, threshold, warmUp, memory, leastDeviation }, { services, settings }) => {
    const valuesOf = (message: Message): readonly number[] =>
      pointsOf(message, message.metadataTs(), { castStrings: settings.castStrings, nulls: 'skip' })
        .filter((point) => point.key === key)
        .map((point) => numberIn(key, point))
    return services.state.keyed<State, undefined>({
      per: 'originator',
      parse: (stored) => {
        const state = STATE.parse(stored)
        if (state.key !== key) throw new RangeError('the state is of another series')
        return state
      },
      handle(turn, message) {
        const values = valuesOf(message)
        if (values.length === 0) return 'Other'
        let learned: RunningDeviation | undefined = turn.state
        // Of several values the one that is farthest away speaks for the message.
        let worst: { readonly score: number; readonly by: RunningDeviation } | undefined
        for (const value of values) {
          if (learned !== undefined && learned.count >= warmUp) {
            const score = zScore(learned, value, leastDeviation)
            if (worst === undefined || Math.abs(score) > Math.abs(worst.score)) worst = { score, by: learned }
          }
          learned = withValue(learned, value, memory)
          if (!Number.isFinite(learned.variance) || !Number.isFinite(learned.mean)) {
            throw NodeErrors.VALUE_INVALID({ key, expected: 'small enough to be compared' })
          }
        }
        if (learned === undefined) return 'Other'
        const { count, mean, variance } = learned
        turn.set({ key, count, mean, variance })
        if (worst === undefined) return 'False'
        const judged = withMetadata(message, [
          ['zScore', String(worst.score)],
          ['mean', String(worst.by.mean)],
          ['deviation', String(Math.sqrt(worst.by.variance))],
        ])
        return { message: judged, relations: [Math.abs(worst.score) > threshold ? 'True' : 'False'] }
      },
    })
  },
})
