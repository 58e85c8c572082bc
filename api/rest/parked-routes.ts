/**
 * Parked lanes: messages of a device that fail again and again, waiting apart. Of the caller's tenant, or of all for the system administrator. Our
 * own addition: existing clients know no such thing, since their server drops what fails.
 */
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { idJson } from '../../services/entity-json.ts'
import type { ParkedLaneView } from '../../services/queues/parked-lane-service.ts'
import type { Services } from '../../services/services.ts'
import { tenantOf } from './authorize.ts'
import type { RouteMaker } from './declared/declare.ts'
import { paging } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { idShape, pageShape } from './declared/shapes.ts'
import { renderPage } from './render.ts'
import { EMPTY_ANSWER, SYSTEM_AND_TENANT } from './route.ts'

const text = { type: 'string' } as const
const count = { type: 'integer' } as const
const time = { type: 'integer', description: 'Unix milliseconds' } as const
const LANE: JsonObject = {
  title: 'ParkedLane',
  type: 'object',
  properties: {
    ...{ id: text, tenantId: idShape('TENANT'), queueName: text },
    originator: {
      type: 'object',
      properties: { entityType: text, id: { type: 'string', format: 'uuid' } },
      required: ['entityType', 'id'],
    },
    ...{ messages: count, bytes: count, reason: { ...text, description: 'Of the last failure' }, since: time },
    ...{ tries: count, nextTry: { ...time, type: ['integer', 'null'] }, state: text },
  },
  required: [
    'id',
    'tenantId',
    'queueName',
    'originator',
    'messages',
    'bytes',
    'reason',
    'since',
    'tries',
    'nextTry',
    'state',
  ],
}

export function parkedRoutes(make: RouteMaker, { parked }: Pick<Services, 'parked'>): readonly DeclaredRoute[] {
  const one = {
    method: 'POST',
    authorities: SYSTEM_AND_TENANT,
    targets: {
      parkedLaneId: { untargeted: 'no entity: only lanes of the own tenant are found', isOwned: true, isText: true },
    },
    query: {},
    body: undefined,
    answer: undefined,
  } as const
  return [
    make.route({
      method: 'GET',
      path: '/api/parked',
      about: 'Messages of devices that fail again and again, waiting apart.',
      authorities: SYSTEM_AND_TENANT,
      targets: {},
      query: { page: paging },
      body: undefined,
      answer: pageShape(LANE),
      handle: async ({ principal, query: { page } }) =>
        renderPage(await parked.page(scopeOf(principal), page), laneJson),
    }),
    make.route({
      ...one,
      path: '/api/parked/{parkedLaneId}/retry',
      about: 'Tries the messages of a lane at once.',
      handle: async ({ principal, path }) => {
        await parked.retryNow(scopeOf(principal), path.parkedLaneId)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...one,
      path: '/api/parked/{parkedLaneId}/deadLetters',
      about: 'Gives up: the messages of a lane become dead letters.',
      handle: async ({ principal, path }) => {
        await parked.giveUp(scopeOf(principal), path.parkedLaneId)
        return EMPTY_ANSWER
      },
    }),
  ]
}

/** Undefined: all tenants. */
function scopeOf(principal: Principal): string | undefined {
  return principal.authority === 'SYS_ADMIN' ? undefined : tenantOf(principal)
}

function laneJson(lane: ParkedLaneView): JsonObject {
  const { id, tenantId, queueName, originatorType, originatorId, messages, bytes, why, sinceMs, tries, state } = lane
  return {
    id,
    tenantId: idJson('TENANT', tenantId),
    queueName,
    originator: { entityType: originatorType, id: originatorId },
    messages,
    bytes,
    reason: why,
    since: sinceMs,
    tries,
    nextTry: lane.nextTryMs ?? null,
    state,
  }
}
