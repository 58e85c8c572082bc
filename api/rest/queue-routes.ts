/**
 * Queues of the rule engine. Source: `rest-api.md` 13.3; other than there a tenant's administrator makes queues too, for the
 * own tenant alone.
 */
import { z } from 'zod'
import { entityId } from '../../model/entity-id.ts'
import { PROCESSING_STRATEGIES, SUBMIT_STRATEGIES, type Queue } from '../../model/entities.ts'
import { WholeDouble, type JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { idJson, queueJson } from '../../services/entity-json.ts'
import { QueueErrors } from '../../services/errors.ts'
import type { QueueDraft, StoredQueues } from '../../services/queues/queues.ts'
import { ApiErrors, ParameterErrors } from '../errors.ts'
import { anyJson, optionalId, optionalText, optionalVersion } from './body.ts'
import type { RouteMaker } from './declared/declare.ts'
import { paging, type QueryParameter } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { idShape, pageShape } from './declared/shapes.ts'
import { EMPTY_ANSWER, SYSTEM_AND_TENANT } from './route.ts'

export interface QueueRoutesParts {
  readonly make: RouteMaker
  readonly queues: StoredQueues
}

const QUEUE = { type: 'QUEUE', label: 'Queue' } as const
const RULE_ENGINE = 'TB_RULE_ENGINE'
const SERVICES = ['TB-RULE-ENGINE', 'TB-CORE', 'TB-TRANSPORT', 'JS-EXECUTOR'] as const

/** Clients spell it with hyphens or underscores. */
const serviceType: QueryParameter<string> = {
  parameters: [{ name: '', isRequired: true, schema: { type: 'string', enum: [...SERVICES] } }],
  read: (query, name) => {
    const value = query.required(name)
    const service = value.replaceAll('_', '-').toUpperCase()
    if (!SERVICES.some((known) => known === service))
      throw ParameterErrors.INVALID({ name, value, expected: `one of ${SERVICES.join(', ')}` })
    return service.replaceAll('-', '_')
  },
}

/** Absent is 0, as in the reference; a whole number may be written as `3.0`. */
const number = z
  .union([z.number(), z.instanceof(WholeDouble)])
  .nullish()
  .transform((value) => Number(value ?? 0))

const queueSchema = z.object({
  id: optionalId,
  name: optionalText,
  topic: optionalText,
  pollInterval: number,
  partitions: number,
  consumerPerPartition: z.boolean().nullish(),
  packProcessingTimeout: number,
  submitStrategy: z.object({ type: z.enum(SUBMIT_STRATEGIES), batchSize: number }).nullish(),
  processingStrategy: z
    .object({
      type: z.enum(PROCESSING_STRATEGIES),
      retries: number,
      failurePercentage: number,
      pauseBetweenRetries: number,
      maxPauseBetweenRetries: number,
    })
    .nullish(),
  additionalInfo: anyJson.optional(),
  version: optionalVersion,
})

const NUMBER: JsonObject = { type: 'number' }
const QUEUE_SHAPE: JsonObject = {
  title: 'Queue',
  type: 'object',
  properties: {
    id: idShape('QUEUE'),
    createdTime: { type: 'integer', description: 'Unix milliseconds' },
    tenantId: idShape('TENANT'),
    name: { type: 'string' },
    topic: { type: 'string' },
    pollInterval: NUMBER,
    partitions: NUMBER,
    consumerPerPartition: { type: 'boolean' },
    packProcessingTimeout: NUMBER,
    submitStrategy: { type: 'object' },
    processingStrategy: { type: 'object' },
    version: { type: 'integer' },
    additionalInfo: {},
  },
  required: ['id', 'createdTime', 'tenantId', 'name', 'topic', 'submitStrategy', 'processingStrategy'],
}

const NONE = { data: [], totalPages: 0, totalElements: 0, hasNext: false }
const common = { authorities: SYSTEM_AND_TENANT, targets: {}, query: {}, body: undefined } as const

export function queueRoutes({ make, queues }: QueueRoutesParts): readonly DeclaredRoute[] {
  const read = async (principal: Principal, id: string): Promise<Queue> => {
    const queue = await queues.find(principal, id)
    if (queue === undefined) throw ApiErrors.NOT_FOUND_BY_ID({ type: QUEUE.label, id })
    return queue
  }
  return [
    make.route({
      ...common,
      method: 'GET',
      path: '/api/queues',
      about:
        'The queues that the tenant may use, its own and the system’s. Services other than the rule engine have none.',
      query: { serviceType, page: paging },
      answer: pageShape(QUEUE_SHAPE),
      handle: async ({ principal, query }) => {
        if (query.serviceType !== RULE_ENGINE) return NONE
        const page = await queues.page(principal, query.page)
        return { ...page, data: page.data.map(queueJson) }
      },
    }),
    make.route({
      ...common,
      method: 'GET',
      path: '/api/queues/{queueId}',
      about: 'One queue.',
      targets: { queueId: { entity: QUEUE, operation: 'READ' } },
      answer: QUEUE_SHAPE,
      handle: async ({ principal, path }) => queueJson(await read(principal, path.queueId)),
    }),
    make.route({
      ...common,
      method: 'GET',
      path: '/api/queues/name/{queueName}',
      about: 'The queue that the tenant means by the name.',
      answer: QUEUE_SHAPE,
      handle: async ({ principal, path }) => {
        const queue = await queues.findByName(principal, path.queueName)
        if (queue === undefined) throw ApiErrors.NOT_FOUND()
        return queueJson(queue)
      },
    }),
    make.route({
      ...common,
      method: 'POST',
      path: '/api/queues',
      about: 'Makes a queue, or replaces the one that the body names: of the system, or of the tenant alone.',
      query: { serviceType },
      body: queueSchema,
      example: ({ queueId = '', queueName = '' }) => ({ ...EXAMPLE, id: idJson('QUEUE', queueId), name: queueName }),
      creates: ({ id }) => (id === undefined ? 'QUEUE' : undefined),
      bodyTargets: ({ id }) =>
        id === undefined ? [] : [{ entity: entityId('QUEUE', id), operation: 'WRITE' as const }],
      answer: QUEUE_SHAPE,
      handle: async ({ principal, query, body }) => {
        if (query.serviceType !== RULE_ENGINE) throw QueueErrors.OTHER_SERVICE()
        return queueJson(await queues.saveByUser(principal, draftOf(body)))
      },
    }),
    make.route({
      ...common,
      method: 'DELETE',
      path: '/api/queues/{queueId}',
      about: 'Deletes a queue that no profile and no rule node uses; what is in it goes on in Main.',
      targets: { queueId: { entity: QUEUE, operation: 'DELETE' } },
      answer: undefined,
      handle: async ({ principal, path }) => {
        await queues.deleteByUser(principal, path.queueId)
        return EMPTY_ANSWER
      },
    }),
  ]
}

const EXAMPLE = {
  pollInterval: 25,
  partitions: 1,
  packProcessingTimeout: 2000,
  submitStrategy: { type: 'BURST', batchSize: 1 },
  processingStrategy: { type: 'SKIP_ALL_FAILURES' },
}

function draftOf({ submitStrategy, processingStrategy, ...body }: z.infer<typeof queueSchema>): QueueDraft {
  if (submitStrategy === null || submitStrategy === undefined) throw QueueErrors.NULL({ what: 'submit strategy' })
  if (processingStrategy === null || processingStrategy === undefined)
    throw QueueErrors.NULL({ what: 'processing strategy' })
  return {
    ...body,
    submitStrategy,
    processingStrategy,
    name: body.name ?? '',
    topic: body.topic ?? undefined,
    consumerPerPartition: body.consumerPerPartition ?? undefined,
    additionalInfo: body.additionalInfo ?? null,
  }
}
