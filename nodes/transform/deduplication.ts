/** Of the messages of an originator within an interval one goes on: the first, the last, or one with all of them (`rule-nodes.md` 31). */
import { z } from 'zod'
import { ENTITY_TYPES, type EntityId } from '../../model/entity-id.ts'
import { stringifyJson } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import type { StateTurn } from '../../engine/rulechain/capabilities/state.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'

const PENDING = z.object({
  ts: z.number(),
  type: z.string(),
  originatorType: z.enum(ENTITY_TYPES),
  customerId: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  data: z.string(),
  queueName: z.string().nullable(),
})
type Pending = z.output<typeof PENDING>
/** In the order in which they came. */
const STATE = z.array(PENDING)
type State = Pending[]

const configuration = z.looseObject({
  interval: orZero(z.int().min(1), 1).meta({ title: 'Interval', description: 'Seconds.' }),
  strategy: z.enum(['FIRST', 'LAST', 'ALL']).meta({ title: 'Strategy', description: 'FIRST, LAST or ALL, by time.' }),
  outMsgType: z.string().nullish().meta({ title: 'Type', description: 'Of the message with all of them.' }),
  maxPendingMsgs: orZero(z.int(), 0).meta({ title: 'Bound', description: 'Messages of an originator that may wait.' }),
  maxRetries: orZero(z.int(), 0).meta({
    title: 'Retries',
    description: 'Unused: what waits is durable.',
  }),
})

export const deduplication = defineNode({
  type: 'org.thingsboard.rule.engine.deduplication.TbMsgDeduplicationNode',
  name: 'deduplication',
  category: 'TRANSFORMATION',
  relations: ['Success'],
  description:
    'Keeps the messages of an originator for an interval, and makes one of them. What it keeps survives a restart.',
  differs: 'What it keeps is durable: there is nothing to retry.',
  configurationVersion: 1,
  configuration,
  defaults: { interval: 60, strategy: 'FIRST', outMsgType: null, maxPendingMsgs: 100, maxRetries: 3 },
  editor: { hasQueueName: true, form: 'tbActionNodeMsgDeduplicationConfig' },
  examples: [],
  // The node has a field of its own for the queue since.
  upgrade: ({ queueName: _moved, ...rest }) => rest,
  uses: ['state', 'queues'],
  create: async ({ interval, strategy, outMsgType, maxPendingMsgs }, context) => {
    const { tenantId, services, queueName, ruleNodeName } = context
    const linkName = queueName === null ? undefined : await services.queues.linkName(tenantId, queueName)
    if (queueName !== null && linkName === undefined) throw NodeErrors.QUEUE_UNKNOWN({ queueName })
    const intervalMs = interval * 1000
    if (strategy === 'ALL' && !outMsgType) {
      throw NodeErrors.CONFIGURATION_INVALID({ node: ruleNodeName, field: 'outMsgType', reason: 'is missing' })
    }
    const outputOf = (turn: StateTurn<State>, window: readonly Pending[]): Message | undefined => {
      const chosen = strategy === 'LAST' ? latest(window) : window[0]
      if (chosen === undefined || turn.entity === undefined) return undefined
      const fields = { id: '', ts: turn.now, tenantId, originator: originatorOf(turn.entity, chosen) }
      const customerId = chosen.customerId ?? undefined
      if (strategy !== 'ALL') {
        const { type, metadata, data } = chosen
        const queue = linkName ?? chosen.queueName ?? undefined
        return new Message({ ...fields, customerId, type, metadata, data, queueName: queue })
      }
      const data = `[${window.map(({ data: body, metadata }) => `{"msg":${body},"metadata":${stringifyJson(metadata)}}`).join()}]`
      const metadata = { ts: String(turn.now) }
      return new Message({ ...fields, customerId, type: outMsgType ?? '', metadata, data, queueName: linkName })
    }
    return services.state.keyed<State, undefined>({
      per: 'originator',
      parse: (stored) => STATE.parse(stored),
      handle(turn, message) {
        const pending = turn.state ?? []
        if (pending.length >= maxPendingMsgs) throw NodeErrors.PENDING_TOO_MANY({ limit: maxPendingMsgs })
        turn.set([...pending, pendingOf(message)])
        if (turn.wakesAt === undefined) turn.wakeAt(turn.now + intervalMs + 1)
        return undefined
      },
      wake(turn) {
        // Those of equal time stay in the order in which they came.
        const arrived = turn.state ?? []
        let left = arrived.toSorted((a, b) => a.ts - b.ts)
        for (let [first] = left; first !== undefined && first.ts + intervalMs <= turn.now; [first] = left) {
          const end = first.ts + intervalMs
          const output = outputOf(
            turn,
            // All of them are told in the order in which they came.
            (strategy === 'ALL' ? arrived : left).filter(({ ts }) => ts >= first.ts && ts < end),
          )
          if (output !== undefined) turn.send(output, 'Success')
          left = left.filter(({ ts }) => ts >= end)
        }
        const [next] = left
        turn.set(next === undefined ? undefined : arrived.filter(({ ts }) => ts >= next.ts))
        // Messages of a time far ahead do not keep back those that come meanwhile.
        if (next !== undefined) turn.wakeAt(Math.min(next.ts, turn.now) + intervalMs + 1)
      },
    })
  },
})

function pendingOf(message: Message): Pending {
  const { type, originator, customerId, metadata, data, queueName } = message
  return {
    ts: message.metadataTs(),
    type,
    originatorType: originator.entityType,
    customerId: customerId ?? null,
    metadata: { ...metadata },
    data,
    queueName: queueName ?? null,
  }
}

function originatorOf({ id }: EntityId, { originatorType }: Pending): EntityId {
  return { entityType: originatorType, id }
}

/** Of equal ones the first that came, as in the reference. */
function latest(window: readonly Pending[]): Pending | undefined {
  let found: Pending | undefined
  for (const pending of window) if (found === undefined || pending.ts > found.ts) found = pending
  return found
}
