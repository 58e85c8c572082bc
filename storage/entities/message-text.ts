/** Messages as JSON text in a column. */
import { z } from 'zod'
import { isEntityType } from '../../model/entity-id.ts'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import { Message, type DataType, type Metadata, type Resumption } from '../../model/message.ts'
import { jsonObjectOf } from './columns.ts'
import { EntityStoreErrors } from './errors.ts'

export function messageText(message: Message): string {
  return stringifyJson({
    id: message.id,
    ts: message.ts,
    type: message.type,
    tenantId: message.tenantId,
    originatorType: message.originator.entityType,
    originatorId: message.originator.id,
    customerId: message.customerId ?? null,
    metadata: { ...message.metadata },
    dataType: message.dataType,
    data: message.data,
    ruleChainId: message.ruleChainId ?? null,
    ruleNodeId: message.ruleNodeId ?? null,
    queueName: message.queueName ?? null,
    ...(message.resumption === undefined ? {} : { resumption: resumptionJson(message.resumption) }),
    ...(message.calculatedFieldIds === undefined ? {} : { calculatedFieldIds: [...message.calculatedFieldIds] }),
  })
}

export function messageOf(column: string): Message {
  const stored = jsonObjectOf(column)
  const text = (name: string): string => {
    const value = stored[name]
    if (typeof value !== 'string') throw EntityStoreErrors.FAILED({ reason: `a stored message has no ${name}` })
    return value
  }
  const optional = (name: string): string | undefined =>
    stored[name] === null || stored[name] === undefined ? undefined : text(name)
  const originatorType = text('originatorType')
  if (!isEntityType(originatorType))
    throw EntityStoreErrors.FAILED({ reason: `a stored message comes from ${originatorType}` })
  return new Message({
    id: text('id'),
    ts: Number(stored['ts']),
    type: text('type'),
    tenantId: text('tenantId'),
    originator: { entityType: originatorType, id: text('originatorId') },
    customerId: optional('customerId'),
    metadata: stored['metadata'] as Metadata,
    dataType: text('dataType') as DataType,
    data: text('data'),
    ruleChainId: optional('ruleChainId'),
    ruleNodeId: optional('ruleNodeId'),
    queueName: optional('queueName'),
    resumption: stored['resumption'] === undefined ? undefined : RESUMPTION.parse(stored['resumption']),
    calculatedFieldIds:
      stored['calculatedFieldIds'] === undefined ? undefined : z.array(z.string()).parse(stored['calculatedFieldIds']),
  })
}

const ADDRESS = { ruleChainId: z.string(), ruleNodeId: z.string() }
const RESUMPTION = z.object({
  ...ADDRESS,
  relation: z.string().optional(),
  executions: z.number(),
  firstQueueName: z.string().optional(),
  callers: z.array(z.object(ADDRESS)),
})

function resumptionJson(resumption: Resumption): JsonObject {
  const { ruleChainId, ruleNodeId, relation, executions, firstQueueName, callers } = resumption
  return {
    ...{ ruleChainId, ruleNodeId, executions },
    ...(relation === undefined ? {} : { relation }),
    ...(firstQueueName === undefined ? {} : { firstQueueName }),
    callers: callers.map((caller) => ({ ruleChainId: caller.ruleChainId, ruleNodeId: caller.ruleNodeId })),
  }
}
