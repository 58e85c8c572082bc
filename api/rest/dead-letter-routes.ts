/**
 * Dead letters of the caller's tenant: messages that failed every try, to be looked at, tried again or removed. Our own addition:
 * existing clients know no such thing, since their server drops what fails.
 */
import type { JsonObject } from '../../model/json.ts'
import { idJson } from '../../services/entity-json.ts'
import type { DeadLetter } from '../../services/queues/dead-letter-service.ts'
import type { Services } from '../../services/services.ts'
import { ParameterErrors } from '../errors.ts'
import { tenantOf } from './authorize.ts'
import { TENANT, jsonAnswer, type RestRoute, type UserCall } from './route.ts'

const DEFAULT_LIMIT = 100
const MOST = 1000

export function deadLetterRoutes({ deadLetters }: Pick<Services, 'deadLetters'>): readonly RestRoute[] {
  return [
    {
      method: 'GET',
      pattern: '/api/deadLetters',
      authorities: TENANT,
      handle: async (call) => {
        const limit = call.query.integer('limit') ?? DEFAULT_LIMIT
        if (limit < 1 || limit > MOST)
          throw ParameterErrors.INVALID({ name: 'limit', value: limit, expected: `1 to ${MOST}` })
        const letters = await deadLetters.list(tenantOf(call.principal), {
          after: call.query.integer('after'),
          limit: limit + 1,
        })
        return jsonAnswer({ data: letters.slice(0, limit).map(letterJson), hasNext: letters.length > limit })
      },
    },
    {
      method: 'POST',
      pattern: '/api/deadLetters/:deadLetterId/replay',
      authorities: TENANT,
      handle: async (call) => {
        await deadLetters.replay(tenantOf(call.principal), letterId(call))
        return { status: 200, contentType: undefined, body: '' }
      },
    },
    {
      method: 'DELETE',
      pattern: '/api/deadLetters/:deadLetterId',
      authorities: TENANT,
      handle: async (call) => {
        await deadLetters.remove(tenantOf(call.principal), letterId(call))
        return { status: 200, contentType: undefined, body: '' }
      },
    },
  ]
}

function letterId(call: UserCall): number {
  const text = call.parameter(0)
  if (!/^\d{1,15}$/.test(text)) throw ParameterErrors.INVALID({ name: 'id', value: text, expected: 'a whole number' })
  return Number(text)
}

function letterJson({ id, message, reason, time, attempts }: DeadLetter): JsonObject {
  const { originator } = message
  return {
    id,
    time,
    reason,
    attempts,
    message: {
      id: message.id,
      ts: message.ts,
      type: message.type,
      originator: idJson(originator.entityType, originator.id),
      metadata: { ...message.metadata },
      dataType: message.dataType,
      data: message.data,
    },
  }
}
