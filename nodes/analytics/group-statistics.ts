/** How the latest values of many devices or assets are spread: mean, deviation, median, percentiles. */
import { z } from 'zod'
import type { SummaryFunction } from '../../model/group-summary.ts'
import { defineNode } from '../define-node.ts'
import { groupConfiguration, GROUP_DEFAULTS, isPeriodic, memberKey } from './group.ts'
import { groupNode } from './group-node.ts'
import { FILTER_DEFAULTS, filterConfiguration, memberFilter } from './member-filter.ts'
import { metricsReport } from './metrics-report.ts'

const MAX_KEYS = 10
const MAX_PERCENTILES = 10

/** What stands behind the key of the result. */
const STATISTICS = {
  COUNT: ['COUNT_NUMBERS', 'Count'],
  MIN: ['MIN', 'Min'],
  MAX: ['MAX', 'Max'],
  MEAN: ['AVG', 'Mean'],
  DEVIATION: ['DEVIATION', 'Deviation'],
  VARIANCE: ['VARIANCE', 'Variance'],
  MEDIAN: ['MEDIAN', 'Median'],
} as const satisfies Readonly<Record<string, readonly [SummaryFunction, string]>>

interface Wanted {
  readonly function: SummaryFunction
  readonly percentile?: number
  readonly suffix: string
}

export const groupStatistics = defineNode({
  type: 'millrace.analytics.Statistics',
  name: 'statistics',
  category: 'ANALYTICS',
  relations: ['Success'],
  description:
    'Statistics of latest telemetry or attributes of many devices or assets: count, least, largest, mean, deviation and variance (of a population), median and percentiles (interpolated). The results are telemetry of the parent: the output key with Count, Min, Max, Mean, Deviation, Variance, Median, P95 behind it. Parent, entities and trigger are as in aggregate latest. Values that are no numbers do not count.',
  configuration: z.strictObject({
    ...groupConfiguration,
    ...filterConfiguration,
    keys: z
      .array(
        z.strictObject({
          ...memberKey,
          outputKey: z
            .string()
            .min(1)
            .max(200)
            .meta({ title: 'Output key', description: 'What its results begin with.' }),
        }),
      )
      .min(1)
      .max(MAX_KEYS)
      .meta({ title: 'Keys', description: 'The series or attributes.' }),
    statistics: z
      .array(z.enum(['COUNT', 'MIN', 'MAX', 'MEAN', 'DEVIATION', 'VARIANCE', 'MEDIAN']))
      .meta({ title: 'Statistics', description: 'For each key.' }),
    percentiles: z
      .array(z.number().min(0).max(100))
      .max(MAX_PERCENTILES)
      .meta({ title: 'Percentiles', description: 'From 0 to 100, such as 95 or 99.9.' }),
  }),
  defaults: {
    ...GROUP_DEFAULTS,
    ...FILTER_DEFAULTS,
    keys: [{ source: 'LATEST_TELEMETRY', key: 'temperature', outputKey: 'temperature' }],
    statistics: ['COUNT', 'MEAN', 'DEVIATION', 'MEDIAN'],
    percentiles: [95],
  },
  examples: [],
  isSource: isPeriodic,
  uses: ['aggregation', 'entities', 'scripts', 'state'],
  create: async (configuration, context) => {
    const wanted = wantedOf(configuration)
    const metrics = configuration.keys.flatMap((key) =>
      wanted.map(({ suffix, ...metric }) => ({ ...metric, of: key, outputKey: `${key.outputKey}${suffix}` })),
    )
    const filter = await memberFilter(configuration, configuration.entityType, context)
    return groupNode(
      {
        configuration,
        close: () => filter?.close(),
        report: metricsReport(filter, metrics),
      },
      context,
    )
  },
})

function wantedOf(configuration: {
  readonly statistics: readonly (keyof typeof STATISTICS)[]
  readonly percentiles: readonly number[]
}): readonly Wanted[] {
  const named = configuration.statistics.map((name) => ({ function: STATISTICS[name][0], suffix: STATISTICS[name][1] }))
  const percentiles = configuration.percentiles.map((percentile) => ({
    ...({ function: 'PERCENTILE', percentile } as const),
    // A point in a key would be read as a path.
    suffix: `P${String(percentile).replace('.', '_')}`,
  }))
  return [...named, ...percentiles]
}
