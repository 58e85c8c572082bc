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
import { renderPage } from './render.ts'
import { EMPTY_ANSWER, SYSTEM_AND_TENANT, jsonAnswer, type RestRoute } from './route.ts'

export function parkedRoutes({ parked }: Pick<Services, 'parked'>): readonly RestRoute[] {
  return [
    {
      method: 'GET',
      pattern: '/api/parked',
      authorities: SYSTEM_AND_TENANT,
      handle: async ({ principal, query }) => {
        const page = renderPage(await parked.page(scopeOf(principal), query.page()), laneJson)
        query.requireWhole(page)
        return jsonAnswer(page)
      },
    },
    {
      method: 'POST',
      pattern: '/api/parked/:parkedLaneId/retry',
      authorities: SYSTEM_AND_TENANT,
      handle: async (call) => {
        await parked.retryNow(scopeOf(call.principal), call.parameter(0))
        return EMPTY_ANSWER
      },
    },
    {
      method: 'POST',
      pattern: '/api/parked/:parkedLaneId/deadLetters',
      authorities: SYSTEM_AND_TENANT,
      handle: async (call) => {
        await parked.giveUp(scopeOf(call.principal), call.parameter(0))
        return EMPTY_ANSWER
      },
    },
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
