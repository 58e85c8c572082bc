/** Aggregates latest values over the devices or assets of an asset, a customer, a profile or the tenant. */
import { z } from 'zod'
import { defineNode } from '../define-node.ts'
import { groupConfiguration, GROUP_DEFAULTS, isPeriodic, memberKey } from './group.ts'
import { groupNode } from './group-node.ts'
import { FILTER_DEFAULTS, filterConfiguration, memberFilter } from './member-filter.ts'
import { metricsReport } from './metrics-report.ts'

const MAX_METRICS = 20

export const aggregateLatest = defineNode({
  type: 'millrace.analytics.AggregateLatest',
  name: 'aggregate latest',
  category: 'ANALYTICS',
  relations: ['Success'],
  description:
    'Aggregates latest telemetry or attributes of many devices or assets: of the tenant, a customer, a profile, or by relations. Each period, or each message, makes one message on Success: the results as telemetry of the parent. Texts that are numbers count as numbers, flags as 0 and 1; counts alone take other values. Metrics without values are left out; without any metric there is no message.',
  configuration: z.strictObject({
    ...groupConfiguration,
    ...filterConfiguration,
    metrics: z
      .array(
        z.strictObject({
          ...memberKey,
          function: z
            .enum(['MIN', 'MAX', 'SUM', 'AVG', 'COUNT', 'COUNT_UNIQUE'])
            .meta({ title: 'Function', description: 'MIN, MAX, SUM, AVG, COUNT or COUNT_UNIQUE.' }),
          missing: z.number().nullish().meta({
            title: 'Missing value',
            description: 'An entity without the key counts as this; empty: not at all.',
          }),
          outputKey: z.string().min(1).max(255).meta({ title: 'Output key', description: 'Series of the result.' }),
        }),
      )
      .min(1)
      .max(MAX_METRICS)
      .meta({ title: 'Metrics', description: 'What is told of the entities.' }),
  }),
  defaults: {
    ...GROUP_DEFAULTS,
    ...FILTER_DEFAULTS,
    metrics: [
      {
        ...{ source: 'LATEST_TELEMETRY', key: 'temperature', function: 'AVG' },
        ...{ missing: null, outputKey: 'temperatureAvg' },
      },
    ],
  },
  examples: [],
  isSource: isPeriodic,
  uses: ['aggregation', 'entities', 'scripts', 'state'],
  create: async (configuration, context) => {
    const filter = await memberFilter(configuration, configuration.entityType, context)
    const wanted = configuration.metrics.map((metric) => ({
      ...metric,
      of: metric,
      missing: metric.missing ?? undefined,
    }))
    return groupNode(
      {
        configuration,
        close: () => filter?.close(),
        report: metricsReport(filter, wanted),
      },
      context,
    )
  },
})
