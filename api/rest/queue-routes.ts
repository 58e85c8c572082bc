/**
 * Queues of the rule engine. Source: `rest-api.md` 13.3; other than there a tenant's administrator makes queues too, for the
 * own tenant alone.
 */
import { z } from 'zod'
import { PROCESSING_STRATEGIES, SUBMIT_STRATEGIES, type Queue } from '../../model/entities.ts'
import { queueJson } from '../../services/entity-json.ts'
import { WholeDouble } from '../../model/json.ts'
import type { QueueDraft, Services } from '../../services/services.ts'
import { ApiErrors, ParameterErrors } from '../errors.ts'
import { allow, found } from './authorize.ts'
import { anyJson, bodyOf, optionalId, optionalText, optionalVersion } from './body.ts'
import { uuidOf, type Query } from './query.ts'
import { renderPage } from './render.ts'
import { EMPTY_ANSWER, SYSTEM_AND_TENANT, jsonAnswer, type RestRoute, type UserCall } from './route.ts'

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
  submitStrategy: z.object({ type: z.enum(SUBMIT_STRATEGIES), batchSize: number }),
  processingStrategy: z.object({
    type: z.enum(PROCESSING_STRATEGIES),
    retries: number,
    failurePercentage: number,
    pauseBetweenRetries: number,
    maxPauseBetweenRetries: number,
  }),
  additionalInfo: anyJson.optional(),
  version: optionalVersion,
})

export function queueRoutes({ queues, access }: Pick<Services, 'queues' | 'access'>): readonly RestRoute[] {
  const readQueue = async ({ principal }: UserCall, id: string): Promise<Queue> => {
    await allow(access, principal, 'READ', 'QUEUE', id)
    return found(await queues.find(principal, id), 'Queue', id)
  }
  return [
    {
      method: 'GET',
      pattern: '/api/queues',
      authorities: SYSTEM_AND_TENANT,
      handle: async ({ principal, query }) => {
        requireRuleEngine(query)
        return jsonAnswer(renderPage(await queues.page(principal, query.page()), queueJson))
      },
    },
    {
      method: 'GET',
      pattern: '/api/queues/:queueId',
      authorities: SYSTEM_AND_TENANT,
      handle: async (call) => jsonAnswer(queueJson(await readQueue(call, uuidOf('queueId', call.parameter(0))))),
    },
    {
      method: 'GET',
      pattern: '/api/queues/name/:queueName',
      authorities: SYSTEM_AND_TENANT,
      handle: async (call) => {
        const { principal } = call
        const queue = await queues.findByName(principal, call.parameter(0))
        if (queue === undefined) throw ApiErrors.NOT_FOUND()
        return jsonAnswer(queueJson(queue))
      },
    },
    {
      method: 'POST',
      pattern: '/api/queues',
      authorities: SYSTEM_AND_TENANT,
      handle: async (call) => {
        requireRuleEngine(call.query)
        const draft = draftOf(bodyOf(call, queueSchema))
        if (draft.id === undefined) access.checkAuthority(call.principal, 'CREATE', 'QUEUE')
        else await allow(access, call.principal, 'WRITE', 'QUEUE', draft.id)
        return jsonAnswer(queueJson(await queues.saveByUser(call.principal, draft)))
      },
    },
    {
      method: 'DELETE',
      pattern: '/api/queues/:queueId',
      authorities: SYSTEM_AND_TENANT,
      handle: async (call) => {
        const { principal } = call
        const id = uuidOf('queueId', call.parameter(0))
        await allow(access, principal, 'DELETE', 'QUEUE', id)
        await queues.deleteByUser(principal, id)
        return EMPTY_ANSWER
      },
    },
  ]
}

/** The only service that has queues; clients spell it with hyphens or underscores. */
function requireRuleEngine(query: Query): void {
  const value = query.required('serviceType')
  if (value.replaceAll('-', '_').toUpperCase() !== 'TB_RULE_ENGINE')
    throw ParameterErrors.INVALID({ name: 'serviceType', value, expected: 'TB-RULE-ENGINE' })
}

function draftOf(body: z.infer<typeof queueSchema>): QueueDraft {
  return {
    ...body,
    name: body.name ?? '',
    topic: body.topic ?? undefined,
    consumerPerPartition: body.consumerPerPartition ?? undefined,
    additionalInfo: body.additionalInfo ?? null,
  }
}
