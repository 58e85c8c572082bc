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
import type { RouteMaker } from './declared/declare.ts'
import { optionalCount, optionalInteger } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { listShape } from './declared/shapes.ts'
import { EMPTY_ANSWER, TENANT } from './route.ts'

const DEFAULT_LIMIT = 100
const MOST = 1000

const text = { type: 'string' } as const
const count = { type: 'integer' } as const
const LETTER: JsonObject = {
  title: 'DeadLetter',
  type: 'object',
  properties: {
    ...{ id: count, time: { ...count, description: 'Unix milliseconds' }, reason: text, attempts: count },
    message: {
      type: 'object',
      properties: {
        ...{ id: text, ts: count, type: text, originator: { type: 'object' }, dataType: text, data: text },
        metadata: { type: 'object', additionalProperties: text },
      },
      required: ['id', 'ts', 'type', 'originator', 'metadata', 'dataType', 'data'],
    },
  },
  required: ['id', 'time', 'reason', 'attempts', 'message'],
}
const LETTERS: JsonObject = {
  type: 'object',
  properties: { data: listShape(LETTER), hasNext: { type: 'boolean' } },
  required: ['data', 'hasNext'],
}

export function deadLetterRoutes(
  make: RouteMaker,
  { deadLetters }: Pick<Services, 'deadLetters'>,
): readonly DeclaredRoute[] {
  const one = {
    authorities: TENANT,
    targets: {
      deadLetterId: {
        untargeted: "a number, not an entity: only the own tenant's are found",
        isOwned: true,
        isText: true,
      },
    },
    query: {},
    body: undefined,
    answer: undefined,
  } as const
  return [
    make.route({
      method: 'GET',
      path: '/api/deadLetters',
      about: 'Messages of the tenant that failed every try, oldest first.',
      authorities: TENANT,
      targets: {},
      query: { limit: optionalCount(1, MOST), after: optionalInteger },
      body: undefined,
      answer: LETTERS,
      handle: async ({ principal, query: { limit = DEFAULT_LIMIT, after } }) => {
        const letters = await deadLetters.list(tenantOf(principal), { after, limit: limit + 1 })
        return { data: letters.slice(0, limit).map(letterJson), hasNext: letters.length > limit }
      },
    }),
    make.route({
      ...one,
      method: 'POST',
      path: '/api/deadLetters/{deadLetterId}/replay',
      about: 'Sends a dead letter through its rule chain again.',
      handle: async ({ principal, path }) => {
        await deadLetters.replay(tenantOf(principal), letterId(path.deadLetterId))
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...one,
      method: 'DELETE',
      path: '/api/deadLetters/{deadLetterId}',
      about: 'Removes a dead letter.',
      handle: async ({ principal, path }) => {
        await deadLetters.remove(tenantOf(principal), letterId(path.deadLetterId))
        return EMPTY_ANSWER
      },
    }),
  ]
}

function letterId(text: string): number {
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
