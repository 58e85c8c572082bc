/** Counts alarms of the devices or assets of an asset, a customer, a profile or the tenant. */
import { z } from 'zod'
import { mergedMembers } from '../../model/members.ts'
import type { AlarmTally } from '../../engine/rulechain/capabilities/aggregation.ts'
import { NODE_ALARM_SEVERITIES, NODE_ALARM_STATUSES } from '../../engine/rulechain/capabilities/alarms.ts'
import { defineNode } from '../define-node.ts'
import { groupConfiguration, GROUP_DEFAULTS, isPeriodic } from './group.ts'
import { groupNode } from './group-node.ts'

const MAX_COUNTS = 20
const MAX_TYPES = 100
const LONGEST_SEC = 366 * 86_400

const count = z.strictObject({
  severities: z.array(z.enum(NODE_ALARM_SEVERITIES)).meta({ title: 'Severities', description: 'None: any.' }),
  statuses: z.array(z.enum(NODE_ALARM_STATUSES)).meta({ title: 'Statuses', description: 'None: any.' }),
  types: z.array(z.string().min(1)).max(MAX_TYPES).meta({ title: 'Alarm types', description: 'None: any.' }),
  withinSec: z
    .int()
    .min(0)
    .max(LONGEST_SEC)
    .meta({ title: 'Within', description: 'Seconds since an alarm was created; 0: whenever it was.' }),
  outputKey: z.string().min(1).max(255).meta({ title: 'Output key', description: 'Series of the count.' }),
})
type Count = z.output<typeof count>

export const alarmCounts = defineNode({
  type: 'millrace.analytics.AlarmCounts',
  name: 'alarm counts',
  category: 'ANALYTICS',
  relations: ['Success'],
  description:
    'Counts alarms of many devices or assets by severity, status, type and time of creation. Parent, entities and trigger are as in aggregate latest. The counts are telemetry of the parent.',
  configuration: z.strictObject({
    ...groupConfiguration,
    includeParent: z.boolean().meta({ title: 'With the parent', description: 'Its own alarms count too.' }),
    counts: z.array(count).min(1).max(MAX_COUNTS).meta({ title: 'Counts', description: 'What is told.' }),
  }),
  defaults: {
    ...GROUP_DEFAULTS,
    includeParent: true,
    counts: [
      {
        ...{ severities: [], statuses: ['ACTIVE_UNACK', 'ACTIVE_ACK'], types: [], withinSec: 0 },
        outputKey: 'activeAlarms',
      },
    ],
  },
  examples: [],
  isSource: isPeriodic,
  uses: ['aggregation', 'entities', 'state'],
  create: (configuration, context) => {
    const { counts, includeParent } = configuration
    // One read for each time that is asked for.
    const intervals = [...new Set(counts.map(({ withinSec }) => withinSec))]
    const queries = intervals.map((withinSec) => ({ withinSec, types: typesOf(counts, withinSec) }))
    return groupNode(
      {
        configuration,
        async report(turn, ids, parent) {
          const all = includeParent && !ids.includes(parent.id) ? [...ids, parent.id] : ids
          const now = context.clock.now()
          const tallies = new Map<number, readonly AlarmTally[]>()
          for (const { withinSec, types } of queries) {
            const since = withinSec === 0 ? undefined : now - withinSec * 1000
            tallies.set(withinSec, await turn.alarms(all, { types, since }))
          }
          const values = counts.map((one) => [one.outputKey, countOf(one, tallies.get(one.withinSec) ?? [])] as const)
          return { values: mergedMembers({}, values), entities: all.length, ignored: 0 }
        },
      },
      context,
    )
  },
})

/** None where one of the counts wants any. */
function typesOf(counts: readonly Count[], withinSec: number): readonly string[] {
  const own = counts.filter((one) => one.withinSec === withinSec)
  return own.some(({ types }) => types.length === 0) ? [] : [...new Set(own.flatMap(({ types }) => types))]
}

function countOf({ severities, statuses, types }: Count, tallies: readonly AlarmTally[]): number {
  const isWanted = (tally: AlarmTally): boolean =>
    (severities.length === 0 || severities.includes(tally.severity)) &&
    (statuses.length === 0 || statuses.includes(tally.status)) &&
    (types.length === 0 || types.includes(tally.type))
  return tallies.filter(isWanted).reduce((sum, { alarms }) => sum + alarms, 0)
}
