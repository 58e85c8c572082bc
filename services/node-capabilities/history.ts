/** Time series as nodes read them: of the tenant's entities. */
import type { DataPoint } from '../../model/value.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { NodeHistory, SeriesQuery } from '../../engine/rulechain/capabilities/history.ts'
import type { Services } from '../services.ts'
import type { OwnEntities } from './own-entities.ts'
import { SharedReads } from './shared-reads.ts'

export function nodeHistory(
  { telemetry }: Pick<Services, 'telemetry'>,
  own: OwnEntities,
): (node: NodeIdentity) => NodeHistory {
  const latest = new SharedReads<readonly DataPoint[]>()
  return ({ tenantId }) => ({
    latest: async (entity, keys) => {
      if (!(await own.owns(tenantId, entity))) return []
      return latest.read(JSON.stringify([entity, keys]), async () => {
        const { value } = await telemetry.latest(entity, keys.length === 0 ? undefined : keys)
        return value
      })
    },
    series: async (entity, query) => {
      if (!(await own.owns(tenantId, entity))) return new Map()
      return (await telemetry.history(entity, requestOf(query))).value
    },
  })
}

function requestOf({ keys, startTs, endTs, limit, order, agg, interval }: SeriesQuery) {
  return { keys, startTs, endTs, limit, orderBy: order, agg, ...(interval === undefined ? {} : { interval }) }
}
