/**
 * Counts messages and tells the tenant how many there were, again and again (`rule-nodes.md` 42). Each partition counts its own, and hands its count
 * to the tenant's, which tells the sum: so there is one count for an interval, however many partitions and processes there are.
 */
import { z } from 'zod'
import { entityId } from '../../model/entity-id.ts'
import { stringifyJson } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import { defineNode, orZero } from '../define-node.ts'

const STATE = z.object({ count: z.number(), since: z.number() })
type State = z.output<typeof STATE>
/** A count that another partition hands over. */
const PART = 'MSG_COUNT_PART_SELF_MSG'

export const messageCount = defineNode({
  type: 'org.thingsboard.rule.engine.action.TbMsgCountNode',
  name: 'message count',
  category: 'ACTION',
  relations: ['Success'],
  description:
    'Ends every message and sends the count of each interval as telemetry of the tenant. The count survives a restart; in a cluster it is of all processes.',
  configuration: z.looseObject({
    interval: orZero(z.int().min(1), 1).meta({ title: 'Interval', description: 'Seconds.' }),
    telemetryPrefix: orZero(z.string(), '').meta({ title: 'Key', description: 'Begins the name of the series.' }),
  }),
  defaults: { interval: 1, telemetryPrefix: 'messageCount' },
  editor: { form: 'tbActionNodeMsgCountConfig' },
  examples: [],
  uses: ['state'],
  create: ({ interval, telemetryPrefix }, { services: { state }, tenantId, ruleChainId, ruleNodeId }) => {
    const intervalMs = interval * 1000
    const tenant = entityId('TENANT', tenantId)
    const isPart = ({ type, ruleNodeId: to, originator }: Message): boolean =>
      type === PART && to === ruleNodeId && originator.id === tenantId
    return state.keyed<State, undefined>({
      per: 'partition',
      parse: (stored) => STATE.parse(stored),
      start(turn) {
        if (turn.state === undefined) turn.set({ count: 0, since: turn.now })
        if (turn.wakesAt === undefined || turn.wakesAt > turn.now + intervalMs) turn.wakeAt(turn.now + intervalMs)
      },
      handle(turn, message) {
        const { count, since } = turn.state ?? { count: 0, since: turn.now }
        turn.set({ count: count + (isPart(message) ? Number(message.data) : 1), since })
        return undefined
      },
      wake(turn) {
        const { count, since } = turn.state ?? { count: 0, since: turn.now }
        const fields = { id: '', ts: turn.now, tenantId, originator: tenant }
        if (turn.partition === state.partitionOf(tenantId)) {
          const data = stringifyJson({ [`${telemetryPrefix}_${state.serviceId}`]: count })
          const metadata = { delta: String(turn.now - since) }
          turn.send(new Message({ ...fields, type: 'POST_TELEMETRY_REQUEST', metadata, data }), 'Success')
        } else if (count > 0) {
          const to = { ruleChainId, ruleNodeId }
          turn.send(new Message({ ...fields, ...to, type: PART, metadata: {}, data: String(count) }), undefined)
        }
        turn.set({ count: 0, since: turn.now })
        turn.wakeAt(turn.now + intervalMs)
      },
    })
  },
})
