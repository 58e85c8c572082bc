/** Which queues have statistics: the series are those of the entities. Source: `rest-api.md` 13.3. */
import { queueStats } from '../../services/entities/queue-stats.ts'
import { ApiErrors } from '../errors.ts'
import { pageOf, someByIds, type EntityRoutesParts } from './declared/entity-routes.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { recordShape } from './declared/shapes.ts'
import { SYSTEM_AND_TENANT } from './route.ts'

const WORDS = { one: 'queueStats', many: 'queue statistics', nameParameter: 'queueName' } as const

export function queueStatsRoutes(parts: EntityRoutesParts): readonly DeclaredRoute[] {
  const service = parts.declared.of(queueStats)
  const authorities = SYSTEM_AND_TENANT
  return [
    pageOf(parts, service, WORDS, '/api/queueStats', authorities),
    someByIds(parts, service, WORDS, '/api/queueStats', { onlyWith: true, authorities }),
    someByIds(parts, service, WORDS, '/api/queueStats/list', { authorities }),
    parts.make.route({
      method: 'GET',
      path: '/api/queueStats/{queueStatsId}',
      about: 'One of the entities that statistics of a queue are series of.',
      authorities,
      targets: { queueStatsId: { entity: queueStats, operation: 'READ' } },
      query: {},
      body: undefined,
      answer: recordShape(queueStats),
      handle: async ({ path }) => {
        const stats = await service.findAnywhere(path.queueStatsId)
        if (stats === undefined) throw ApiErrors.NOT_FOUND_BY_ID({ type: 'Queue stats', id: path.queueStatsId })
        return queueStats.jsonOf(stats)
      },
    }),
  ]
}
