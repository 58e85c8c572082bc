/** Counts messages and tells the tenant how many there were, again and again (`rule-nodes.md` 42). */
import { z } from 'zod'
import { entityId } from '../../model/entity-id.ts'
import { stringifyJson } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import { defineNode, orZero } from '../define-node.ts'

const STATE = z.object({ count: z.number(), since: z.number() })
type State = z.output<typeof STATE>

export const messageCount = defineNode({
  type: 'org.thingsboard.rule.engine.action.TbMsgCountNode',
  name: 'message count',
  category: 'ACTION',
  relations: ['Success'],
  description:
    'Takes every message and tells after each interval how many there were, as telemetry of the tenant. The count survives a restart.',
  configuration: z.looseObject({
    interval: orZero(z.int().min(1), 1).meta({ title: 'Interval', description: 'Seconds.' }),
    telemetryPrefix: orZero(z.string(), '').meta({ title: 'Key', description: 'Begins the name of the series.' }),
  }),
  defaults: { interval: 1, telemetryPrefix: 'messageCount' },
  editor: { form: 'tbActionNodeMsgCountConfig' },
  examples: [],
  uses: ['state'],
  create: ({ interval, telemetryPrefix }, { services: { state }, tenantId }) => {
    const intervalMs = interval * 1000
    return state.keyed<State, undefined>({
      per: 'partition',
      parse: (stored) => STATE.parse(stored),
      start(turn) {
        if (turn.state === undefined) turn.set({ count: 0, since: turn.now })
        if (turn.wakesAt === undefined || turn.wakesAt > turn.now + intervalMs) turn.wakeAt(turn.now + intervalMs)
      },
      handle(turn) {
        const { count, since } = turn.state ?? { count: 0, since: turn.now }
        turn.set({ count: count + 1, since })
        return undefined
      },
      wake(turn) {
        const { count, since } = turn.state ?? { count: 0, since: turn.now }
        const data = stringifyJson({ [`${telemetryPrefix}_${state.serviceId}`]: count })
        const metadata = { delta: String(turn.now - since) }
        const originator = entityId('TENANT', tenantId)
        const fields = { id: '', ts: turn.now, tenantId, originator, type: 'POST_TELEMETRY_REQUEST' }
        turn.send(new Message({ ...fields, metadata, data }), 'Success')
        turn.set({ count: 0, since: turn.now })
        turn.wakeAt(turn.now + intervalMs)
      },
    })
  },
})
