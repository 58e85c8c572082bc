/** The devices or assets with the highest or lowest value of a key. */
import { z } from 'zod'
import { mergedMembers } from '../../model/members.ts'
import { defineNode } from '../define-node.ts'
import { groupConfiguration, GROUP_DEFAULTS, isPeriodic, memberKey } from './group.ts'
import { groupNode } from './group-node.ts'
import { MemberColumns } from './member-columns.ts'
import { FILTER_DEFAULTS, filterConfiguration, memberFilter, valueAt } from './member-filter.ts'

const MAX_COUNT = 100

export const topEntities = defineNode({
  type: 'millrace.analytics.TopEntities',
  name: 'top entities',
  category: 'ANALYTICS',
  relations: ['Success'],
  description:
    'Lists the devices or assets with the highest or lowest value of a key as telemetry of the parent: JSON objects with id, entityType, name and value, best first, of equal ones the older entity. Parent, entities and trigger are as in aggregate latest. Values that are no numbers are left out.',
  configuration: z.strictObject({
    ...groupConfiguration,
    ...filterConfiguration,
    ...memberKey,
    order: z.enum(['HIGHEST', 'LOWEST']).meta({ title: 'Order', description: 'Which values come first.' }),
    count: z.int().min(1).max(MAX_COUNT).meta({ title: 'Count', description: 'How many entities are listed.' }),
    outputKey: z.string().min(1).max(255).meta({ title: 'Output key', description: 'Series of the list.' }),
  }),
  defaults: {
    ...GROUP_DEFAULTS,
    ...FILTER_DEFAULTS,
    ...{ source: 'LATEST_TELEMETRY', key: 'temperature', order: 'HIGHEST', count: 10, outputKey: 'hottest' },
  },
  examples: [],
  isSource: isPeriodic,
  uses: ['aggregation', 'entities', 'scripts', 'state'],
  create: async (configuration, context) => {
    const { entityType, order, count, outputKey } = configuration
    const filter = await memberFilter(configuration, entityType, context)
    return groupNode(
      {
        configuration,
        close: () => filter?.close(),
        async report(turn, ids) {
          const held = new MemberColumns(turn, ids)
          const selected = await filter?.selected(turn, ids, (key) => held.of(key))
          const column = await held.placeOf(configuration)
          const { columns } = held
          const rankings = [{ column, order, count }]
          const result = await turn.summarize({ size: ids.length, columns, selected, metrics: [], rankings })
          const [best = []] = result.rankings
          if (best.length === 0) return undefined
          const own = await held.of(configuration)
          const listed = best.map(({ place }) => ({ id: ids[place] ?? '', value: valueAt(own, place) ?? null }))
          const bestIds = listed.map(({ id }) => id)
          const names = new Map((await turn.names(entityType, bestIds)).map(({ id, name }) => [id, name]))
          const list = listed.map(({ id, value }) => ({ id, entityType, name: names.get(id) ?? '', value }))
          const { entities, ignored } = result
          return { values: mergedMembers({}, [[outputKey, list]]), entities, ignored }
        },
      },
      context,
    )
  },
})
