/** Alarm queries. Source: `rest-api.md` 7.6. */
import type { JsonObject } from '../../model/json.ts'
import type { AlarmQueryService } from '../../services/alarms/alarm-query-service.ts'
import {
  alarmCountQueryBody,
  alarmCountQueryOf,
  alarmDataJson,
  alarmDataQueryBody,
  alarmDataQueryOf,
} from '../alarm-query.ts'
import { ALARM_INFO_SHAPE, ENTITY_SHAPE, withMembers } from './alarm-routes.ts'
import type { RouteMaker } from './declared/declare.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { pageShape } from './declared/shapes.ts'
import { example as entityQueryExample } from './entity-query-routes.ts'
import { TENANT_AND_CUSTOMER } from './route.ts'

const ALARM_DATA_SHAPE = withMembers(ALARM_INFO_SHAPE, { entityId: ENTITY_SHAPE, latest: { type: 'object' } })

export interface AlarmQueryParts {
  readonly make: RouteMaker
  readonly alarmQueries: Pick<AlarmQueryService, 'find' | 'count'>
}

export function alarmQueryRoutes({ make, alarmQueries: queries }: AlarmQueryParts): readonly DeclaredRoute[] {
  const common = { method: 'POST', authorities: TENANT_AND_CUSTOMER, targets: {}, query: {} } as const
  return [
    make.route({
      ...common,
      path: '/api/alarmsQuery/find',
      about: 'A page of the alarms of the entities that match, with values of those entities.',
      body: alarmDataQueryBody,
      example,
      answer: pageShape(ALARM_DATA_SHAPE),
      handle: async ({ principal, body }) => {
        const page = await queries.find(principal, alarmDataQueryOf(body))
        return { ...page, data: page.data.map(alarmDataJson) }
      },
    }),
    make.route({
      ...common,
      path: '/api/alarmsQuery/count',
      about: 'How many alarms the entities that match have; without a filter, all that the caller may see.',
      body: alarmCountQueryBody,
      example: () => ({ statusList: ['ACTIVE'], severityList: [], typeList: [] }),
      answer: { type: 'integer' },
      handle: ({ principal, body }) => queries.count(principal, alarmCountQueryOf(body)),
    }),
  ]
}

function example(ids: Readonly<Record<string, string>>): JsonObject {
  const sortOrder = { key: { type: 'ALARM_FIELD', key: 'createdTime' }, direction: 'DESC' }
  return {
    ...entityQueryExample(ids),
    alarmFields: [{ type: 'ALARM_FIELD', key: 'type' }],
    pageLink: { page: 0, pageSize: 10, sortOrder, typeList: [], statusList: ['ACTIVE'], severityList: [] },
  }
}
