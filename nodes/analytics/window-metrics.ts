/** What is told of a window: metrics of its values, as they come and when two parts become one. Pure. */
import { z } from 'zod'
import type { JsonValue } from '../../model/json.ts'
import { mergedMembers } from '../../model/members.ts'
import type { DataPoint } from '../../model/value.ts'
import { accumulated, accumulatorSchema, combined, resultOf } from '../calculated/accumulator.ts'
import type { MetricFunction } from '../calculated/aggregation.ts'
import { NodeErrors } from '../errors.ts'

const MAX_METRICS = 20

export interface WindowMetric {
  /** Of the series that is aggregated. */
  readonly key: string
  readonly function: MetricFunction
  readonly outputKey: string
}

/** In the order of the metrics; null where no value came. */
export const metricValuesSchema = z.array(accumulatorSchema.nullable())
export type MetricValues = z.output<typeof metricValuesSchema>

/** As a form has them. */
export const metricsConfiguration = z
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
  .meta({ title: 'Metrics', description: 'Of each window.' })

export function isMeasured(metrics: readonly WindowMetric[], point: DataPoint): boolean {
  return metrics.some(({ key }) => key === point.key)
}

/** No value is beyond `largest`, so that it can be stored, told and, where it is less, added to others. Throws `VALUE_INVALID`, `TOO_MANY_DISTINCT`. */
export function withPoint(
  metrics: readonly WindowMetric[],
  before: MetricValues | undefined,
  point: DataPoint,
  largest = Number.MAX_VALUE,
): MetricValues {
  return metrics.map((metric, index) => {
    const known = before?.[index] ?? undefined
    if (metric.key !== point.key) return known ?? null
    const next = accumulated(metric.function, metric.outputKey, known, point)
    // An endless sum could be neither stored nor told.
    if (next.number !== undefined && !(Math.abs(next.number) <= largest)) {
      throw NodeErrors.VALUE_INVALID({ key: point.key, expected: 'small enough to be added' })
    }
    return next
  })
}

/** Of the values of both. How many different ones that may be is for the caller to say. */
export function combinedValues(metrics: readonly WindowMetric[], one: MetricValues, other: MetricValues): MetricValues {
  return metrics.map((metric, index) => {
    const before = one[index] ?? null
    const more = other[index] ?? null
    return before === null || more === null ? (before ?? more) : combined(metric.function, before, more)
  })
}

/** By output key; a metric without a value is left out. */
export function resultsOf(metrics: readonly WindowMetric[], values: MetricValues): Record<string, JsonValue> {
  const results: [string, JsonValue][] = []
  for (const [index, metric] of metrics.entries()) {
    const accumulator = values[index]
    if (accumulator) results.push([metric.outputKey, resultOf(metric.function, accumulator, undefined)])
  }
  return mergedMembers({}, results)
}
